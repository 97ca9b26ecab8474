"""The four programs on networks that answer in Baton's place: each verb, each foreign answer, for each length of time.

The real programs run against the real routes, in one process and in virtual time. What happens is in
docs/faulty-networks.md, which ``WRITE_GOLDEN=1 pytest tests/functions/network`` writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from functions.network.cells import VERBS, Cell, Observed, cells, observed
from functions.network.oracle import broken_rules
from functions.network.page import page
from functions.network.programs import PROGRAMS, Program
from tools.docs.made_page import DOCS

pytestmark = pytest.mark.slow
Play = Callable[[Program, str], dict[Cell, Observed]]
PAGE = DOCS / "faulty-networks.md"
ROWS = [(program, verb) for program in PROGRAMS for verb in VERBS if verb in program.verbs]
names = pytest.mark.parametrize(("program", "verb"), ROWS, ids=[f"{each.name}-{verb}" for each, verb in ROWS])


_seen: dict[tuple[str, str], dict[Cell, Observed]] = {}


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Plays a row of the matrix, once for all tests of this process."""
    monkeypatch.setenv("BATON_LOG_LEVEL", "CRITICAL")
    numbers = count()

    def seen(cell: Cell) -> Observed:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return observed(cell, folder)

    def row(program: Program, verb: str) -> dict[Cell, Observed]:
        if (program.name, verb) not in _seen:
            every = [Cell(program, verb, None), *cells(program, verb)]
            _seen[program.name, verb] = {each: seen(each) for each in every}
        return _seen[program.name, verb]

    return row


@names
def test_no_answer_of_a_network_changes_an_outcome_without_a_word(play: Play, program: Program, verb: str) -> None:
    found = play(program, verb)
    usual = found[Cell(program, verb, None)]
    broken = [
        f"{each.length}, {each.fault.name}, forwarded={each.fault.is_forwarded}: {rule}: {seen}"
        for each, seen in found.items()
        if each.fault is not None
        for rule in broken_rules(each, seen, usual)
    ]
    assert broken == []


def test_the_page_shows_what_happens_in_each_cell(play: Play) -> None:
    made = page({(program.name, verb): play(program, verb) for program, verb in ROWS})
    if os.environ.get("WRITE_GOLDEN"):
        PAGE.write_text(made, encoding="utf-8")
    assert made == PAGE.read_text(encoding="utf-8"), "WRITE_GOLDEN=1 pytest tests/functions/network, and read the diff"
