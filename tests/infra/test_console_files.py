"""The console's files: the libraries are what their list says, a module is small, nothing makes markup of a text, and
all of it is light."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from tools.docs import vendor

STATIC = vendor.FOLDER.parent
MODULES = sorted(path for path in STATIC.rglob("*.js") if vendor.FOLDER not in path.parents)
# 1,200 of them show the message of a conversation and its earlier tasks before an approval.
MOST_BYTES = 283_600
MOST_LINES = 199
MOST_CHARACTERS = 120
_IMPORTED = re.compile(r"""(?:from|import|import\()\s*["'](\.[^"']+)["']""")
# What would make an element, a link or a program of a text.
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacent|dangerouslySet|document\.write|\beval\b|new Function|createContextual|srcdoc"
)


def test_the_libraries_are_those_of_the_list() -> None:
    found = {path.name: vendor.digest(path.read_bytes()) for path in vendor.FOLDER.iterdir()}
    assert found == vendor.listed()["sha256"]


def test_each_library_comes_with_its_licence() -> None:
    for package in vendor.listed()["packages"]:
        assert any(name.endswith(".LICENSE.txt") for name in package["files"].values()), package["name"]


def test_all_files_together_are_light() -> None:
    sent = [
        len(gzip.compress(path.read_bytes(), 9))
        for path in STATIC.rglob("*")
        if path.suffix != ".txt" and path.is_file()
    ]
    assert sum(sent) <= MOST_BYTES


def test_modules_are_small() -> None:
    long = {
        path.name: lines
        for path in MODULES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert long == {}


def test_no_line_is_longer_than_a_person_wants_to_read() -> None:
    written = [path for path in STATIC.rglob("*") if path.suffix in {".js", ".css", ".html"}]
    long = [
        f"{path.name}:{number}"
        for path in written
        if vendor.FOLDER not in path.parents
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MOST_CHARACTERS
    ]
    assert long == []


def test_no_module_makes_markup_of_a_text_or_names_another_origin() -> None:
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert not MARKUP.search(text), path
        named = set(re.findall(r"https?://[\w.]+", text)) - {"http://127.0.0.1"}
        assert named == set(), path


def test_times_are_said_by_one_module() -> None:
    for path in MODULES:
        if path.name not in ("time.js", "zone.js"):
            assert not re.search(r"toLocale(Date|Time)String|dateStyle|DateTimeFormat", path.read_text("utf-8")), path


def test_every_import_leads_to_a_file() -> None:
    missing = [
        f"{path.name}: {name}"
        for path in MODULES
        for name in _imports(path, _IMPORTED)
        if not (path.parent / name).is_file()
    ]
    assert missing == []


def test_the_first_page_names_beforehand_what_every_visit_needs() -> None:
    named = re.findall(r'href="\{\{tree\}\}/([^"]+\.js)"', (STATIC / "index.html").read_text(encoding="utf-8"))
    needed = {path.relative_to(STATIC).as_posix() for path in _closure(STATIC / "app.js")} - {"app.js"}
    assert sorted(named) == sorted(needed)


def _imports(path: Path, how: re.Pattern[str]) -> Iterator[str]:
    yield from how.findall(path.read_text(encoding="utf-8"))


def _closure(path: Path) -> set[Path]:
    """A module, and all that it imports before it runs."""
    found: set[Path] = set()
    left = [path.resolve()]
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            pattern = re.compile(r"""(?:from|import)\s*["'](\.[^"']+)["']""")
            left += [(each.parent / name).resolve() for name in _imports(each, pattern)]
    return found
