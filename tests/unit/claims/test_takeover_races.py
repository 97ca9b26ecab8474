"""A task whose lease is over, under threads: of all who want it, and of a heartbeat that keeps it, exactly one wins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.errors import BatonError
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimed, Claimer
from support.faults.soak import scaled
from support.faults.threads import all_at_once, at_once
from support.worlds.world import World, agent

pytestmark = pytest.mark.slow

AUDITOR = agent("auditor")
ROUNDS = scaled(200, 25)
RIVALS: dict[str, Callable[[Deps, Claimed], Any]] = {
    "a heartbeat": lambda deps, claim: renew_claim(deps, AUDITOR, claim.details.task.id, claim.claim_id),
    "its last word": lambda deps, claim: complete_task(
        deps, WorkerCall(AUDITOR, claim.details.task.id, claim.claim_id, "h"), CompletedWork(output={})
    ),
}


def lost(world: World) -> Claimed:
    claimed = world.claimed()
    world.clock.advance(300)
    world.clock.stands_still = True
    return claimed


def taker(number: int) -> Claimer:
    return Claimer(by=AUDITOR, agent="auditor", worker=f"worker-{number}", lease_seconds=600)


@pytest.mark.parametrize("way", ["next", "by id"])
def test_of_16_takers_one_gets_it(way: str) -> None:
    for _ in range(ROUNDS):
        world = World().settle()
        task_id = lost(world).details.task.id

        def take() -> Claimed | None:
            claimer = taker(2)
            return claim_next(world.deps, claimer) if way == "next" else claim_task(world.deps, claimer, task_id)  # noqa: B023

        answers = at_once(16, take)
        won = [each for each in answers if isinstance(each, Claimed)]
        assert not [each for each in answers if isinstance(each, Exception) and not isinstance(each, BatonError)]
        task = world.task(task_id)
        assert len(won) == 1
        assert task.claim is not None
        assert (task.claim.claim_id, task.fence, task.recoveries) == (won[0].claim_id, 2, 1)
        assert world.trail(task_id).count("heartbeat_lost") == 1


@pytest.mark.parametrize("rival", RIVALS)
def test_of_its_worker_and_a_taker_one_wins(rival: str) -> None:
    winners = {"worker": 0, "taker": 0}
    for number in range(ROUNDS):
        world = World().settle()
        claim = lost(world)
        task_id = claim.details.task.id
        steps = [
            lambda: RIVALS[rival](world.deps, claim),  # noqa: B023
            lambda: claim_next(world.deps, taker(2)),  # noqa: B023
        ]
        answers = all_at_once(steps if number % 2 else steps[::-1])
        task = world.task(task_id)
        kept = any(isinstance(each, Claim | TaskDetails) for each in answers)
        assert kept != any(isinstance(each, Claimed) for each in answers), answers
        assert task.fence == (1 if kept else 2)
        assert task.recoveries == (0 if kept else 1)
        winners["worker" if kept else "taker"] += 1
        world.trail(task_id)
    assert sum(winners.values()) == ROUNDS


def test_of_a_sweep_and_a_taker_both_come_to_one_recovery() -> None:
    for _ in range(ROUNDS):
        world = World().settle()
        task_id = lost(world).details.task.id
        all_at_once([lambda: sweep(world.deps), lambda: claim_next(world.deps, taker(2))])  # noqa: B023
        claimed = claim_next(world.deps, taker(3))
        task = world.task(task_id)
        assert (task.state, task.fence, task.recoveries) == ("claimed", 2, 1)
        assert claimed is None or claimed.details.task.id == task_id
        assert world.trail(task_id).count("heartbeat_lost") == 1
