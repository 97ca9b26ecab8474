"""The texts of the console's files: strings and templates that a person reads, and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

_JS = re.compile(
    r"/\*(?P<block>.*?)\*/|(?<![:\\])//(?P<line>[^\n]*)"
    r"|\"(?P<double>(?:\\.|[^\"\\\n])*)\"|'(?P<single>(?:\\.|[^'\\\n])*)'"
    r"|(?P<tick>`)|(?P<open>\{)|(?P<close>\})",
    re.DOTALL,
)
_IN_TEMPLATE = re.compile(r"(?P<chunk>(?:\\.|\$(?!\{)|[^`$\\])*)(?P<end>`|\$\{)", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>|<[^<>]*$|^[^<>]*/?>")
_READ = re.compile(r"\b(?:title|label|aria-label|placeholder|hint)=\"([^\"]*)\"")


def console_texts(path: str, content: str) -> Iterator[tuple[str, int, str]]:
    """Yields ``text`` or ``comments``, the line, and the words."""
    if path.endswith(".js"):
        found = _of_a_module(content)
    else:
        found = (
            ("comments", each.start(), each[1])
            for each in re.finditer(r"(?:/\*|<!--)(.*?)(?:\*/|-->)", content, re.DOTALL)
        )
    for what, at, words in found:
        if len(words.split()) > 2:
            yield what, content.count("\n", 0, at) + 1, words


def _of_a_module(content: str) -> Iterator[tuple[str, int, str]]:
    """Reads a module from its start to its end. ``depths`` counts the open braces inside of each open template."""
    at, depths = 0, list[int]()
    while found := _JS.search(content, at):
        at, kind = found.end(), str(found.lastgroup)
        if kind in {"block", "line"}:
            yield "comments", found.start(), _comment(found[kind])
        elif kind in {"double", "single"}:
            yield "text", found.start(), found[kind] if _is_prose(found[kind]) else ""
        elif kind == "open" and depths:
            depths[-1] += 1
        elif kind == "close" and depths and depths[-1]:
            depths[-1] -= 1
        elif kind == "tick" or (kind == "close" and depths):
            depths = depths if kind == "tick" else depths[:-1]
            chunks, at, is_open = _template(content, at)
            yield from (("text", start, words) for start, words in chunks)
            depths = [*depths, 0] if is_open else depths


def _template(content: str, at: int) -> tuple[list[tuple[int, str]], int, bool]:
    """Returns the texts up to the end of the template or its next value, the place behind it, and whether a value is
    open there."""
    found = _IN_TEMPLATE.match(content, at)
    if found is None:
        return [], len(content), False
    chunk = found["chunk"]
    words = [*_READ.findall(chunk), *_TAG.sub("\0", chunk).split("\0")]
    return [(at, each) for each in words if _is_prose(each)], found.end(), found["end"] == "${"


def _is_prose(words: str) -> bool:
    return len(words.split()) > 2 and not re.search(r"[={}()\\/;]|^[a-z-]+( [a-z]+-[a-z-]+)+$", words)


def _comment(text: str) -> str:
    text = re.sub(r"\n\s*\*", "\n", text.strip("*"))
    return re.sub(r"@\w+|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", lambda found: "\n" * found[0].count("\n"), text)
