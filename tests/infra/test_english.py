"""The English of every kind of text stays under its ceiling, and a ceiling never rises (tools/docs/english.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.citations import ROOT
from tools.docs import english

GOOD = "Baton hands work from one agent to another.\n\nThe caller gets the task and its fence.\n"
HEADLESS = "\nWhat is answered, nobody has asked for. Whoever asks gets what there is.\n"
SOURCES = {
    "docstrings of core": ("layers", "clock.py", '"""The clock.{}"""\n'),
    "docstrings of tests": ("tests", "test_clock.py", '"""The clock.{}"""\n'),
    "comments of the product": ("functions", "clock.py", "# The clock.{}\n"),
    "messages": ("functions", "errors.py", 'TEXT = "The clock has stopped.{}"\n'),
    "help and errors of the CLI": ("cli/src", "nouns.py", 'HELP = "Print the clock now.{}"\n'),
    "MCP descriptions": ("functions/mcp_door/tools", "clock.py", '@tool\ndef clock():\n    """Tell the time.{}"""\n'),
    "console text": ("functions/console/static", "clock.js", "export const Clock = html`<p>The clock now.{}</p>`;\n"),
    "openapi descriptions": ("docs", "openapi.json", '{{"description": "Returns the time.{}"}}'),
    "docs: guides": ("docs/guides", "clock.md", "# Clock\n\nRead the clock.{}\n"),
}
LINES = " What is answered nobody asked for."


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / english.CEILINGS.parent).mkdir(parents=True)
    (tmp_path / "README.md").write_text(GOOD, encoding="utf-8")
    for folder, name, content in SOURCES.values():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).write_text(content.format(""), encoding="utf-8")
    english.store(tmp_path, "0" * 40, {})
    english.write(tmp_path)
    return tmp_path


def test_no_text_of_the_repository_is_above_its_ceiling() -> None:
    assert list(english.complaints(ROOT)) == []


def test_good_text_passes(repository: Path) -> None:
    assert list(english.complaints(repository)) == []


def test_a_headless_paragraph_is_refused_with_its_file_and_line(repository: Path) -> None:
    (repository / "README.md").write_text(GOOD + HEADLESS, encoding="utf-8")
    [complaint] = english.complaints(repository)
    assert "README.md:5: What is answered, nobody has asked for." in complaint
    assert "README.md:5: Whoever asks gets what there is." in complaint


@pytest.mark.parametrize("kind", SOURCES)
def test_a_headless_sentence_is_found_in_every_kind_of_text(repository: Path, kind: str) -> None:
    folder, name, content = SOURCES[kind]
    (repository / folder / name).write_text(content.format(LINES), encoding="utf-8")
    found = list(english.complaints(repository))
    assert any(each.startswith(f"{kind}: ") and f"{folder}/{name}:" in each for each in found)


def test_writing_lowers_a_ceiling_and_never_raises_one(repository: Path) -> None:
    _, before = english.ceilings(repository)
    (repository / "README.md").write_text(GOOD + HEADLESS, encoding="utf-8")
    english.write(repository)
    assert english.ceilings(repository)[1]["README.md"] == before["README.md"]
    assert len(list(english.complaints(repository))) == 1

    english.store(repository, "0" * 40, {"README.md": english.Figures(english.Share(9, 10), english.Share(9, 10))})
    english.write(repository)
    now = english.ceilings(repository)[1]["README.md"]
    assert (now.phrases.count, now.openings.count) == (4, 2)
    assert list(english.complaints(repository)) == []
