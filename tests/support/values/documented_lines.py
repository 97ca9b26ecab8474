"""The command lines that README, the pages and the help texts show, as a shell would read them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from support.values.command_lines import COMMANDS

ROOT = Path(__file__).parents[3]
# Decisions and the change log are records: they keep the commands of their day.
RECORDS = ("docs/decisions/",)
PLACES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "packages/*/**/*.md", "packaging/*.md")
PROGRAMS = {"baton", "baton-cli", "baton-mcp", "make", "python"}
_BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`((?:baton|baton-mcp|make) [^`]+)`(?!`)")
_NOT_SHELL = {"json", "jsonc", "python", "hcl", "ts", "toml", "yaml", "js"}
_CONTROL = re.compile(r"[;&|()<>]+")
# A stand-in for a value: TASK, $CLAIM, <ApiUrl>, or an ellipsis in place of the rest of an id.
_STAND_IN = re.compile(r"<[^<>|]*>|\$\{?\w+\}?|[\w:/.-]*…")


@dataclass(frozen=True, slots=True)
class Line:
    """A command as its words. ``block``: the block that it is in, for its exports."""

    place: str
    words: tuple[str, ...]
    block: str = ""

    @property
    def program(self) -> str:
        return "baton" if self.words[0] == "baton-cli" else self.words[0]

    def __str__(self) -> str:
        return f"{self.place}: {shlex.join(self.words)}"


def pages() -> list[Path]:
    found = {path for place in PLACES for path in ROOT.glob(place)}
    return sorted(each for each in found if not str(each.relative_to(ROOT)).startswith(RECORDS))


def block_lines() -> list[Line]:
    """Every command of a block."""
    return [line for page in pages() for line in lines_of(page.read_text(encoding="utf-8"), _name(page))]


def lines_of(text: str, place: str) -> Iterator[Line]:
    for language, content in _BLOCK.findall(text):
        if language not in _NOT_SHELL:
            for each in shell_lines(content, is_console=language == "console"):
                for words in commands(each):
                    yield Line(place, words, content)


def help_lines() -> list[Line]:
    """Every example of a command's help."""
    found = []
    for name, command in COMMANDS.items():
        for each in (command.help or "").split("\n"):
            example = re.match(r" *(?:bash|zsh|fish)? *(baton .*)", each)
            if example is not None and "\b" in (command.help or ""):
                found += [Line(f"baton {name} --help", words) for words in commands(example[1])]
    return found


def spans() -> list[Line]:
    """Every command within a sentence, often without its arguments."""
    return [
        Line(_name(page), words)
        for page in pages()
        for span in _SPAN.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))
        for words in commands(" ".join(span.split()))
    ]


def shell_lines(content: str, *, is_console: bool) -> Iterator[str]:
    """Yields the lines of a block that are typed, each with those that continue it."""
    line = ""
    for each in re.sub(r"\\\n\s*", " ", content).split("\n"):
        if line or not is_console or each.startswith("$ "):
            line += each.strip().removeprefix("$ ") if not line else f"\n{each}"
            if _is_whole(line):
                yield line
                line = ""
    yield line


def _is_whole(line: str) -> bool:
    """True if every quote is closed."""
    try:
        shlex.split(line, comments=True)
    except ValueError:
        return False
    return True


def commands(line: str) -> Iterator[tuple[str, ...]]:
    """Yields the commands of a line that are Baton's, without what a shell does itself."""
    try:
        known = _STAND_IN.sub(lambda found: "…" if "…" in found[0] else "1", line)
        split = shlex.shlex(known, posix=True, punctuation_chars=True)
        split.whitespace_split, split.commenters = True, "#"
        words = list(split)
    except ValueError:  # a quote that the span or the comment doesn't close
        words = line.split()
    for command in _simple(words):
        while command and re.match(r"[A-Z_]+=", command[0]):
            command = command[1:]
        if command and command[0] in PROGRAMS:
            yield tuple(command)


def _simple(words: list[str]) -> Iterator[list[str]]:
    now: list[str] = []
    for word in words:
        if _CONTROL.fullmatch(word):
            yield now
            now = []
        else:
            now.append(word)
    yield now
    for word in words:  # Claude Code's: claude mcp add baton -- baton mcp serve
        if word == "--" and words[0] == "claude":
            yield words[words.index(word) + 1 :]


def command_of(words: tuple[str, ...]) -> tuple[str, click.Command] | None:
    """Returns the command of ``baton`` that is meant; options of every command may come before it."""
    left = list(words[1:])
    while left and left[0].startswith("-"):
        left = left[2:] if left[0] in {"--profile", "--url", "-o", "--query"} else left[1:]
    for name in (" ".join(left[:2]), *left[:1]):
        if name in COMMANDS:
            return name, COMMANDS[name]
    return None


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))
