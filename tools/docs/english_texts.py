"""The texts that `tools/docs/english.py` measures: each with its kind, its file and its line."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.docs.english_console import console_texts

# Not our own words: libraries, and pages that are written from texts that are measured where they stand.
LEFT_OUT = {
    "packages/baton-client/src/baton_client/types.py",
    "docs/cli.md",
    "docs/console-pictures.md",
}
_SKIPPED_FOLDERS = {"vendor", "node_modules", "__pycache__", "build", "dist", "files"}
_READ = (".py", ".md", ".js", ".html", ".css", ".yaml", ".toml", ".sh", "Makefile", "openapi.json")
_PRODUCT = ("layers", "functions", "cli", "packages")
_SECTION = re.compile(
    r"\n\s*(?:Parameters|Args|Arguments|Returns|Raises|Examples?|Yields|Attributes|Note|Usage"
    r"|:param|:return|:raises|>>>|\.\. )"
)
_PYTHON = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.DOTALL
)
_CODE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_FOR_TOOLS = re.compile(r"!|\s*(noqa|type:|pragma|fmt:|mypy:|cfn-lint|shellcheck)")
_NOT_PROSE = re.compile(r"[=#{}<>|\\]|_exists|https?:|\w\(|^\W*$")


@dataclass(frozen=True)
class Text:
    """A text in a file of the repository. ``line`` is the number of its first line."""

    path: str
    line: int
    text: str


def texts(root: Path) -> Iterator[tuple[str, Text]]:
    """Yields every text below ``root`` with its kind, in the order of the paths."""
    for path in sorted(_files(root)):
        if path in LEFT_OUT or not path.endswith(_READ):
            continue
        content = (root / path).read_text(encoding="utf-8")
        if path.endswith(".py"):
            yield from _python(path, content)
        elif path.endswith(".md") and (kind := _kind_of_page(path)):
            yield from ((kind, text) for text in markdown(path, content))
        elif path == "docs/openapi.json":
            yield from (("openapi descriptions", Text(path, 1, each)) for each in _descriptions(json.loads(content)))
        elif path.startswith("functions/console/static/") and path.endswith((".js", ".html", ".css")):
            for what, line, text in console_texts(path, content):
                yield f"console {what}", Text(path, line, text)
        elif path.endswith((".yaml", ".toml", ".sh", "Makefile")):
            yield from (("comments of other files", text) for text in _blocks(path, _line_comments(content)))


def _files(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = [each for each in folders if not each.startswith(".") and each not in _SKIPPED_FOLDERS]
        yield from ((Path(folder) / name).relative_to(root).as_posix() for name in names)


def _kind_of_page(path: str) -> str | None:
    if path in {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}:
        return path
    folder, _, rest = path.partition("/")
    if folder == "docs":
        name = rest.partition("/")[0]
        return f"docs: {name}" if name in {"guides", "spec", "decisions"} else "docs: other pages"
    return "pages of packages" if folder in {"packages", "packaging", "cli"} else None


def _python(path: str, content: str) -> Iterator[tuple[str, Text]]:
    folder, parts = path.partition("/")[0], path.split("/")
    owner = "tests" if "tests" in parts else folder
    tree = ast.parse(content)
    kind = f"docstrings of {'core' if owner in ('layers', 'functions') else owner}"
    is_door = path.startswith("functions/mcp_door/tools/")
    for node, text in _docstrings(path, tree):
        yield kind, text
        if is_door and getattr(node, "decorator_list", None):
            yield "MCP descriptions", text
        if owner == "tests" and getattr(node, "name", "").startswith("test_"):
            yield "test names", _name_of(path, node)
    if owner == "tests":
        yield from (("test names", _name_of(path, node)) for node in _definitions(tree) if _is_bare_test(node))
    elif owner in _PRODUCT:
        strings = "MCP descriptions" if is_door else "help and errors of the CLI" if owner == "cli" else "messages"
        yield from ((strings, text) for text in _strings(path, tree))
    comments = "comments of the product" if owner in _PRODUCT else f"comments of {owner}"
    yield from ((comments, text) for text in _blocks(path, _comments(content)))


def _is_bare_test(node: Any) -> bool:
    return getattr(node, "name", "").startswith("test_") and ast.get_docstring(node, clean=False) is None


def _name_of(path: str, node: Any) -> Text:
    return Text(path, node.lineno, node.name.removeprefix("test_").replace("_", " "))


def _definitions(node: Any) -> Iterator[Any]:
    """Yields the module, its classes and its functions, without walking through expressions."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node
    for block in ("body", "orelse", "finalbody", "handlers"):
        for each in getattr(node, block, ()):
            if isinstance(each, ast.stmt | ast.ExceptHandler):
                yield from _definitions(each)


