"""Everything that the product does in public is in a golden file: each operation answered well, each kind of stored
item, each type of event, each flag. What is added to the product and to no scenario fails here."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from baton.domain.tasks.event_type import EventType
from golden.play import operations
from golden.test_golden import FILES, SCENARIOS

ROOT = Path(__file__).parents[2]
# Where all keys are made. It is read as text, whatever is in it is called.
KEYS = ROOT / "layers/baton/python/baton/adapters/dynamodb/keys.py"
# docs/events.md promises types and flags to the outside: flags stay as they are here, types as in the golden files.
FLAGS = {
    *("approval_overdue", "attempts_exhausted", "callback_missed", "closed_by_bot", "deadline_passed", "next_stale"),
    *("released_too_often", "unclaimed_too_long", "undeliverable", "waiting_too_long"),
}
MISSING = "in no golden file: play it in a scenario of tests/golden/scenarios/, and write its file with WRITE_GOLDEN=1"
UNKNOWN = "in a golden file, and unknown here: a type or flag that was promised is never renamed"
ONCE_WRITTEN = pytest.mark.skipif(
    "WRITE_GOLDEN" in os.environ, reason="the files are just being written: run again without WRITE_GOLDEN"
)
pytestmark = ONCE_WRITTEN
_WORD = re.compile(r"[A-Z]+(?:-[A-Z]+)*")
SUCCESS = range(200, 300)


@cache
def golden() -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FILES.glob("*.json"))]


def stored() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for each in golden():
        for partition, items in each.get("stored", {}).items():
            for sort_key, item in items.items():
                yield partition, sort_key, item if isinstance(item, dict) else {}


def events() -> list[dict[str, Any]]:
    return [entry["(M)"] for _, _, item in stored() for entry in item.get("events (L)", ())]


def words_of_keys() -> set[str]:
    """In the module's texts, its docstrings apart: ``TASK``, ``AGENT-VERSIONS``, ``WAKE`` …"""
    tree = ast.parse(KEYS.read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]
    return {word for text in texts for word in _WORD.findall(text)}


def test_every_scenario_has_its_file_and_every_file_its_scenario() -> None:
    assert {path.stem for path in FILES.iterdir()} == SCENARIOS.keys()


def test_every_operation_is_answered_well_in_a_golden_file() -> None:
    answered = {
        step["operation"]
        for each in golden()
        for step in each["steps"]
        if step.get("status") in SUCCESS and "operation" in step
    }
    finding_nothing = {"find_nothing_well_known", "find_nothing_well_known_of_mcp"}
    assert sorted(operations().keys() - answered - finding_nothing) == [], MISSING


def test_every_kind_of_key_is_in_a_golden_file() -> None:
    places = (name for _, _, item in stored() for name in item.items() if name[0].endswith(("_pk (S)", "_sk (S)")))
    seen = {word for _, value in places for word in _WORD.findall(value)}
    seen |= {word for partition, sort_key, _ in stored() for word in _WORD.findall(f"{partition}#{sort_key}")}
    words = words_of_keys()
    assert {"TASK", "EVENTS", "WAKE", "AGENT-VERSIONS"} <= words
    assert sorted(words - seen) == [], MISSING


def test_every_type_of_event_and_every_flag_is_in_a_golden_file() -> None:
    types = {item["type (S)"] for item in events()}
    assert sorted(types - set(EventType)) == [], UNKNOWN
    assert sorted(set(EventType) - types) == [], MISSING
    raised = {json.loads(item["data (S)"])["flag"] for item in events() if item["type (S)"] == "alert_raised"}
    assert sorted(raised - FLAGS) == [], UNKNOWN
    assert sorted(FLAGS - raised) == [], MISSING
