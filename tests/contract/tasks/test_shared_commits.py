"""One write for many tasks, with the counts that they share: all of it holds, or nothing does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from baton.domain.errors import BatonError, Conflict, KeyTaken, Unknown
from baton.domain.handoffs.workflow import ClaimLateResult, HandoffCount, RootHandoffs, WorkflowMember
from baton.domain.idempotency import IdempotencyKey
from baton.domain.task_state import State
from baton.domain.tasks.task_items import Retry
from baton.domain.times import seconds
from baton.ports.handoffs import HandoffQuery
from baton.ports.store import Store
from baton.ports.writes import (
    MAX_ITEMS,
    Add,
    FinishJob,
    Insert,
    Put,
    Replace,
    Require,
    Save,
    SaveResponse,
    UnderClaim,
    Write,
)
from support.clock import NOON
from support.values.changes import claimed, looked_at, new, queued, stored, then, with_body, with_output
from support.values.records import a_note, a_page_sync, a_review
from support.values.task_items import a_checkpoint, a_job, a_late_result, a_recovery, holding, slotted
from support.worlds.world import WORKSPACE, human

ONCE = IdempotencyKey(human(), "/x", "key", "hash")


def count(store: Store, workflow_id: str = "wf_1") -> int | None:
    return store.handoffs.handoff_inputs(WORKSPACE, HandoffQuery(workflow_id=workflow_id)).handoffs


def test_another_tasks_change_is_written_along_with_all_that_belongs_to_it(store: Store) -> None:
    parent = claimed(store, "task_1")
    child = new("task_2", parent_id="task_1", wake_at=NOON)
    grandchild = new("task_3", parent_id="task_2")
    done = then(parent, state=State.DONE, claim=None)
    store.commit(
        WORKSPACE,
        with_output(done, "x", {"completion_id": "comp_1"}),
        with_body(child, {"n": 2}),
        Save(a_page_sync("task_2")),
        with_body(grandchild, {"n": 3}),
    )
    assert store.tasks.load(WORKSPACE, "task_1")[0] == done.task
    read = store.tasks.read(WORKSPACE, "task_2", with_body=True)
    assert (read.task, read.body, read.page_sync) == (child.task, {"n": 2}, a_page_sync("task_2"))
    assert store.tasks.read(WORKSPACE, "task_3", with_body=True).body == {"n": 3}
    assert store.trail.events(WORKSPACE, "task_2", 0, 10) == child.events
    assert store.tasks.read(WORKSPACE, "task_1").completion == {"completion_id": "comp_1"}
    members = (WorkflowMember("task_1", None), WorkflowMember("task_2", "task_1"), WorkflowMember("task_3", "task_2"))
    assert store.workflows.members(WORKSPACE, "wf_1") == members


def moved_on(store: Store) -> Write:
    task = stored(store, "task_2")
    store.commit(WORKSPACE, then(task, title="moved on"))
    return then(task, title="late")


def there_already(store: Store) -> Write:
    stored(store, "task_2")
    return new("task_2")


def deep_inside(store: Store) -> tuple[Write, ...]:
    return (new("task_5"), new("task_6"), there_already(store))


def under_no_claim(store: Store) -> tuple[Write, ...]:
    holding(store, "task_2", fence=2)
    return (new("task_5"), Require(UnderClaim("task_2", "clm_1")))


def permit_taken(store: Store) -> Write:
    holding(store, "task_2", 1)
    return new("task_5", state=State.CLAIMED, claim=slotted(1), fence=1)


def full(store: Store) -> Write:
    store.commit(WORKSPACE, new("task_2"), Add(HandoffCount("wf_1", 49), 1, 50))
    return Add(HandoffCount("wf_1", 0), 1, 50)


def too_many_from_the_start(_: Store) -> Write:
    return Add(HandoffCount("wf_1", 49), 2, 50)


def roots_moved_on(store: Store) -> Write:
    store.commit(WORKSPACE, new("task_2"), Save(RootHandoffs("scout", "*", (NOON,), 1)))
    return Save(RootHandoffs("scout", "*", (NOON,), 1))


def late_already(store: Store) -> Write:
    stored(store, "task_2")
    store.commit(WORKSPACE, Insert(ClaimLateResult("task_2", "clm_1", a_late_result()), KeyTaken))
    return Insert(ClaimLateResult("task_2", "clm_1", a_late_result()), KeyTaken)


def retried_meanwhile(store: Store) -> Write:
    store.commit(WORKSPACE, new("task_2"), Replace(Retry("task_0", "task_2"), None))
    return Replace(Retry("task_0", "task_1"), None)


def another_retry_seen(store: Store) -> Write:
    store.commit(WORKSPACE, new("task_2"), Replace(Retry("task_0", "task_2"), None))
    return Replace(Retry("task_0", "task_1"), Retry("task_0", "task_7"))


def never_retried(_: Store) -> Write:
    return Replace(Retry("task_0", "task_1"), Retry("task_0", "task_7"))


def reviewed_already(store: Store) -> Write:
    store.commit(WORKSPACE, Save(a_review()), Insert(a_note(7)))
    return Save(a_review())


@pytest.mark.parametrize(
    ("prepare", "error"),
    [
        (moved_on, Conflict),
        (there_already, Conflict),
        (deep_inside, Conflict),
        (under_no_claim, Conflict),
        (permit_taken, Conflict),
        (full, Conflict),
        (too_many_from_the_start, Conflict),
        (roots_moved_on, Conflict),
        (late_already, KeyTaken),
        (retried_meanwhile, Conflict),
        (another_retry_seen, Conflict),
        (never_retried, Conflict),
        (reviewed_already, Conflict),
    ],
)
def test_what_does_not_hold_refuses_all_of_it(
    store: Store, prepare: Callable[[Store], Write | tuple[Write, ...]], error: type[BatonError]
) -> None:
    prepared = prepare(store)
    refused = prepared if isinstance(prepared, tuple) else (prepared,)
    seen = (count(store), store.escalations.reviews(WORKSPACE, 10, None), store.workflows.retry_of(WORKSPACE, "task_0"))
    along: list[Write] = [
        Put(a_checkpoint()),
        Put(a_job()),
        with_body(new("task_8"), {}),
        Add(HandoffCount("wf_8", 0), 1, 50),
        SaveResponse(ONCE, {}),
    ]
    with pytest.raises(error):
        store.commit(WORKSPACE, new("task_1"), *along, *refused)
    assert store.tasks.many(WORKSPACE, ["task_1", "task_5", "task_6", "task_8"]) == {}
    assert store.workflows.checkpoints(WORKSPACE, "wf_1", 10, None).items == ()
    assert list(store.queues.due(NOON + seconds(10_000))) == [
        each for each in store.queues.due(NOON + seconds(10_000)) if not each[2]
    ]
    assert store.saved_response(ONCE) is None
    assert count(store, "wf_8") is None
    assert (
        count(store),
        store.escalations.reviews(WORKSPACE, 10, None),
        store.workflows.retry_of(WORKSPACE, "task_0"),
    ) == seen


def test_a_workflows_handoffs_are_counted_to_their_limit_and_no_further(store: Store) -> None:
    assert count(store) is None
    store.commit(WORKSPACE, new("task_1"), Add(HandoffCount("wf_1", 1), 1, 5))
    assert count(store) == 2
    store.commit(WORKSPACE, new("task_2"), Add(HandoffCount("wf_1", 99), 2, 5))
    assert count(store) == 4
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, new("task_3"), Add(HandoffCount("wf_1", 0), 2, 5))
    store.commit(WORKSPACE, new("task_4"), Add(HandoffCount("wf_1", 0), 1, 5))
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, new("task_5"), Add(HandoffCount("wf_1", 0), 1, 5))
    assert (count(store), count(store, "wf_10")) == (5, None)


@pytest.mark.parametrize(("start", "number", "most", "holds"), [(0, 5, 5, True), (1, 5, 5, False), (0, 1, 0, False)])
def test_the_first_count_may_already_be_the_last(
    store: Store, start: int, number: int, most: int, *, holds: bool
) -> None:
    extras = [Add(HandoffCount("wf_1", start), number, most)]
    if holds:
        store.commit(WORKSPACE, new(), *extras)
        assert count(store) == start + number
    else:
        with pytest.raises(Conflict):
            store.commit(WORKSPACE, new(), *extras)
        assert count(store) is None


def test_roots_are_counted_by_direction(store: Store) -> None:
    first = RootHandoffs("human:a#b", "*", (NOON,), 1)
    store.commit(WORKSPACE, new("task_1"), Save(first))
    second = replace(first, times=(NOON, NOON + seconds(1)), version=2)
    store.commit(WORKSPACE, new("task_2"), Save(second))
    assert store.handoffs.handoff_inputs(WORKSPACE, HandoffQuery(roots=("human:a#b", "*"))).roots == second
    for pair in (("human:a", "*"), ("*", "human:a#b"), ("scout", "auditor")):
        assert store.handoffs.handoff_inputs(WORKSPACE, HandoffQuery(roots=pair)).roots == RootHandoffs(*pair)


def in_one(store: Store, *, items: int) -> None:
    """A write of so many items: a new task without events takes two, each note one."""
    bare = replace(new("task_1"), events=())
    store.commit(WORKSPACE, bare, *[Insert(a_note(number)) for number in range(items - 2)])


def test_a_hundred_items_are_written_at_once(store: Store) -> None:
    in_one(store, items=MAX_ITEMS)
    assert len(store.tasks.notes(WORKSPACE, "task_1", 200)) == MAX_ITEMS - 2


def test_one_more_is_refused_before_anything_is_sent(store: Store) -> None:
    with pytest.raises(ValueError, match="101 items"):
        in_one(store, items=MAX_ITEMS + 1)
    with pytest.raises(Unknown):
        store.tasks.load(WORKSPACE, "task_1")


def test_what_is_written_along_counts_too(store: Store) -> None:
    extras: list[Write] = []
    for number in range(21):
        task_id = f"task_{number}"
        extras += [with_body(new(task_id), {}), Save(a_page_sync(task_id))]
    with pytest.raises(ValueError, match="105 items"):
        store.commit(WORKSPACE, *extras)
    assert store.workflows.members(WORKSPACE, "wf_1") == ()


@pytest.mark.parametrize("room", [0, 1])
def test_both_stores_count_alike(store: Store, room: int) -> None:
    """All that a change and its extras may write, beside as many notes as still fit, or one more."""
    task = holding(store, "task_1", 1)
    change = replace(
        then(task, state=State.WAITING, claim=None),
        recovery=a_recovery(),
        failure={"type": "x"},
        resume_payload={"x": 1},
    )
    extras: list[Write] = [
        Put(a_checkpoint()),
        Put(a_job()),
        FinishJob(a_job(stamp="another")),
        Insert(ClaimLateResult("task_1", "clm_1", a_late_result()), KeyTaken),
        Replace(Retry("task_1", "task_2"), None),
        Save(a_review()),
        Save(RootHandoffs("scout", "*", (NOON,), 1)),
        Add(HandoffCount("wf_1", 0), 1, 50),
        with_body(new("task_2", state=State.CLAIMED, claim=slotted(2), fence=1), {}),
        SaveResponse(ONCE, {}),
    ]
    taken = 5 + 8 + 4  # of task_1's change, of the extras, of task_2 without its body
    notes = [Insert(a_note(number)) for number in range(MAX_ITEMS - taken + 1 - room)]
    if room:
        store.commit(WORKSPACE, change, *extras, *notes)
    else:
        with pytest.raises(ValueError, match="101 items"):
            store.commit(WORKSPACE, change, *extras, *notes)


def twice(store: Store) -> list[tuple[Any, ...]]:
    task = holding(store, "task_1")
    return [
        (then(task, title="x"), Require(UnderClaim("task_1", "clm_1"))),
        (then(task, title="x"), looked_at(task)),
        (new("task_2"), new("task_2")),
        (
            new("task_2"),
            Add(HandoffCount("wf_1", 0), 1, 9),
            new("task_3"),
            Add(HandoffCount("wf_1", 0), 1, 9),
        ),
        (Put(a_checkpoint(1)), Put(a_checkpoint(2))),
        (Put(a_job()), Put(a_job())),
    ]


def test_one_item_is_not_written_twice_at_once(store: Store) -> None:
    for writes in twice(store):
        with pytest.raises(ValueError, match="twice"):
            store.commit(WORKSPACE, *writes)
    assert len(store.workflows.members(WORKSPACE, "wf_1")) == 1


def test_a_write_may_begin_with_nothing_but_what_is_written_along(store: Store) -> None:
    store.commit(WORKSPACE, with_body(new("task_1"), {"x": 1}), Add(HandoffCount("wf_1", 0), 1, 5))
    assert store.tasks.bodies(WORKSPACE, ["task_1"]) == {"task_1": {"x": 1}}
    queued(store, "task_2")