def _docstrings(path: str, tree: ast.Module) -> Iterator[tuple[Any, Text]]:
    for node in _definitions(tree):
        if (found := ast.get_docstring(node, clean=False)) is not None:
            yield node, Text(path, node.body[0].lineno, _SECTION.split(found)[0])


def _strings(path: str, tree: ast.Module) -> Iterator[Text]:
    """Yields the string literals that read as prose. A docstring isn't among them; ``X`` stands for a value."""
    inner, outer = set[int](), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inner.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            inner.update(id(part) for part in node.values)
            outer.append((node.lineno, "".join(_part(part) for part in node.values)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            outer.append((node.lineno, "" if id(node) in inner else node.value))
    yield from (Text(path, line, text) for line, text in outer if len(text.split()) > 3 and not _NOT_PROSE.search(text))


def _part(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "X"


def _comments(content: str) -> Iterator[tuple[int, str, bool]]:
    """Yields line, text, and whether the comment has its line for itself."""
    line = at = 0
    for found in _PYTHON.finditer(content):
        if found[0].startswith("#"):
            line, at = line + content.count("\n", at, found.start()), found.start()
            is_alone = not content[content.rfind("\n", 0, at) + 1 : at].strip()
            yield line + 1, found[0].lstrip("#"), is_alone


def _line_comments(content: str) -> Iterator[tuple[int, str, bool]]:
    for number, line in enumerate(content.splitlines(), 1):
        if found := re.search(r"(?:^|\s)##? (.*)$", line):
            yield number, found[1], not line[: found.start()].strip()


def _blocks(path: str, comments: Iterator[tuple[int, str, bool]]) -> Iterator[Text]:
    """Joins the comments that fill lines one after the other."""
    first = last = 0
    block: list[str] = []
    for line, text, is_alone in comments:
        if _FOR_TOOLS.match(text):
            continue
        if block and not (is_alone and line == last + 1):
            yield Text(path, first, "\n".join(block))
            block = []
        first = first if block else line
        block.append(text.strip(" -="))
        last = line if is_alone else -1
    if block:
        yield Text(path, first, "\n".join(block))


def _descriptions(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            if name in {"summary", "description"} and isinstance(each, str):
                yield each
            else:
                yield from _descriptions(each)
    elif isinstance(value, list):
        for each in value:
            yield from _descriptions(each)


def markdown(path: str, content: str) -> Iterator[Text]:
    """Yields the paragraphs, list items and longer table cells of a page, without its code and its headings."""
    content = _CODE.sub(lambda found: "\n" * found[0].count("\n"), content)
    block: list[str] = []
    first = 0
    for number, line in enumerate([*content.split("\n"), ""], 1):
        is_item, is_row = re.match(r"\s*(?:[-*]|\d+\.)\s", line), line.startswith("|")
        if block and (not line.strip() or is_item or is_row or line.startswith(("#", "<", "---"))):
            yield Text(path, first, "\n".join(block))
            block = []
        if is_row:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            yield from (Text(path, number, cell) for cell in cells if len(cell.split()) > 4)
        elif line.strip() and not line.startswith(("#", "<", "---", "!!!")):
            first = first if block else number
            block.append(re.sub(r"^\s*(?:[-*>]|\d+\.)\s+", "", line))
