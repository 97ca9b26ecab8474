"""A claimer that finds a claim of its own agent's whose lease is over takes the task in one step: what the sweeper
would do, and the claim. If the sweep leaves nothing to claim, it is done alone (docs/spec/lifecycle.md §3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from baton.domain import errors
from baton.domain.agents.agent import Requeue, Runtime
from baton.domain.handoffs.workflow import LateResult
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim, Flag, Task
from baton.domain.times import seconds
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next, claim_next_waiting, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.tasks.approve_task import approve_task_next
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimed, Claimer
from support.faults.hooked_store import HookedStore
from support.values.changes import queued
from support.worlds.world import WORKSPACE, World, agent, human

AUDITOR = agent("auditor")
SECOND = Claimer(by=AUDITOR, agent="auditor", worker="worker-2", lease_seconds=60)


@dataclass
class Lost:
    """A worker that has died with a claim of 300 s, which is over."""

    world: World = field(default_factory=lambda: World(store=HookedStore()).settle())
    prepare: Callable[[World], Claimed] = World.claimed
    claim_id: str = ""
    task_id: str = ""

    def __post_init__(self) -> None:
        claimed = self.prepare(self.world)
        self.task_id, self.claim_id = claimed.details.task.id, claimed.claim_id
        self.world.clock.advance(300)

    @property
    def store(self) -> HookedStore:
        assert isinstance(self.world.store, HookedStore)
        return self.world.store

    @property
    def task(self) -> Task:
        return self.world.task(self.task_id)

    def next(self, claimer: Claimer = SECOND) -> Claimed | None:
        return claim_next(self.world.deps, claimer)

    def by_id(self, claimer: Claimer = SECOND) -> Claimed:
        return claim_task(self.world.deps, claimer, self.task_id)

    def beat(self) -> Claim:
        return renew_claim(self.world.deps, AUDITOR, self.task_id, self.claim_id)

    def complete(self) -> None:
        call = WorkerCall(AUDITOR, self.task_id, self.claim_id, "h")
        complete_task(self.world.deps, call, CompletedWork(output={"late": True}))


def facts(task: Task) -> dict[str, Any]:
    """What two lives that took the same way have in common."""
    claim = task.claim and (task.claim.fence, task.claim.agent, task.claim.worker, task.claim.slot)
    names = ("state", "attempt", "fence", "recoveries", "flags", "releases", "origin", "takers", "ready_at")
    return {name: getattr(task, name) for name in names} | {"claim": claim, "seq": task.meta.seq}


TAKES: dict[str, Callable[[Lost], Claimed | None]] = {
    "claim-next": Lost.next,
    "a long poll": lambda lost: claim_next_waiting(lost.world.deps, SECOND, 1),
    "by id": Lost.by_id,
}


@pytest.mark.parametrize("way", TAKES)
def test_the_next_claimer_takes_it_in_one_step_with_all_that_the_sweeper_does(way: str) -> None:
    lost, swept = Lost(), Lost()
    before = lost.task
    claimed = TAKES[way](lost)
    sweep(swept.world.deps)
    later = swept.by_id()
    assert claimed is not None
    assert lost.task.meta.version == before.meta.version + 1
    assert facts(lost.task) == facts(swept.task) == facts(claimed.details.task)
    assert (lost.task.fence, lost.task.attempt, lost.task.recoveries) == (2, 2, 1)
    assert lost.world.trail(lost.task_id) == swept.world.trail(swept.task_id)
    assert lost.world.trail(lost.task_id)[-3:] == ["heartbeat_lost", "requeued", "handoff_received"]
    for of in (claimed, later):
        assert [each.reason for each in of.details.recoveries] != []
        (recovery,) = of.details.recoveries
        assert (recovery.prior_fence, recovery.prior_worker, recovery.number) == (1, "worker-1", 1)
    assert lost.store.tasks.read(WORKSPACE, lost.task_id).recoveries == claimed.details.recoveries


@pytest.mark.parametrize("left_ms", [1, 0])
def test_it_is_taken_once_its_lease_is_over_and_not_a_millisecond_before(left_ms: int) -> None:
    lost = Lost()
    lost.world.clock.advance(milliseconds=-left_ms)
    assert (lost.next() is None) == (left_ms > 0)
    assert lost.task.fence == (1 if left_ms else 2)


def test_the_one_who_wakes_up_late_is_refused_and_its_result_is_kept() -> None:
    lost = Lost()
    lost.next()
    with pytest.raises(errors.StaleClaim):
        lost.beat()
    with pytest.raises(errors.StaleClaim):
        lost.complete()
    (late,) = lost.store.trail.late_results(WORKSPACE, lost.task_id)
    assert isinstance(late, LateResult)
    assert (late.claim_fence, late.verb) == (1, "complete")
    assert lost.task.state is State.CLAIMED


def test_ready_work_comes_first_and_nothing_more_is_read_for_it() -> None:
    lost = Lost()
    ready = queued(lost.store, "task_ready", ready_at=lost.world.clock.now())
    first, second = lost.next(), lost.next()
    assert first is not None
    assert second is not None
    assert [first.details.task.id, second.details.task.id] == [ready.id, lost.task_id]


def test_open_work_comes_after_what_the_agent_has_lost() -> None:
    lost = Lost()
    queued(lost.store, "task_open", ready_at=lost.world.clock.now(), target_agent=None)
    claimed = lost.next()
    assert claimed is not None
    assert claimed.details.task.id == lost.task_id


# What the sweep leaves to nobody


def last_attempt(world: World) -> Claimed:
    queued(world.store, "task_last", ready_at=world.clock.now(), max_attempts=1)
    return world.claim()


def to_a_human(world: World) -> Claimed:
    claimed = world.claimed()
    register_agent(world.deps, human(), "auditor", {"requeue": Requeue.NEEDS})
    return claimed


def past_its_deadline(world: World) -> Claimed:
    now = world.clock.now()
    queued(world.store, "task_hard", ready_at=now, deadline=now + seconds(200), fail_on_deadline=True)
    return world.claim()


def switched_off(world: World) -> Claimed:
    claimed = world.claimed()
    register_agent(world.deps, human(), "auditor", {"active": False})
    return claimed


def not_able_any_more(world: World) -> Claimed:
    register_agent(world.deps, human(), "auditor", {"accepts": ("code",)})
    now = world.clock.now()
    queued(world.store, "task_open", ready_at=now, target_agent=None, requires=("accepts:code",))
    claimed = world.claim()
    register_agent(world.deps, human(), "auditor", {"accepts": ("text",)})
    return claimed


def chosen_by_its_id(world: World) -> Claimed:
    task_id = world.needing()
    approve_task_next(world.deps, human(), task_id, None)
    return claim_task(world.deps, Claimer(by=AUDITOR, agent="auditor", worker="worker-1"), task_id)


def without_a_slot(world: World) -> Claimed:
    """The agent's limit was lowered since, and it holds as much as it may."""
    register_agent(world.deps, human(), "auditor", {"max_concurrent": 2})
    claimed = world.claimed()
    queued(world.store, "task_other", ready_at=world.clock.now())
    assert world.claim(lease_seconds=3_000).details.task.id == "task_other"
    register_agent(world.deps, human(), "auditor", {"max_concurrent": 1})
    return claimed


