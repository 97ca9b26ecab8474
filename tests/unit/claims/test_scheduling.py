"""Who gets what, and when (docs/spec/lifecycle.md §2): priority, then first in first out, under many claimers at
once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import RLock, current_thread
from typing import Any

import pytest

from baton.domain.agents.agent import Runtime
from baton.domain.errors import NotClaimable
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import HumanCall
from baton.domain.tasks.change import Change
from baton.domain.times import rfc3339
from baton.ports.queues import ReadyTask, Skills
from baton.ports.writes import Write
from baton.services.agents.change_route import change_route
from baton.services.claims.claim_task import claim_next
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.tasks.approve_task import approve_task, approve_task_next
from baton.services.tasks.put_off_task import defer_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimer
from support.faults.soak import scaled
from support.faults.threads import at_once, race
from support.faults.wrapped_store import WrappedStore
from support.worlds.team import Team
from support.worlds.world import WORKSPACE, World, agent, human

A, B, C = "anna", "bert", "carl"
CLAIMERS = 8


@dataclass(frozen=True)
class Look:
    """A claimer reads its queue."""

    runner: str


@dataclass(frozen=True)
class Came:
    task_id: str
    priority: str


@dataclass(frozen=True)
class Went:
    task_id: str
    priority: str
    runner: str


class Logbook(WrappedStore):
    """Writes down, in the order in which it happens, who looks, what becomes ready and what is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = RLock()
        self.log: list[Look | Came | Went] = []

    def ready(self, workspace: str, agent: str, now: datetime) -> tuple[Skills | None, Any]:
        with self._lock:
            self.log.append(Look(current_thread().name))
            skills, found = self.inner.queues.ready(workspace, agent, now)
            taken: list[ReadyTask] = list(found)
        return skills, iter(taken)

    def commit(self, workspace: str, *writes: Write) -> None:
        with self._lock:
            self.inner.commit(workspace, *writes)
            change = next((write for write in writes if isinstance(write, Change)), None)
            if change is None:
                return
            task, was = change.task, change.before
            if task.claim is not None and (was is None or was.claim is None):
                self.log.append(Went(task.id, str(task.priority), task.claim.worker))
            elif task.state == "delegated":
                self.log.append(Came(task.id, str(task.priority)))


def logged() -> tuple[Team, Logbook]:
    store = Logbook()
    return Team(A, B, C, world=World(store=store), dispatch_delay_seconds=0), store


def take_all(deps: Any) -> list[str]:
    claimer = Claimer(by=agent(A), agent=A, worker=current_thread().name)
    return [claimed.details.task.id for claimed in iter(lambda: claim_next(deps, claimer), None)]


@pytest.mark.slow
@pytest.mark.parametrize("round_", range(scaled(5, 2)))
def test_eight_claimers_at_once_take_each_once_and_nothing_before_all_of_a_better_priority(round_: int) -> None:
    """Within one priority those who look at the same moment spread (docs/decisions/022-what-one-caller-may-cost.md)."""
    team, store = logged()
    waiting = sixty(team)
    store.log.clear()
    still = team.still()
    answers = at_once(CLAIMERS, lambda: take_all(still))
    assert not [each for each in answers if isinstance(each, Exception)]
    went = [each for each in store.log if isinstance(each, Went)]
    assert sorted(each.task_id for each in went) == sorted(task_id for _, task_id in waiting)
    assert [each.priority for each in went] == sorted(priority for priority, _ in waiting)
    assert len({each.runner for each in went}) > 1, "one alone proves nothing"


def test_one_claimer_takes_what_waits_in_exactly_the_order_of_the_queue() -> None:
    team, store = logged()
    waiting = sixty(team)
    store.log.clear()
    take_all(team.still())
    went = [each.task_id for each in store.log if isinstance(each, Went)]
    assert went == [task_id for _, task_id in sorted(waiting, key=lambda each: each[0])]


def sixty(team: Team) -> list[tuple[str, str]]:
    """Tasks of three priorities in turn, a moment apart: priority and id."""
    waiting: list[tuple[str, str]] = []
    for number in range(60):
        priority = ("P2", "P0", "P1")[number % 3]
        waiting.append((priority, team.ask(A, metadata={"priority": priority}).task.id))
        team.later(0.001)
    return waiting


