"""A change that moves events from HEAD into a chunk makes two calls: the chunk, then HEAD. Whatever happens at either,
to one writer or to two, the trail has each event once, and the task is what its trail says."""

from __future__ import annotations

from itertools import permutations

import pytest

from baton.adapters.dynamodb.trail_items import appended
from baton.domain.errors import Busy, Conflict
from baton.domain.tasks import tail, trail
from baton.domain.tasks.change import Change
from baton.domain.tasks.tail import MAX_TAIL_BYTES
from baton.domain.tasks.task import Task
from baton.services.tasks.verify_trail import verify_trail
from support.faults.choke_point import Crash, at_call, no_fault
from support.faults.written_calls import WrittenCalls
from support.values.changes import stored, then
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human

TASK = "task_1"
CALLS = {1: "chunk", 2: "HEAD"}
LOST = ("timeout_before", "timeout_after", "error_before", "error_after", "no_connection", "throttle", "conflict")
READS, WRITES = ("get_item", "query"), ("put_item",)
DEATHS = ("crash_before", "crash_after")


@pytest.fixture
def rig() -> Rig:
    return Rig()


def a_full_tail(rig: Rig) -> Task:
    """The next change of this task moves its tail."""
    task = stored(rig.store, TASK)
    for number in range(9):
        if tail.is_full(task.meta.tail):
            break
        change = then(task, title=str(number) * (MAX_TAIL_BYTES // 3))
        rig.store.commit(WORKSPACE, change)
        task = change.task
    present, _ = rig.store.tasks.load(WORKSPACE, TASK)
    assert tail.is_full(present.meta.tail)
    rig.choked.calls.clear()
    return present


def moving(task: Task, title: str) -> Change:
    change = then(task, title=title)
    assert appended(change).has_moved
    return change


def titles(rig: Rig) -> list[str]:
    """Of the trail, which is whole: numbered, chained, and the same as the task."""
    events = rig.other_store.trail.events(WORKSPACE, TASK, 0, 100)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    present, _ = rig.other_store.tasks.load(WORKSPACE, TASK)
    assert present.meta.seq == len(events)
    assert trail.state_fields(trail.replay(events)) == trail.state_fields(present)
    findings = verify_trail(rig.other().deps, human(), TASK)
    assert (findings.intact, findings.matches_task, findings.events) == (True, True, len(events))
    return [event.data["changes"].get("title", "") for event in events]


def go_on(rig: Rig, often: int = 6) -> None:
    """Another process changes the task, until its tail has moved again."""
    for number in range(often):
        present, _ = rig.other_store.tasks.load(WORKSPACE, TASK)
        rig.other_store.commit(WORKSPACE, then(present, title=f"later {number}" * (MAX_TAIL_BYTES // 16)))


def test_the_chunk_comes_before_head(rig: Rig) -> None:
    change = moving(a_full_tail(rig), "ours")
    rig.store.commit(WORKSPACE, change)
    assert rig.choked.calls == ["put_item", "put_item"]
    assert titles(rig)[-1] == "ours"


@pytest.mark.parametrize("fault", LOST)
@pytest.mark.parametrize("number", CALLS, ids=CALLS.get)
def test_a_fault_at_either_call_is_not_noticed(rig: Rig, number: int, fault: str) -> None:
    change = moving(a_full_tail(rig), "ours")
    rig.choked.plan = at_call(number, fault)
    if fault == "conflict" and number == 2:  # somebody else is writing: decided again, as HEAD may be another now
        with pytest.raises(Conflict):
            rig.store.commit(WORKSPACE, change)
        rig.choked.plan = no_fault
        rig.store.commit(WORKSPACE, moving(rig.store.tasks.load(WORKSPACE, TASK)[0], "ours"))
    else:
        rig.store.commit(WORKSPACE, change)
    assert titles(rig).count("ours") == 1


@pytest.mark.parametrize("fault", LOST)
@pytest.mark.parametrize("number", CALLS, ids=CALLS.get)
def test_a_fault_that_stays_leaves_a_whole_trail(rig: Rig, number: int, fault: str) -> None:
    change = moving(a_full_tail(rig), "ours")
    before = titles(rig)
    rig.choked.calls.clear()
    rig.choked.plan = lambda n, operation: fault if n >= number and operation in can_meet(fault) else None
    with pytest.raises((Busy, Conflict)):
        rig.store.commit(WORKSPACE, change)
    assert titles(rig) in (before, [*before, "ours"])
    go_on(rig)
    assert titles(rig)[: len(before)] == before


@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize("number", CALLS, ids=CALLS.get)
def test_a_writer_that_dies_leaves_the_task_before_or_after_its_change(rig: Rig, number: int, death: str) -> None:
    change = moving(a_full_tail(rig), "ours")
    before = titles(rig)
    rig.choked.calls.clear()
    rig.choked.plan = at_call(number, death)
    with pytest.raises(Crash):
        rig.store.commit(WORKSPACE, change)
    is_done = (number, death) == (2, "crash_after")
    assert titles(rig) == [*before, *(["ours"] if is_done else [])]
    go_on(rig)
    assert titles(rig)[: len(before)] == before


def can_meet(fault: str) -> tuple[str, ...]:
    """A reading meets no transaction."""
    return WRITES if fault == "conflict" else (*READS, *WRITES)


# Of two writers, 0 and 1: each sends its chunk before its HEAD, whatever the other does between.
ORDERS = sorted(set(permutations((0, 0, 1, 1))))


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_of_two_writers_at_one_chunk_one_wins_and_no_event_is_lost(rig: Rig, order: tuple[int, ...]) -> None:
    task = a_full_tail(rig)
    before = titles(rig)
    writers = [WrittenCalls(rig, moving(task, title)) for title in ("first", "second")]
    assert writers[0].requests[0]["Item"] == writers[1].requests[0]["Item"], "the same state gives the same chunk"
    sent, winners = [0, 0], []
    for writer in order:
        if writers[writer].arrive(sent[writer]) and sent[writer] == 1:
            winners.append(writer)
        sent[writer] += 1
    assert len(winners) == 1
    assert titles(rig) == [*before, ("first", "second")[winners[0]]]


@pytest.mark.parametrize("chunk_first", [True, False], ids=["its chunk was there", "its chunk comes late too"])
def test_what_arrives_after_the_task_went_on_changes_nothing(rig: Rig, chunk_first: bool) -> None:
    late = WrittenCalls(rig, moving(a_full_tail(rig), "late"))
    if chunk_first:
        assert late.arrive(0)
    go_on(rig)
    items, seen = rig.raw.contents(), titles(rig)
    late.arrive(0)
    assert not late.arrive(1)
    assert (rig.raw.contents(), titles(rig)) == (items, seen)