NOT_CLAIMABLE: dict[str, tuple[Callable[[World], Claimed], State, type[errors.BatonError]]] = {
    "its attempts are used up": (last_attempt, State.NEEDS, errors.NotClaimable),
    "it goes to a human": (to_a_human, State.NEEDS, errors.NotClaimable),
    "its deadline has failed it": (past_its_deadline, State.FAILED, errors.TaskEnded),
    "its agent is switched off": (switched_off, State.DELEGATED, errors.InactiveAgent),
    "its agent lacks what it requires": (not_able_any_more, State.DELEGATED, errors.CapabilityMismatch),
    "its agent is at its limit": (without_a_slot, State.DELEGATED, errors.AtCapacity),
}


def after(prepare: Callable[[World], Claimed], act: Callable[[Lost], object]) -> Lost:
    lost = Lost(prepare=prepare)
    lost.world.dispatch_queue.notices.clear()
    act(lost)
    return lost


@pytest.mark.parametrize("why", NOT_CLAIMABLE)
def test_what_the_sweep_leaves_to_nobody_is_swept_alone(why: str) -> None:
    prepare, state, refusal = NOT_CLAIMABLE[why]

    def by_id(lost: Lost) -> None:
        with pytest.raises(refusal):
            lost.by_id()

    def nothing(lost: Lost) -> None:
        try:
            assert lost.next() is None
        except errors.InactiveAgent:
            assert refusal is errors.InactiveAgent

    swept = after(prepare, lambda lost: sweep(lost.world.deps))
    for act in (by_id, nothing):
        lost = after(prepare, act)
        assert lost.task.state is state
        assert facts(lost.task) == facts(swept.task)
        assert lost.world.trail(lost.task_id) == swept.world.trail(swept.task_id)
        assert len(lost.world.dispatch_queue.notices) == len(swept.world.dispatch_queue.notices)
        pages = [of.store.alerts.alerts_of_task(WORKSPACE, of.task_id, 10, None) for of in (lost, swept)]
        assert [each.kind for each in pages[0].items] == [each.kind for each in pages[1].items]


