"""The mark of a claimed task: where it stands in its agent's queue, and what moves it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim, Task
from baton.domain.times import seconds
from baton.ports.queues import ReadyTask
from baton.ports.store import Store
from support.clock import NOON
from support.values.changes import a_claim, claimed, queued, then
from support.values.task_items import freed
from support.worlds.world import WORKSPACE, agent

LATER = NOON + seconds(1_000)


def found(store: Store, at: Any = LATER) -> list[tuple[str, str | None]]:
    return [(each.task_id, each.lapsed_claim) for each in store.queues.ready(WORKSPACE, "auditor", at)[1]]


def loaded(store: Store) -> Task:
    return store.tasks.load(WORKSPACE, "task_1")[0]


def extended(store: Store) -> Task:
    """Its mark says NOON + 300 s, its claim NOON + 500 s."""
    claimed(store, "task_1")
    store.claims.renew(WorkerCall(agent("auditor"), "task_1", "clm_1"), NOON + seconds(200), None)
    return loaded(store)


def test_a_claim_is_shown_once_its_lease_is_over_and_not_before(store: Store) -> None:
    claimed(store, "task_1")
    assert found(store, NOON + seconds(299.999)) == []
    assert found(store, NOON + seconds(300)) == [("task_1", "clm_1")]
    (lapsed,) = store.queues.ready(WORKSPACE, "auditor", LATER)[1]
    assert lapsed == ReadyTask("task_1", NOON + seconds(300), lapsed_claim="clm_1")


def test_the_longest_over_comes_first_behind_all_work_of_any_priority(store: Store) -> None:
    for number in (3, 1, 2):
        claim = replace(a_claim(fence=number), expires_at=NOON + seconds(number))
        claimed(store, f"task_{number}", claim, priority="P0")
    queued(store, "task_9", priority="P2")
    marks = [("task_1", "clm_1"), ("task_2", "clm_2"), ("task_3", "clm_3")]
    assert found(store) == [("task_9", None), *marks]
    assert found(store, NOON + seconds(2)) == [("task_9", None), *marks[:2]]


def test_many_pages_of_work_and_marks_are_all_told(store: Store) -> None:
    for number in range(60):
        queued(store, f"task_w{number:02d}", NOON + seconds(number))
        claim = replace(a_claim(fence=number), expires_at=NOON + seconds(number))
        claimed(store, f"task_m{number:02d}", claim)
    names = [f"task_w{number:02d}" for number in range(60)] + [f"task_m{number:02d}" for number in range(60)]
    assert [task_id for task_id, _ in found(store)] == names


def test_the_mark_of_open_work_stands_in_the_queue_of_the_agent_that_has_it(store: Store) -> None:
    claimed(store, "task_1", target_agent=None)
    assert found(store) == [("task_1", "clm_1")]
    assert list(store.queues.open_work(WORKSPACE, LATER)) == []


def test_a_mark_is_moved_to_the_end_of_the_lease_and_nothing_else_changes(store: Store) -> None:
    task = extended(store)
    assert found(store, NOON + seconds(300)) == [("task_1", "clm_1")]
    for _ in range(2):
        store.claims.move_mark(task)
        assert found(store, NOON + seconds(499.999)) == []
        assert found(store, NOON + seconds(500)) == [("task_1", "clm_1")]
        assert loaded(store) == task


@pytest.mark.parametrize("claim", [a_claim(fence=2, lease_seconds=700), None])
def test_a_mark_of_another_claim_is_left_where_it_is(store: Store, claim: Claim | None) -> None:
    task = extended(store)
    if claim is None:
        freed(store, task, state=State.DONE)
    else:
        store.commit(WORKSPACE, then(task, claim=claim, fence=2))
    before = found(store)
    store.claims.move_mark(task)
    assert found(store) == before == ([] if claim is None else [("task_1", "clm_2")])


def test_a_mark_is_not_moved_back_by_who_read_an_earlier_lease(store: Store) -> None:
    task = extended(store)
    store.claims.renew(WorkerCall(agent("auditor"), "task_1", "clm_1"), NOON + seconds(400), None)
    store.claims.move_mark(loaded(store))
    store.claims.move_mark(task)
    assert found(store, NOON + seconds(699)) == []
    assert found(store, NOON + seconds(700)) == [("task_1", "clm_1")]


def test_a_commit_that_was_decided_before_a_mark_was_moved_costs_one_look_more(store: Store) -> None:
    task = extended(store)
    store.claims.move_mark(task)
    store.commit(WORKSPACE, then(task, checkpoints=1))
    assert found(store, NOON + seconds(300)) == [("task_1", "clm_1")]
    store.claims.move_mark(loaded(store))
    assert found(store, NOON + seconds(499)) == []
    assert found(store, NOON + seconds(500)) == [("task_1", "clm_1")]


def test_a_task_without_a_claim_has_no_mark_to_move(store: Store) -> None:
    task = queued(store, "task_1")
    store.claims.move_mark(task)
    assert found(store) == [("task_1", None)]


def test_a_commit_under_a_claim_leaves_its_mark_where_it_is_while_that_is_ahead(store: Store) -> None:
    """Moving an entry of the index costs; whoever finds the mark too early moves it."""
    task = extended(store)
    claim = task.claim
    assert claim is not None
    store.commit(WORKSPACE, then(task, claim=claim.renewed(NOON + seconds(250), None, None)))
    assert found(store, NOON + seconds(300)) == [("task_1", "clm_1")]
    task, claim = loaded(store), loaded(store).claim
    assert claim is not None
    assert claim.expires_at == NOON + seconds(550)
    store.commit(WORKSPACE, then(task, claim=claim.renewed(NOON + seconds(310), None, None)))
    assert found(store, NOON + seconds(609)) == []
    assert found(store, NOON + seconds(610)) == [("task_1", "clm_1")]
