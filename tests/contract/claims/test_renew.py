"""``renew``: a heartbeat extends the current claim of the one who sends it, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.errors import Conflict, StaleClaim, Unknown
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Task
from baton.domain.times import seconds
from baton.ports.store import Store
from support.clock import NOON
from support.values.changes import a_claim, claimed, looked_at, queued, then
from support.values.tasks import MS
from support.worlds.world import WORKSPACE, agent, human, service

WORKER = agent("auditor")


def held(store: Store) -> Task:
    return store.tasks.load(WORKSPACE, "task_1")[0]


@pytest.mark.parametrize("hard_deadline", [None, 100, 299, 300, 301, 350, 10_000])
@pytest.mark.parametrize(
    "beats",
    [
        [(0, None)],
        [(60, None), (120, None)],
        [(60, None), (60, None)],
        [(60, None), (30, None)],
        [(299, None), (300, None), (301, None)],
        [(400, None)],
        [(60, 600), (61, None)],
        [(60, 15)],
        [(60, 240)],
        [(60, 239)],
        [(60, 15), (290, 15), (300, None)],
        [(10, 43_200), (20, 15), (43_000, None), (43_200, 15)],
        [(-30, None), (-1, 600)],
        [(0.001, None), (0.002, 300)],
    ],
)
def test_every_beat_does_what_the_domain_says(
    store: Store, beats: list[tuple[float, int | None]], hard_deadline: int | None
) -> None:
    deadline: dict[str, Any] = {}
    if hard_deadline is not None:
        deadline = {"deadline": NOON + seconds(hard_deadline), "fail_on_deadline": True}
    task = claimed(store, wake_at=NOON + seconds(300), **deadline)
    for second, lease in beats:
        now = NOON + seconds(second)
        assert task.claim is not None
        expected = task.claim.renewed(now, lease, task.hard_deadline)
        answer = store.claims.renew(WorkerCall(WORKER, task.id, "clm_1"), now, lease)
        assert answer == expected
        assert answer.expires_at >= task.claim.expires_at
        found = held(store)
        assert found.meta.version - task.meta.version in ({1} if expected != task.claim else {0, 1})
        task = task.changed(claim=expected, version=found.meta.version)
        assert found == task


def test_a_soft_deadline_does_not_shorten_a_lease(store: Store) -> None:
    claimed(store, deadline=NOON + seconds(100))
    answer = store.claims.renew(WorkerCall(WORKER, "task_1", "clm_1"), NOON + seconds(60), None)
    assert answer.expires_at == NOON + seconds(360)


def test_a_claim_that_is_over_but_not_yet_swept_is_still_extended(store: Store) -> None:
    claimed(store)
    late = NOON + seconds(900)
    answer = store.claims.renew(WorkerCall(WORKER, "task_1", "clm_1"), late, None)
    assert (answer.heartbeat_at, answer.expires_at) == (late, late + seconds(300))


def test_a_heartbeat_leaves_everything_else_as_it_is(store: Store) -> None:
    task = claimed(store, rings=3, flags=frozenset(), attempt=2)
    answer = store.claims.renew(WorkerCall(WORKER, task.id, "clm_1"), NOON + seconds(1), None)
    assert held(store) == task.changed(claim=answer, version=task.meta.version + 1)
    assert len(store.trail.events(WORKSPACE, task.id, 0, 10)) == 1


@pytest.mark.parametrize("lease", [None, 60, 600])
@pytest.mark.parametrize("deadline", [None, 10_000])
@pytest.mark.parametrize(
    ("claim_id", "by"),
    [
        ("clm_2", WORKER),
        ("", WORKER),
        ("clm_1", agent("scout")),
        ("clm_1", service()),
        ("clm_1", human(name="auditor")),
        ("clm_1", human()),
        ("clm_1", agent("auditor", "other")),
    ],
)
def test_a_stale_or_foreign_claim_is_refused_and_changes_nothing(
    store: Store, claim_id: str, by: Any, lease: int | None, deadline: int | None
) -> None:
    hard: dict[str, Any] = {} if deadline is None else {"deadline": NOON + seconds(deadline), "fail_on_deadline": True}
    task = claimed(store, **hard)
    with pytest.raises(StaleClaim if by.workspace == WORKSPACE else Unknown):
        store.claims.renew(WorkerCall(by, task.id, claim_id), NOON + seconds(60), lease)
    assert held(store) == task


@pytest.mark.parametrize("lease", [None, 600])
def test_an_unknown_task_is_unknown_and_is_not_made(store: Store, lease: int | None) -> None:
    with pytest.raises(Unknown):
        store.claims.renew(WorkerCall(WORKER, "task_1", "clm_1"), NOON, lease)
    assert store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items == ()


def test_a_task_without_a_claim_or_with_a_newer_one_refuses(store: Store) -> None:
    task = claimed(store)
    back = then(task, state=State.DELEGATED, claim=None)
    store.commit(WORKSPACE, back)
    with pytest.raises(StaleClaim):
        store.claims.renew(WorkerCall(WORKER, task.id, "clm_1"), NOON, None)
    again = then(back.task, state=State.CLAIMED, claim=a_claim(fence=2), fence=2)
    store.commit(WORKSPACE, again)
    with pytest.raises(StaleClaim):
        store.claims.renew(WorkerCall(WORKER, task.id, "clm_1"), NOON + seconds(60), None)
    assert held(store) == again.task
    assert store.claims.renew(WorkerCall(WORKER, task.id, "clm_2"), NOON + seconds(60), None).fence == 2


def test_a_sweep_decided_before_a_heartbeat_cannot_end_the_claim(store: Store) -> None:
    read = claimed(store)
    over = NOON + seconds(300)
    renewed = store.claims.renew(WorkerCall(WORKER, read.id, "clm_1"), over, None)
    for decided in (then(read, state=State.DELEGATED, claim=None), looked_at(read, wake_at=None)):
        with pytest.raises(Conflict):
            store.commit(WORKSPACE, decided)
    assert held(store).claim == renewed


def test_a_heartbeat_does_not_move_the_next_look(store: Store) -> None:
    claimed(store)
    store.claims.renew(WorkerCall(WORKER, "task_1", "clm_1"), NOON + seconds(200), None)
    assert list(store.queues.due(NOON + seconds(300))) == [(WORKSPACE, "task_1", None)]
    assert list(store.queues.due(NOON + seconds(300) - MS)) == []


def test_a_ready_task_cannot_be_renewed(store: Store) -> None:
    queued(store, "task_1")
    with pytest.raises(StaleClaim):
        store.claims.renew(WorkerCall(WORKER, "task_1", ""), NOON, None)
