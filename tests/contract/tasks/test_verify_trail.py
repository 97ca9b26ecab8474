"""Verifying a trail in the table: what it costs, and what somebody did to its rows by hand."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.table import to_wire
from baton.domain.tasks.tail import MAX_TAIL_BYTES
from baton.services.tasks.verify_trail import TrailFindings, verify_trail
from support.values.changes import stored, then
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human


def verdict(rig: Rig, task_id: str) -> TrailFindings:
    return verify_trail(rig.world.deps, human(), task_id)


def test_a_trail_of_one_page_takes_four_calls(rig: Rig) -> None:
    task_id = rig.world.claimed().details.task.id
    # The last two read the content and the questions, to compare their digests.
    assert rig.count(lambda: verdict(rig, task_id)) == ["batch_get_item", "get_item", "query", "query"]
    assert verdict(rig, task_id).matches_task


def piece_with(rig: Rig, task_id: str, number: int) -> tuple[keys.Key, int]:
    """The item that has the event, and the event's place in it."""
    for item in rig.items():
        for index, entry in enumerate(item.get("events", {"L": []})["L"]):
            key = keys.Key(item["pk"]["S"], item["sk"]["S"])
            is_copy = key.sk.startswith("EVENTS") and number > keys.parse_chunk(key.sk)
            if task_id in key.pk and entry["M"]["seq"] == {"N": str(number)} and not is_copy:
                return key, index
    raise LookupError(number)


def altered(rig: Rig, task_id: str, number: int, attribute: str, value: Any) -> None:
    key, index = piece_with(rig, task_id, number)
    item = deepcopy(rig.raw.item(key)) or {}
    item["events"]["L"][index]["M"] |= to_wire({attribute: value})
    rig.raw.put(item)


def a_long_trail(rig: Rig) -> str:
    """With a beginning, two chunks at least, and a tail."""
    task = stored(rig.store)
    for number in range(12):
        change = then(task, title=str(number) * (MAX_TAIL_BYTES // 6))
        rig.store.commit(WORKSPACE, change)
        task = change.task
    assert sum(item["sk"]["S"].startswith("EVENTS#") for item in rig.items()) > 1
    return task.id


WRONG: list[tuple[str, Any]] = [
    ("seq", 9),
    ("at", "2026-11-18T12:00:00.001Z"),
    ("at", "yesterday"),
    ("type", "approved_twice"),
    ("by", "service:mallory"),
    ("by", 7),
    ("fence", 7),
    ("fence", "seven"),
    ("data", "{}"),
    ("data", "not JSON"),
    ("data", "[]"),
]


@pytest.mark.parametrize(("attribute", "value"), WRONG)
def test_a_row_that_was_changed_by_hand_is_named(rig: Rig, attribute: str, value: Any) -> None:
    task_id = rig.world.claimed().details.task.id
    altered(rig, task_id, 2, attribute, value)
    findings = verdict(rig, task_id)
    assert (findings.intact, findings.broken_at, findings.events, findings.matches_task) == (False, 2, 3, False)


@pytest.mark.parametrize(("attribute", "value"), WRONG)
def test_the_latest_row_is_named_too_and_its_task_stays_readable(rig: Rig, attribute: str, value: Any) -> None:
    task_id = rig.world.claimed().details.task.id
    altered(rig, task_id, 3, attribute, value)
    assert rig.world.task(task_id).id == task_id
    assert verdict(rig, task_id).broken_at == 3


@pytest.mark.parametrize("number", range(1, 14))
def test_an_event_is_named_wherever_it_is_kept(rig: Rig, number: int) -> None:
    task_id = a_long_trail(rig)
    assert verdict(rig, task_id).intact
    altered(rig, task_id, number, "data", '{"changes":{}}')
    findings = verdict(rig, task_id)
    assert (findings.intact, findings.broken_at, findings.events) == (False, number, 13)


def test_a_hash_that_was_changed_by_hand_is_noticed_at_the_event_that_it_is_of(rig: Rig) -> None:
    task_id = rig.world.claimed().details.task.id
    altered(rig, task_id, 3, "prev", "0" * 64)
    assert verdict(rig, task_id).broken_at == 2


@pytest.mark.parametrize("what", ["events", "chain"])
def test_a_piece_without_what_it_is_made_of_is_noticed(rig: Rig, what: str) -> None:
    task_id = a_long_trail(rig)
    rig.raw.update_item(
        TableName=rig.table,
        Key=to_wire(keys.head(WORKSPACE, task_id)._asdict()),
        UpdateExpression="SET #what = :value",
        ExpressionAttributeNames={"#what": what},
        ExpressionAttributeValues=to_wire({":value": "gone"}),
    )
    assert not verdict(rig, task_id).intact


def test_a_piece_that_was_deleted_by_hand_is_noticed(rig: Rig) -> None:
    task_id = a_long_trail(rig)
    pieces = {piece_with(rig, task_id, number)[0] for number in range(1, 14)} - {keys.head(WORKSPACE, task_id)}
    for key in sorted(pieces):
        restore = rig.keep()
        rig.raw.delete(to_wire(key._asdict()))
        findings = verdict(rig, task_id)
        assert not findings.intact
        assert findings.broken_at is not None
        restore()
    assert verdict(rig, task_id).intact