@pytest.mark.slow
@pytest.mark.parametrize("round_", range(scaled(5, 2)))
def test_no_p1_is_handed_out_while_a_p0_was_ready_before_the_claim_began(round_: int) -> None:
    """More of both come while eight claim."""
    team, store = logged()
    for number in range(30):
        team.ask(A, f"early {number}", metadata={"priority": "P1"})
    store.log.clear()
    still = team.still()

    def work(_: int, runner: int) -> int:
        for number in range(20):
            if runner < 2:
                ask(still, f"late {runner} {number}", f"P{number % 2}")
            else:
                take_all(still)
        return runner

    (answers,) = race(CLAIMERS + 2, 1, work)
    assert not [each for each in answers if isinstance(each, Exception)]
    take_all(still)
    assert len([each for each in store.log if isinstance(each, Went)]) == 70
    check_log(store.log)


def ask(deps: Any, reason: str, priority: str) -> None:
    message = {"source": {"agent": "alice"}, "target": {"agent": A, "reason": reason}}
    create_handoff(deps, human(), CreateHandoff(message=message_from({**message, "metadata": {"priority": priority}})))


def check_log(log: list[Look | Came | Went]) -> None:
    """For each that was taken: nothing better was there when its claimer looked, and still is."""
    came: dict[str, tuple[str, int]] = {}
    looked: dict[str, int] = {}
    for at, entry in enumerate(log):
        match entry:
            case Look(runner):
                looked[runner] = at
            case Came(task_id, priority):
                came[task_id] = (priority, at)
            case Went(task_id, priority, runner):
                came.pop(task_id, None)
                better = [each for each, (other, when) in came.items() if other < priority and when < looked[runner]]
                assert not better, f"{task_id} ({priority}) went before {better}"


# When


def test_work_for_later_is_offered_from_its_moment_on_and_not_before() -> None:
    for runtime in (Runtime.PULL, Runtime.RUN):
        team = Team(B)
        team.register(A, runtime=runtime)
        due = team.world.clock.now() + timedelta(hours=1)
        task = team.ask(A, metadata={"not_before": rfc3339(due)}).task
        team.world.dispatch_queue.notices.clear()
        team.world.clock.time = due - timedelta(milliseconds=1)
        sweep(team.deps)
        assert team.taken(A) is None
        with pytest.raises(NotClaimable):
            team.taken(A, task.id)
        assert team.world.dispatch_queue.notices == []
        team.world.clock.time = due
        sweep(team.deps)
        assert bool(team.world.dispatch_queue.notices) is (runtime is Runtime.RUN)
        assert team.take(A).task.id == task.id


def test_what_is_put_off_is_out_of_the_humans_queue_until_its_moment() -> None:
    team = Team(B)
    team.register(A, approval="manual")
    task = team.ask(A, by=agent(B)).task
    due = team.world.clock.now() + timedelta(days=3)

    def queue() -> list[str]:
        sweep(team.deps)
        return [each.id for each in team.world.store.queues.needs(WORKSPACE, 10, None).items]

    assert queue() == [task.id]
    defer_task(team.deps, HumanCall(human(), task.id), due)
    assert queue() == []
    team.world.clock.time = due - timedelta(milliseconds=1)
    assert queue() == []
    team.world.clock.time = due
    assert queue() == [task.id]
    defer_task(team.deps, HumanCall(human(), task.id), due + timedelta(days=1))
    assert queue() == []
    approve_task(team.deps, human(), task.id, None)
    team.later()
    assert team.take(A).task.id == task.id


def test_next_is_never_offered_and_taken_by_its_id() -> None:
    team = Team(B)
    team.register(A, approval="manual")
    task = team.ask(A, by=agent(B)).task
    approve_task_next(team.deps, human(), task.id, None)
    assert team.taken(A) is None
    assert team.take(A, task.id).task.origin == "next"


# The sweeper's notices


def test_notices_are_sent_by_rank_one_per_agent_and_a_route_may_say_another() -> None:
    team = Team()
    for slug, rank in ((A, 300), (B, 100), (C, 200)):
        team.register(slug, runtime=Runtime.RUN, dispatch_rank=rank)
    change_route(team.deps, human(), "urgent", {"agent": A, "dispatch_rank": 5})
    for slug in (A, B, C):
        for number in range(3):
            team.ask(slug, f"work {number}")

    def notified() -> list[str]:
        team.later(3_700)
        team.world.dispatch_queue.notices.clear()
        sweep(team.deps)
        return [slug for _, slug, _, _ in team.world.dispatch_queue.notices]

    assert notified() == [B, C, A]
    team.ask(None, work_type="urgent")
    assert notified() == [A, B, C]
