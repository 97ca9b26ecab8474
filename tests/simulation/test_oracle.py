"""The oracle has a rule for all that the product may record, and takes none of them from the product."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from baton.domain.tasks.event_type import EventType
from simulation.oracle.trail import EDGES, FURTHER

ORACLE = Path(__file__).with_name("oracle")
ASKED = ("kind", "types", "entry['type']", "each['type']", "last['type']", "by['type']")


def types_asked_for() -> Iterator[str]:
    """In the oracle's comparisons with the type of an entry."""
    for path in ORACLE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and ast.unparse(node.left) in ASKED:
                texts = [each for side in node.comparators for each in ast.walk(side)]
                yield from (each.value for each in texts if isinstance(each, ast.Constant) and each.value in EDGES)


def test_every_type_of_event_has_its_states_and_its_sender() -> None:
    missing = "a row of EDGES in tests/simulation/oracle/trail.py that is no type, or a type without a row"
    assert EDGES.keys() ^ set(EventType) == set(), missing


def test_a_types_row_says_whether_further_rules_ask_for_it() -> None:
    said = {kind for kind, (_, _, _, has_further_rules) in EDGES.items() if has_further_rules is FURTHER}
    assert set(types_asked_for()) ^ said == set(), "FURTHER or ALONE in its row of EDGES isn't what the oracle does"
