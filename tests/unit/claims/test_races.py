"""Invariants 1, 5 and 6 under threads: 64 at once, and the winners counted.

First the engine shows that it can lose races: a planted read-then-write without a condition must have double winners
here, or the rest would prove nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import count, islice
from threading import Lock
from typing import Any

import pytest

from baton.domain.errors import AlreadyClaimed, Busy
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.trail import replay
from baton.domain.tasks.transitions import Dispatch, create
from baton.ports.deps import Deps
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.escalations.create_handoff_marker import MarkerAnswer, create_handoff_marker
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimed, Claimer
from support.clock import NOON
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import InMemoryStore
from support.faults.soak import scaled
from support.faults.threads import StillClock, all_at_once, at_once, race
from support.values.changes import with_body
from support.values.tasks import SETTINGS, a_new_task, an_agent
from support.worlds.world import WORKSPACE, World, agent, human, marker_body

pytestmark = pytest.mark.slow

RUNNERS = 64
TASKS = scaled(1_000, 60)
TIMES = scaled(10, 3)
AUDITOR = agent("auditor")


class Unconditional(FakeDynamo):
    """The planted bug: whatever is put is put there without looking at the version."""

    def put_item(self, **request: Any) -> Any:
        return super().put_item(TableName=request["TableName"], Item=request["Item"])

    def transact_write_items(self, **request: Any) -> Any:
        request["TransactItems"] = [
            {kind: {"TableName": write["TableName"], "Item": write["Item"]} if kind == "Put" else write}
            for each in request["TransactItems"]
            for kind, write in each.items()
        ]
        return super().transact_write_items(**request)


def still(world: World) -> Deps:
    """The world's Baton for many threads, in a process that knows the agents."""
    world.store.agents.roster(WORKSPACE)
    world.deps = replace(world.deps, clock=StillClock(), log=lambda *_, **__: None)
    return world.deps


def ready_tasks(world: World, many: int) -> list[str]:
    """Approved long ago, each with its own event trail; put in without the direction's limits."""
    asked_at = NOON - timedelta(seconds=10)
    for number in range(many):
        new = a_new_task(id=f"task_{number}", kind="transfer", created_at=asked_at, created_by="human:alice")
        change = create(new, human(), asked_at, Dispatch(an_agent(), SETTINGS))
        world.store.commit(WORKSPACE, with_body(change, {}))
    return [f"task_{number}" for number in range(many)]


def claims_of(world: World, tasks: list[str]) -> list[list[Claimed | Exception]]:
    deps = still(world)

    def step(number: int, runner: int) -> Claimed:
        claimer = Claimer(by=AUDITOR, agent="auditor", worker=f"w{runner}")
        return claim_task(deps, claimer, tasks[number])

    return race(RUNNERS, len(tasks), step)


def winners(answers: Sequence[object]) -> list[Claimed]:
    return [answer for answer in answers if isinstance(answer, Claimed)]


def test_the_engine_races_a_claim_without_its_condition_has_double_winners() -> None:
    world = World(store=InMemoryStore(Unconditional())).settle()
    raced = (claims_of(world, [task_id])[0] for task_id in ready_tasks(world, 20))
    double = (answers for answers in raced if len(winners(answers)) > 1)
    assert len([*islice(double, 3)]) == 3, "the threads don't race: the other tests here would prove nothing"


def test_64_threads_race_for_each_task_and_each_has_one_winner() -> None:
    world = World().settle()
    tasks = ready_tasks(world, TASKS)
    answers = claims_of(world, tasks)
    assert Counter(len(winners(each)) for each in answers) == {1: TASKS}
    losers = Counter(type(answer) for each in answers for answer in each if not isinstance(answer, Claimed))
    assert losers == {AlreadyClaimed: (RUNNERS - 1) * TASKS}
    for task_id, each in zip(tasks, answers, strict=True):
        task = world.task(task_id)
        assert task.claim is not None
        assert (task.fence, task.claim.fence, task.attempt) == (1, 1, 1)
        assert task.claim.claim_id == winners(each)[0].claim_id
        events = world.store.trail.events(WORKSPACE, task_id, 0, 100)
        assert [event.seq for event in events] == [1, 2, 3]
        assert replay(events).fence == 1
    claims = [answer.details.task.claim for each in answers for answer in winners(each)]
    assert len({claim.worker for claim in claims if claim is not None}) > 3


def test_claiming_the_next_gives_64_workers_64_different_tasks_and_nobody_an_error() -> None:
    world = World().settle()
    ready_tasks(world, 40)
    deps = still(world)

    def step(number: int, runner: int) -> Claimed | None:
        return claim_next(deps, Claimer(by=AUDITOR, agent="auditor", worker=f"w{runner}"))

    (answers,) = race(RUNNERS, 1, step)
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    got = [answer.details.task.id for answer in winners(answers)]
    # Whoever lost every race it entered may go home with nothing although there was more; the next asking gets it.
    assert len(got) == len(set(got))
    assert len(got) >= 30
    rest = iter(lambda: claim_next(deps, Claimer(by=AUDITOR, agent="auditor", worker="w")), None)
    got += [claimed.details.task.id for claimed in rest]
    assert len(got) == len(set(got)) == 40


