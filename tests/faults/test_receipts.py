"""Receipts that leave HEAD with a chunk: the chunk first, then HEAD. Whatever happens at any call, to one writer or to
two, a receipt is found for as long as its answer is remembered, and names its own event."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import permutations
from typing import Any

import pytest

from baton.domain.errors import Busy, Conflict
from baton.domain.task_state import State
from baton.domain.tasks import tail
from baton.domain.tasks.receipts import AskedRequest, Receipt
from baton.domain.tasks.tail import MAX_TAIL_BYTES, EndedClaim
from baton.domain.tasks.task import Task
from support.clock import NOON
from support.faults.choke_point import Crash, at_call
from support.faults.soak import IS_WHOLE
from support.faults.written_calls import WrittenCalls
from support.values.changes import a_claim, claimed, then
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE

TASK = "task_1"
# The chunk, HEAD.
CALLS = range(1, 3)
LOST = ("timeout_before", "timeout_after", "error_before", "error_after", "no_connection", "throttle")
BACK: dict[str, Any] = {"state": State.DELEGATED, "claim": None}
ASKED = AskedRequest(digest="asked", key="a-key")


@pytest.fixture
def rig() -> Rig:
    return Rig()


def a_full_tail(rig: Rig) -> Task:
    """Its holder ended a claim under a key; the next change moves that away."""
    task = claimed(rig.store, TASK)
    released = replace(then(task, **BACK), by_holder=True, asked=ASKED)
    rig.store.commit(WORKSPACE, released)
    change = then(rig.store.tasks.load(WORKSPACE, TASK)[0], title="t" * MAX_TAIL_BYTES)
    rig.store.commit(WORKSPACE, change)
    present, _ = rig.store.tasks.load(WORKSPACE, TASK)
    assert tail.is_full(present.meta.tail)
    rig.choked.calls.clear()
    return present


def found(rig: Rig) -> list[Receipt | None]:
    """By the claim, by the key, and by names that there are none of."""
    present, _ = rig.other_store.tasks.load(WORKSPACE, TASK)
    return [rig.other_store.trail.receipt(present, name) for name in ("clm_1", "a-key", "clm_2", "another", "clm_", "")]


def must_be_found(rig: Rig) -> None:
    by_claim, by_key, *others = found(rig)
    assert others == [None] * 4
    assert by_claim == by_key
    assert by_claim is not None
    assert (by_claim.seq, by_claim.asked, by_claim.version) == (2, "asked", 2)
    assert by_claim.ended == EndedClaim("clm_1", 1, "auditor", "human:alice", by_holder=True)


def go_on(rig: Rig, often: int = 6) -> None:
    for number in range(often):
        present, _ = rig.other_store.tasks.load(WORKSPACE, TASK)
        rig.other_store.commit(WORKSPACE, then(present, title=f"later {number}" * (MAX_TAIL_BYTES // 16)))


def test_the_chunk_comes_before_head(rig: Rig) -> None:
    task = a_full_tail(rig)
    must_be_found(rig)
    rig.store.commit(WORKSPACE, then(task, title="ours"))
    assert rig.choked.calls == ["put_item"] * 2
    assert rig.store.tasks.load(WORKSPACE, TASK)[0].meta.has_chunks
    must_be_found(rig)
    go_on(rig)
    must_be_found(rig)


@pytest.mark.parametrize("fault", LOST)
@pytest.mark.parametrize("number", CALLS)
def test_a_fault_at_any_call_is_not_noticed(rig: Rig, number: int, fault: str) -> None:
    task = a_full_tail(rig)
    rig.choked.plan = at_call(number, fault)
    rig.store.commit(WORKSPACE, then(task, title="ours"))
    must_be_found(rig)
    go_on(rig)
    must_be_found(rig)


@pytest.mark.parametrize("death", ["crash_before", "crash_after"])
@pytest.mark.parametrize("number", CALLS)
def test_a_writer_that_dies_at_any_call_loses_no_receipt(rig: Rig, number: int, death: str) -> None:
    task = a_full_tail(rig)
    rig.choked.plan = at_call(number, death)
    with pytest.raises(Crash):
        rig.store.commit(WORKSPACE, then(task, title="ours"))
    must_be_found(rig)
    go_on(rig)
    must_be_found(rig)


@pytest.mark.parametrize("number", CALLS)
def test_a_fault_that_stays_loses_no_receipt(rig: Rig, number: int) -> None:
    task = a_full_tail(rig)
    rig.choked.plan = lambda n, _operation: "error_after" if n >= number else None
    with suppress(Busy, Conflict):
        rig.store.commit(WORKSPACE, then(task, title="ours"))
    must_be_found(rig)
    go_on(rig)
    must_be_found(rig)


# Of two writers, 0 and 1: each sends the chunk, and then HEAD.
ORDERS = sorted(set(permutations((0, 0, 1, 1))))


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_two_writers_that_move_the_same_tail_leave_the_same_chunk(rig: Rig, order: tuple[int, ...]) -> None:
    task = a_full_tail(rig)
    writers = [WrittenCalls(rig, then(task, title=title)) for title in ("first", "second")]
    assert writers[0].requests[0] == writers[1].requests[0], "the same state gives the same chunk"
    sent = [0, 0]
    for writer in order:
        writers[writer].arrive(sent[writer])
        must_be_found(rig)
        sent[writer] += 1
    must_be_found(rig)


def test_what_arrives_after_the_task_went_on_changes_nothing(rig: Rig) -> None:
    late = WrittenCalls(rig, then(a_full_tail(rig), title="late"))
    go_on(rig)
    before = rig.raw.contents()
    for number in range(2):
        late.arrive(number)
    assert rig.raw.contents() == before
    must_be_found(rig)


def test_a_chunk_of_a_refused_change_has_what_head_still_has(rig: Rig) -> None:
    task = a_full_tail(rig)
    refused = WrittenCalls(rig, then(task.changed(version=task.meta.version - 1), title="late"))
    for number in range(2):
        refused.arrive(number)
    assert not rig.other_store.tasks.load(WORKSPACE, TASK)[0].meta.has_chunks
    must_be_found(rig)


def test_a_receipt_that_is_newer_than_the_task_that_was_read_does_not_count(rig: Rig) -> None:
    """Who decides on that state meets a conflict, and finds it then."""
    rig.store.commit(WORKSPACE, then(a_full_tail(rig), title="t" * MAX_TAIL_BYTES))
    was_read, _ = rig.store.tasks.load(WORKSPACE, TASK)
    assert was_read.meta.has_chunks
    rig.store.commit(WORKSPACE, replace(then(was_read), asked=AskedRequest(digest="asked", key="later")))
    go_on(rig)
    assert rig.store.trail.receipt(was_read, "later") is None
    assert rig.store.trail.receipt(rig.store.tasks.load(WORKSPACE, TASK)[0], "later") is not None
    with pytest.raises(Conflict):
        rig.store.commit(WORKSPACE, then(was_read))


@pytest.mark.parametrize(("changes", "pages"), [(10, 1), (1_000, 6) if IS_WHOLE else (370, 3)])
def test_a_receipt_is_looked_for_backwards_a_page_of_chunks_after_the_other(rig: Rig, changes: int, pages: int) -> None:
    task = a_full_tail(rig)
    for number in range(changes):
        change = then(task, title=f"{number}")
        rig.store.commit(WORKSPACE, change)
        task = change.task
    rig.store.commit(WORKSPACE, replace(then(task), asked=AskedRequest(digest="asked", key="later")))
    go_on(rig, 2)
    present, _ = rig.store.tasks.load(WORKSPACE, TASK)
    assert rig.count(partial(rig.store.trail.receipt, present, "later")) == ["query"]
    for name in ("clm_1", "a-key"):
        assert rig.count(partial(rig.store.trail.receipt, present, name)) == ["query"] * pages
    must_be_found(rig)


def test_what_is_too_old_to_count_is_not_looked_for(rig: Rig) -> None:
    task = a_full_tail(rig)
    for number in range(200):
        change = then(task, at=NOON + timedelta(days=8), title=f"{number}")
        rig.store.commit(WORKSPACE, change)
        task = change.task
    present, _ = rig.store.tasks.load(WORKSPACE, TASK)
    look = partial(rig.store.trail.receipt, present, "unknown")
    assert rig.count(partial(look, NOON + timedelta(days=9))) == ["query"]
    assert len(rig.count(look)) > 1


def test_what_head_has_costs_no_reading_and_neither_does_a_short_trail(rig: Rig) -> None:
    task = claimed(rig.store, TASK)
    rig.store.commit(WORKSPACE, replace(then(task, **BACK), by_holder=True, asked=ASKED))
    present, _ = rig.store.tasks.load(WORKSPACE, TASK)
    for name in ("clm_1", "a-key", "clm_2"):
        assert rig.count(partial(rig.store.trail.receipt, present, name)) == []


def test_a_claim_that_another_ended_is_known_for_good(rig: Rig) -> None:
    task = claimed(rig.store, TASK, a_claim(fence=7))
    change = then(task, **BACK, title="t" * MAX_TAIL_BYTES)
    rig.store.commit(WORKSPACE, change)
    rig.store.commit(WORKSPACE, then(change.task, title="ours"))
    receipt = rig.store.trail.receipt(rig.store.tasks.load(WORKSPACE, TASK)[0], "clm_7")
    assert receipt is not None
    assert receipt.ended == EndedClaim("clm_7", 7, "auditor", "agent:auditor", by_holder=False)
