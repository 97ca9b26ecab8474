"""Where the sweeper's entry of a task stands: never after something is due, and moved as seldom as can be
(docs/spec/lifecycle.md §9)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from baton.domain.agents.agent import Agent, Runtime
from baton.domain.tasks import commands
from baton.domain.tasks.wake import AMONG_THE_FIRST_SECONDS, EARLY_LOOK_SECONDS, next_look
from baton.services.claims.claim_task import claim_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimer
from support.faults.soak import crossed
from support.values.tasks import HUMAN, Life, an_agent
from support.worlds.world import World, agent

RUN = an_agent(runtime=Runtime.RUN)


def approved(target: Agent | None = None, **values: Any) -> Life:
    life = Life(target=target, **values)
    life.approve()
    return life


def entry(life: Life) -> tuple[float, bool]:
    assert life.task.meta.wake_at is not None
    assert life.task.ready_at is not None
    return (life.task.meta.wake_at - life.task.ready_at).total_seconds(), life.task.meta.wakes_first


def swept(life: Life) -> None:
    life.do(commands.Sweep(by=HUMAN, agent=life.agent))


def test_ready_work_is_entered_for_an_early_look_and_then_for_the_alert() -> None:
    life = approved()
    assert entry(life) == (EARLY_LOOK_SECONDS, True)
    life.now = life.task.meta.wake_at or life.now
    before = life.task
    swept(life)
    assert (entry(life), life.last.reasons, life.last.events) == ((3_600, False), (), ())
    assert (life.task.meta.rings, life.task.flags) == (before.meta.rings, before.flags)


@pytest.mark.parametrize(
    ("deadline", "expected"), [(299, (299, False)), (3_600, (3_600, False)), (3_601, (EARLY_LOOK_SECONDS, True))]
)
def test_a_deadline_that_comes_first_keeps_its_entry(deadline: int, expected: tuple[float, bool]) -> None:
    ready_at = Life().now + timedelta(seconds=3)
    assert entry(approved(deadline=ready_at + timedelta(seconds=deadline))) == expected


@pytest.mark.parametrize(("lease", "expected"), [(299, (299, True)), (300, (300, True)), (301, (300, True))])
def test_a_claim_leaves_the_entry_unless_its_lease_ends_before(lease: int, expected: tuple[float, bool]) -> None:
    life = approved()
    life.now = life.task.ready_at or life.now
    life.claim(lease_seconds=lease)
    assert entry(life) == expected


def test_a_sweeper_that_comes_early_moves_a_claim_to_the_end_of_its_lease() -> None:
    life = approved().later(10)
    life.claim(lease_seconds=900)
    life.now = life.task.meta.wake_at or life.now
    swept(life)
    claim = life.task.claim
    assert claim is not None
    assert (life.task.meta.wake_at, life.task.meta.wakes_first, life.last.events) == (claim.expires_at, True, ())


def test_an_entry_that_is_over_is_left_by_no_claim() -> None:
    life = approved().later(3 + EARLY_LOOK_SECONDS)
    life.claim(lease_seconds=60)
    assert life.task.claim is not None
    assert life.task.meta.wake_at == life.task.claim.expires_at


@pytest.mark.parametrize(("spare", "is_left"), [(-1, False), (0, True)])
def test_a_claim_leaves_an_entry_among_other_work_if_it_is_early_enough(spare: int, *, is_left: bool) -> None:
    """Leases that are over never wait behind other work."""
    life = approved(RUN).later(3)
    before = life.task.meta.wake_at
    life.claim(lease_seconds=60 + AMONG_THE_FIRST_SECONDS + spare)
    assert (life.task.meta.wake_at == before) is is_left
    assert life.task.meta.wakes_first is not is_left


def test_dispatch_notices_are_due_as_before() -> None:
    life = approved(RUN)
    assert entry(life) == (60, False)
    life.later(63)
    swept(life)
    assert life.last.notifies
    assert life.task.meta.wake_at == life.now + timedelta(seconds=120)
    life.later(1).claim(lease_seconds=900)
    life.later(1).release()
    assert life.task.meta.wake_at == life.now + timedelta(seconds=60)


def test_what_comes_back_keeps_its_entry_and_the_end_takes_it_out() -> None:
    life = approved().later(3)
    life.claim()
    life.later(100).release()
    assert life.task.ready_at == life.now
    assert life.task.meta.wake_at == life.now + timedelta(seconds=EARLY_LOOK_SECONDS - 100)
    life.claim()
    ended = life.complete().task
    assert ended.meta.wake_at is None
    assert not ended.meta.wakes_first


@pytest.mark.parametrize(("lease", "after"), crossed([15, 240, 300, 301, 420, 900], [0, 61, 299, 301, 3_700]))
def test_a_lost_lease_comes_back_with_the_first_round_after_its_end(world: World, lease: int, after: int) -> None:
    task_id = world.ready()
    rounds = 0
    while rounds * 60 < after:
        world.clock.advance(60)
        sweep(world.deps)
        rounds += 1
    claimer = Claimer(by=agent("auditor"), agent="auditor", worker="w", lease_seconds=lease)
    claim = claim_task(world.deps, claimer, task_id).details.task.claim
    assert claim is not None
    while not claim.is_over(world.clock.now()):
        task = world.task(task_id)
        due = next_look(task, world.clock.now())
        assert task.state == "claimed"
        assert task.meta.wake_at is not None
        assert due is not None
        assert task.meta.wake_at <= due
        world.clock.advance(60)
        sweep(world.deps)
    assert world.task(task_id).state == "delegated"


def test_long_work_costs_the_sweeper_one_look_before_its_lease_ends(world: World) -> None:
    task_id = world.ready()
    claimer = Claimer(by=agent("auditor"), agent="auditor", worker="w", lease_seconds=3_600)
    claimed = claim_task(world.deps, claimer, task_id)
    looks = 0
    for _ in range(59):
        world.clock.advance(60)
        looks += sweep(world.deps).looked_at
    assert looks == 1
    assert world.task(task_id).claim == claimed.details.task.claim