def test_the_search_goes_on_after_what_is_left_to_nobody() -> None:
    lost = Lost(prepare=last_attempt)
    queued(lost.store, "task_open", ready_at=lost.world.clock.now(), target_agent=None)
    claimed = lost.next()
    assert claimed is not None
    assert claimed.details.task.id == "task_open"
    assert lost.task.flags == {Flag.ATTEMPTS_EXHAUSTED}


def test_a_task_that_is_claimed_by_its_id_alone_comes_back_there_and_is_taken_by_its_id() -> None:
    lost = Lost(prepare=chosen_by_its_id)
    assert lost.next() is None
    assert (lost.task.state, lost.task.recoveries) == (State.NEXT, 1)
    again = Lost(prepare=chosen_by_its_id)
    assert again.by_id().details.task.fence == 2
    assert (again.task.origin, again.task.recoveries) == (State.NEXT, 1)


def test_a_deadline_that_fails_nothing_is_told_and_the_task_is_taken() -> None:
    def late(world: World) -> Claimed:
        now = world.clock.now()
        queued(world.store, "task_late", ready_at=now, deadline=now + seconds(200))
        return world.claim()

    lost = Lost(prepare=late)
    assert lost.next() is not None
    assert lost.task.flags == {Flag.DEADLINE_PASSED}
    assert lost.world.trail(lost.task_id)[-4:] == [
        "alert_raised",
        "heartbeat_lost",
        "requeued",
        "handoff_received",
    ]


# Whose it is


def test_another_agent_leaves_it_to_the_sweeper() -> None:
    def open_work(world: World) -> Claimed:
        queued(world.store, "task_open", ready_at=world.clock.now(), target_agent=None)
        return world.claim()

    lost = Lost(prepare=open_work)
    runner = Claimer(by=agent("runner"), agent="runner", worker="w")
    with pytest.raises(errors.AlreadyClaimed):
        lost.by_id(runner)
    assert lost.next(runner) is None
    assert lost.task.fence == 1
    assert lost.next() is not None


def test_an_agent_at_its_limit_takes_over_its_own_slot() -> None:
    world = World(store=HookedStore()).settle()
    register_agent(world.deps, human(), "auditor", {"max_concurrent": 1})
    lost = Lost(world=world)
    claimed = lost.next()
    assert claimed is not None
    assert claimed.details.task.claim is not None
    assert claimed.details.task.claim.slot == 0
    assert set(lost.store.claims.taken_slots(WORKSPACE, "auditor")) == {0}
    assert [each.claim_id for each in lost.store.claims.held(WORKSPACE, "auditor")] == [claimed.claim_id]


def test_a_slot_above_a_lowered_limit_is_given_back() -> None:
    world = World(store=HookedStore()).settle()
    register_agent(world.deps, human(), "auditor", {"max_concurrent": 50})
    lost = Lost(world=world)
    register_agent(world.deps, human(), "auditor", {"max_concurrent": 1})
    claimed = lost.next()
    assert claimed is not None
    assert set(lost.store.claims.taken_slots(WORKSPACE, "auditor")) == {0}