def test_one_claim_is_ended_once_though_worker_human_and_sweepers_come_at_once() -> None:
    first = Counter[str]()
    for number in range(60):
        if number >= scaled(60, 4) and len(first) > 1:
            break
        world = World().settle()
        (task_id,) = ready_tasks(world, 1)
        claim_id = world.claim().claim_id
        world.clock.advance(300)
        deps = replace(still(world), clock=StillClock(world.clock.now()))
        steps: list[Callable[[], object]] = [
            partial(
                complete_task, deps, WorkerCall(AUDITOR, task_id, claim_id, "h"), CompletedWork(output={"ok": True})
            ),
            partial(cancel_task, deps, human(), task_id, None),
            partial(sweep, deps),
            partial(sweep, deps),
        ]
        all_at_once(steps)
        trail = world.trail(task_id)
        assert trail.count("handoff_completed") + trail.count("requeued") <= 1
        assert trail.count("handoff_completed") + trail.count("cancelled") == 1
        assert world.task(task_id).is_ended
        first[trail[3]] += 1
    assert len(first) > 1, "somebody else must come first now and then"


def test_64_markers_at_once_in_one_direction_create_exactly_one() -> None:
    for _ in range(TIMES):
        world = World().settle()
        deps = still(world)
        answers = at_once(RUNNERS, partial(create_handoff_marker, deps, agent("scout"), marker_body()))
        made = [a for a in answers if isinstance(a, MarkerAnswer) and a.task_id]
        duplicates = [a for a in answers if isinstance(a, MarkerAnswer) and a.duplicate_of]
        assert (len(made), len(duplicates)) == (1, RUNNERS - 1)
        assert {a.duplicate_of for a in duplicates} == {made[0].task_id}
        assert len(world.store.tasks.notes(WORKSPACE, made[0].task_id or "", 100)) == RUNNERS - 1
        assert len(world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 100, None).items) == 1


def test_64_markers_each_closed_at_once_create_exactly_two() -> None:
    world = World().settle()
    deps = still(world)
    closing = Lock()

    def step(number: int, runner: int) -> MarkerAnswer:
        answer = create_handoff_marker(deps, agent("scout"), marker_body())
        if answer.task_id:
            with closing:
                cancel_task(deps, human(), answer.task_id, None)
        return answer

    answers = race(16, 4, step)
    made = [a for each in answers for a in each if isinstance(a, MarkerAnswer) and a.task_id]
    errors = [a for each in answers for a in each if isinstance(a, Exception)]
    assert len(made) == 2
    assert {type(error) for error in errors} <= {Busy}
    assert [escalation.closed for escalation in world.direction().escalations] == [True, True]


def test_64_in_a_row_each_closed_at_once_create_exactly_two(world: World) -> None:
    made, capped = 0, 0
    for _ in range(64):
        answer = world.mark(agent("scout"))
        if answer.task_id:
            made += 1
            cancel_task(world.deps, human(), answer.task_id, None)
        capped += answer.review_id is not None
    assert (made, capped) == (2, 62)


def test_64_knocks_at_a_capped_direction_open_one_review_and_each_is_counted() -> None:
    world = World().settle()
    for _ in range(2):
        cancel_task(world.deps, human(), world.needing(), None)
    deps = still(world)
    answers = at_once(RUNNERS, lambda: create_handoff_marker(deps, agent("scout"), marker_body()))
    counted = [a for a in answers if isinstance(a, MarkerAnswer)]
    assert {type(a) for a in answers if isinstance(a, Exception)} <= {Busy}
    (review_id,) = {a.review_id for a in counted}
    assert world.store.escalations.review(WORKSPACE, review_id or "").count == len(counted)
    assert len(world.store.tasks.notes(WORKSPACE, review_id or "", 100)) == len(counted)


@pytest.mark.parametrize("create_task", [True, False])
def test_64_with_one_idempotency_key_get_one_answer(create_task: bool) -> None:
    body = marker_body(create_task=create_task)
    for round_ in range(TIMES):
        world = World().settle()
        deps = still(world)
        idempotency_key = IdempotencyKey(agent("scout"), "/handoff-markers", f"key-{round_}", "h")
        answers = at_once(RUNNERS, partial(create_handoff_marker, deps, agent("scout"), body, idempotency_key))
        assert len(answers) == RUNNERS
        assert all(answer == answers[0] for answer in answers)
        assert isinstance(answers[0], MarkerAnswer)
        assert bool(answers[0].task_id) is create_task
        assert len(world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 100, None).items) == create_task


def test_64_claims_with_one_idempotency_key_get_one_claim() -> None:
    world = World().settle()
    tasks = ready_tasks(world, 20)
    deps = still(world)
    keys = count()
    for _ in range(TIMES):
        idempotency_key = IdempotencyKey(AUDITOR, "/agents/auditor/claims", f"key-{next(keys)}", "h")
        claimer = Claimer(by=AUDITOR, agent="auditor", worker="w")
        answers = at_once(RUNNERS, partial(claim_next, deps, claimer, idempotency_key))
        # Nothing is an answer too: of one that lost every race before the key was taken.
        assert len({answer.claim_id for answer in winners(answers)}) == 1
        assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert sum(world.task(task_id).fence for task_id in tasks) == TIMES
