"""The trail: hash-chained, complete, and what the task is rebuilt from (invariant 7)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace
from datetime import date, timedelta
from typing import Any

import pytest

from baton.domain.canonical_json import canonical_json
from baton.domain.priority import Priority
from baton.domain.tasks.task import Task, TaskMeta
from baton.domain.tasks.trail import (
    GENESIS,
    Event,
    chain_hash,
    from_snapshot,
    replay,
    snapshot,
    state_fields,
    task_from_fields,
)
from support.clock import NOON
from support.values.tasks import CLAIM_ID, Life, claimed, in_state
from support.worlds.world import WORKSPACE, World


def a_trail() -> list[Event]:
    life = claimed()
    life.fail(retryable=True)
    life.later(20).claim()
    life.later(300).sweep()
    life.cancel()
    return life.events


def test_a_trail_verifies_offline_with_nothing_but_a_hash_function() -> None:
    previous = "0" * 64
    for number, event in enumerate(a_trail(), start=1):
        public = json.loads(json.dumps(event.public()))
        assert public["seq"] == number
        assert public.pop("prev_hash") == previous
        hash_shown = public.pop("hash")
        text = json.dumps(public, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        previous = hashlib.sha256((text + previous).encode()).hexdigest()
        assert hash_shown == previous


def test_an_entry_says_when_who_under_which_fence_and_what_changed() -> None:
    life = claimed()
    event = life.events[-1]
    assert event.public() == {
        "seq": 3,
        "at": "2026-11-18T12:00:03.000Z",
        "type": "handoff_received",
        "principal": {"kind": "agent", "id": "auditor"},
        "fence": 1,
        "data": event.data,
        "prev_hash": life.events[-2].hash,
        "hash": event.hash,
    }
    assert set(event.data) == {"agent", "worker", "changes"}
    assert set(event.data["changes"]) == {"state", "origin", "undo_until", "claim", "fence", "attempt", "started_at"}


TAMPERING: dict[str, Any] = {
    "a word changed": lambda e: replace(e, data={**e.data, "reason": "another"}),
    "the type": lambda e: replace(e, type="approved"),
    "the time": lambda e: replace(e, at=e.at + timedelta(milliseconds=1)),
    "who": lambda e: replace(e, principal_id="mallory"),
    "what kind of caller": lambda e: replace(e, principal_kind="service"),
    "the fence": lambda e: replace(e, fence=e.fence + 1),
    "the number": lambda e: replace(e, seq=e.seq + 1),
    "the hash": lambda e: replace(e, hash="f" * 64),
    "the hash before": lambda e: replace(e, prev_hash="f" * 64),
}


@pytest.mark.parametrize("tamper", TAMPERING.values(), ids=TAMPERING)
@pytest.mark.parametrize("number", [0, 2, 7])
def test_an_altered_entry_breaks_the_trail(number: int, tamper: Any) -> None:
    events = a_trail()
    replay(events)
    events[number] = tamper(events[number])
    with pytest.raises(ValueError, match="broken"):
        replay(events)


@pytest.mark.parametrize("alter", [lambda e: e[1:], lambda e: e[:2] + e[3:], lambda e: e[::-1], lambda e: e + e[-1:]])
def test_a_missing_doubled_or_moved_entry_breaks_the_trail(alter: Any) -> None:
    with pytest.raises(ValueError, match="broken"):
        replay(alter(a_trail()))


def test_an_altered_entry_with_its_hash_made_right_breaks_at_the_next() -> None:
    events = a_trail()
    forged = replace(events[2], principal_id="mallory")
    public = forged.public()
    entry = {name: public[name] for name in public if name not in {"hash", "prev_hash"}}
    events[2] = replace(forged, hash=chain_hash(entry, forged.prev_hash))
    assert events[2].is_intact()
    with pytest.raises(ValueError, match="entry 4"):
        replay(events)


def test_an_empty_trail_tells_of_nothing() -> None:
    with pytest.raises(ValueError, match="empty"):
        replay([])


def test_the_first_entry_is_chained_to_nothing() -> None:
    assert a_trail()[0].prev_hash == GENESIS


@pytest.mark.parametrize("state", ["needs", "undoable", "delegated", "next", "claimed", "done", "failed", "cancelled"])
def test_facts_survive_a_round_trip_through_json(state: str) -> None:
    task = in_state(state).task
    fields = json.loads(json.dumps(state_fields(task)))
    again = task_from_fields(fields, TaskMeta(updated_at=task.meta.updated_at))
    assert state_fields(again) == state_fields(task)
    assert again.created_at == task.created_at
    assert type(again.priority) is Priority


def test_every_field_with_a_type_of_its_own_comes_back_as_it_was() -> None:
    life = Life(due_date=date(2026, 11, 19), deadline=NOON + timedelta(hours=1), effort="S", parent_id="task_0")
    life.approve()
    life.later(3).claim()
    rebuilt = replay(life.events)
    for name in ("due_date", "deadline", "ready_at", "origin", "state", "priority", "flags", "effort", "parent_id"):
        assert getattr(rebuilt, name) == getattr(life.task, name)
    assert rebuilt.claim is not None
    assert life.task.claim is not None
    assert rebuilt.claim == replace(life.task.claim, claim_id="")


def test_a_replay_rebuilds_every_field_but_bookkeeping() -> None:
    life = claimed(max_attempts=1, effort="M", due_date=date(2026, 11, 19), parent_id="task_0", depth=2, revision=3)
    life.later(300).sweep()
    assert life.task.flags
    assert life.task.recoveries
    rebuilt = replay(life.events)
    for name in {field.name for field in fields(Task)} - {"meta", "claim"}:
        assert getattr(rebuilt, name) == getattr(life.task, name), name


def test_no_trail_and_no_snapshot_holds_a_claims_id() -> None:
    life = claimed()
    assert CLAIM_ID not in repr(life.events)
    assert CLAIM_ID not in repr(snapshot(life.task))
    assert from_snapshot(snapshot(life.task)).meta.version == life.task.meta.version


def test_canonical_json_is_the_same_for_the_same_value() -> None:
    assert canonical_json({"b": 1, "a": ["é", None, True]}) == '{"a":["é",null,true],"b":1}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))


def test_a_stored_trail_is_read_from_a_cursor(world: World) -> None:
    task_id = world.claimed().details.task.id
    whole = world.store.trail.events(WORKSPACE, task_id, 0, 100)
    assert [event.seq for event in whole] == [1, 2, 3]
    assert world.store.trail.events(WORKSPACE, task_id, 1, 1) == whole[1:2]
    assert world.store.trail.events(WORKSPACE, task_id, 3, 100) == ()
    assert world.store.trail.events("other", task_id, 0, 100) == ()


def test_what_a_reader_does_to_an_entry_does_not_reach_the_store(world: World) -> None:
    task_id = world.needing()
    world.store.trail.events(WORKSPACE, task_id, 0, 1)[0].data["changes"]["state"] = "done"
    replay(world.store.trail.events(WORKSPACE, task_id, 0, 100))
    body = world.store.tasks.read(WORKSPACE, task_id, with_body=True).body
    assert body is not None
    body["text"] = "forged"
    again = world.store.tasks.read(WORKSPACE, task_id, with_body=True).body
    assert again is not None
    assert again["text"] != "forged"


def test_what_a_trail_leaves_unsaid_means_what_it_meant_on_the_first_day() -> None:
    """Written out once more by hand: trails of today are read with these values for ever, whatever defaults become."""
    needed = {
        "workspace": "acme",
        "id": "task_1",
        "state": "needs",
        "title": "t",
        "kind": "escalation",
        "priority": "P2",
    }
    needed |= {"source_agent": "a", "target_agent": "b", "handoff_id": "ho_1", "master_task_id": "task_1"}
    needed |= {"workflow_id": "wf_1", "created_at": "2026-11-18T12:00:00.000Z", "created_by": "human:alice"}
    fields = state_fields(task_from_fields(needed, TaskMeta(updated_at=NOON)))
    unsaid = {name: value for name, value in fields.items() if name not in needed}
    assert unsaid.pop("max_attempts") == 3
    assert unsaid.pop("revision") == 1
    lists = {"flags", "requires", "successors", "takers"}
    truths = {"fail_on_deadline", "has_output", "has_failure"}
    zeros = {"depth", "attempt", "releases", "fence", "recoveries", "checkpoints", "waits", "approved_as"}
    nones = {"effort", "due_date", "deadline", "parent_id", "ready_at", "undo_until", "origin", "claim"}
    nones |= {"work_type", "dispatch_rank", "not_before", "deferred_until", "join_parent", "call_id", "retry_of"}
    nones |= {"last_checkpoint_id", "wait", "started_at", "digest"}
    meant: dict[str, Any] = {name: [] for name in lists} | dict.fromkeys(truths, False) | dict.fromkeys(zeros, 0)
    meant |= dict.fromkeys(nones)
    assert repr({name: unsaid.pop(name) for name in meant}) == repr(meant)
    added_since = [value for value in unsaid.values() if value]
    assert added_since == [], "what came later was not there in any earlier trail"