def test_process_task_takes_what_a_dead_function_held() -> None:
    world = World(store=HookedStore()).settle()
    register_agent(world.deps, human(), "auditor", {"runtime": Runtime.RUN})
    lost = Lost(world=world)
    assert lost.next(Claimer(by=AUDITOR, agent="auditor", worker="process-task")) is not None
    assert world.dispatch_queue.notices[-1:] == world.dispatch_queue.notices[:1], "no notice for what is claimed"


# A lease that a heartbeat has extended: the mark doesn't know


def test_a_lease_that_was_extended_is_not_taken_and_its_mark_is_moved_once_a_lease() -> None:
    lost = Lost()
    lost.beat()
    moved = []
    lost.store.before["move_mark"] = lambda: moved.append(1)
    for _ in range(3):
        assert lost.next() is None
    assert moved == [1]
    assert lost.task.fence == 1
    lost.world.clock.advance(299)
    assert lost.next() is None
    lost.world.clock.advance(1)
    assert lost.next() is not None


def test_a_store_that_is_busy_leaves_the_mark_to_the_next_who_looks() -> None:
    class BusyMarks(HookedStore):
        def move_mark(self, task: Task) -> None:
            raise errors.Busy

    lost = Lost(world=World(store=BusyMarks()).settle())
    lost.beat()
    assert lost.next() is None


def test_the_next_word_of_the_worker_moves_its_mark_too() -> None:
    lost = Lost()
    lost.beat()
    save_checkpoint(lost.world.deps, WorkerCall(AUDITOR, lost.task_id, lost.claim_id), "step", {"n": 1})
    lost.store.before["load"] = lambda: pytest.fail("nothing is to be looked at behind the mark")
    assert lost.next() is None
    lost.store.before.clear()


# In between


@pytest.mark.parametrize("call", ["load", "read_for_claim", "commit"])
@pytest.mark.parametrize("way", ["claim-next", "by id"])
def test_a_heartbeat_in_between_keeps_its_claim(call: str, way: str) -> None:
    lost = Lost()
    lost.store.before[call] = lost.beat
    if way == "by id" and call != "load":
        with pytest.raises(errors.AlreadyClaimed):
            lost.by_id()
    else:
        assert lost.next() is None
    assert (lost.task.fence, lost.task.recoveries) == (1, 0)
    lost.complete()
    assert lost.task.state is State.DONE


@pytest.mark.parametrize("call", ["load", "read_for_claim", "commit"])
def test_a_sweep_in_between_sweeps_it_and_the_claim_follows(call: str) -> None:
    lost = Lost()
    lost.store.before[call] = lambda: sweep(lost.world.deps)
    claimed = lost.next() or lost.next()
    assert claimed is not None
    assert lost.world.trail(lost.task_id).count("heartbeat_lost") == 1
    assert (lost.task.fence, lost.task.recoveries) == (2, 1)


@pytest.mark.parametrize("call", ["load", "read_for_claim", "commit"])
def test_a_last_word_in_between_ends_it(call: str) -> None:
    lost = Lost()
    lost.store.before[call] = lost.complete
    assert lost.next() is None
    assert (lost.task.state, lost.task.fence) == (State.DONE, 1)


@pytest.mark.parametrize("call", ["load", "read_for_claim", "commit"])
def test_another_taker_in_between_wins(call: str) -> None:
    lost = Lost()
    won: list[Claimed | None] = []
    lost.store.before[call] = lambda: won.append(lost.next())
    assert lost.next() is None
    assert won[0] is not None
    assert (lost.task.fence, lost.task.recoveries) == (2, 1)


def test_a_mark_is_not_moved_once_its_claim_has_ended() -> None:
    lost = Lost()
    lost.beat()
    lost.store.before["move_mark"] = lost.complete
    assert lost.next() is None
    assert lost.store.claims.held(WORKSPACE, "auditor") == ()


def test_a_mark_that_is_moved_between_reading_and_commit_changes_nothing_of_the_commit() -> None:
    lost = Lost()
    lost.beat()
    lost.store.before["commit"] = lost.next
    lost.complete()
    assert lost.task.state is State.DONE
    assert lost.store.claims.held(WORKSPACE, "auditor") == ()
