"""Verifying a trail in the table: what it costs, and what somebody did to its rows by hand."""

from __future__ import annotations

from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.table import to_wire
from baton.services.tasks.verify_trail import TrailFindings, verify_trail
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human


def verdict(rig: Rig, task_id: str) -> TrailFindings:
    return verify_trail(rig.world.deps, human(), task_id)


def test_a_trail_of_one_page_takes_two_calls(rig: Rig) -> None:
    task_id = rig.world.claimed().details.task.id
    assert rig.count(lambda: verdict(rig, task_id)) == ["query", "get_item"]
    assert verdict(rig, task_id).matches_task


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("seq", 9),
        ("at", "2026-11-18T12:00:00.001Z"),
        ("at", "yesterday"),
        ("type", "approved_twice"),
        ("principal_kind", "service"),
        ("principal_id", "mallory"),
        ("fence", 7),
        ("fence", "seven"),
        ("data", "{}"),
        ("data", "not JSON"),
        ("data", "[]"),
        ("prev_hash", "0" * 64),
        ("hash", "0" * 64),
        ("hash", 1),
    ],
)
def test_a_row_that_was_changed_by_hand_is_named(rig: Rig, attribute: str, value: Any) -> None:
    task_id = rig.world.claimed().details.task.id
    key = keys.event(WORKSPACE, task_id, 2)._asdict()
    rig.raw.update_item(
        TableName=rig.table,
        Key=to_wire(key),
        UpdateExpression="SET #attribute = :value",
        ExpressionAttributeNames={"#attribute": attribute},
        ExpressionAttributeValues=to_wire({":value": value}),
    )
    findings = verdict(rig, task_id)
    assert (findings.intact, findings.broken_at, findings.events, findings.matches_task) == (False, 2, 3, False)


@pytest.mark.parametrize(("number", "entries"), [(1, 2), (2, 2), (3, 2)])
def test_a_row_that_was_deleted_by_hand_is_named(rig: Rig, number: int, entries: int) -> None:
    task_id = rig.world.claimed().details.task.id
    rig.raw.delete(to_wire(keys.event(WORKSPACE, task_id, number)._asdict()))
    findings = verdict(rig, task_id)
    assert (findings.intact, findings.broken_at, findings.events) == (False, number, entries)
