"""A human takes a task back from the worker that holds it (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from baton.domain.errors import AlreadyClaimed, BatonError, ClaimChanged, NobodyHolds, StaleClaim, TaskEnded
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.domain.tasks.task import MAX_RELEASES, Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.release_claim import release_claim
from baton.services.claims.renew_claim import renew_claim
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.claims.wait_for_callback import wait_for_callback
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimed, Claimer
from support.faults.soak import scaled
from support.faults.threads import all_at_once
from support.worlds.world import WORKSPACE, World, agent, human

AUDITOR = agent("auditor")
ALICE, BOB = human(), human(name="bob")
ROUNDS = scaled(200, 25)


def take_back(world: World, task: Task, by: Any = ALICE, fence: int | None = None, key: Any = None) -> TaskDetails:
    call = HumanCall(by, task.id, idempotency_key=key)
    return release_claim(world.deps, call, task.fence if fence is None else fence, "it hangs")


def held(world: World) -> tuple[Task, WorkerCall]:
    claimed: Claimed = world.claimed()
    task = claimed.details.task
    return task, WorkerCall(AUDITOR, task.id, claimed.claim_id, "h")


def test_the_task_is_ready_for_the_next_claimer_and_has_lost_no_attempt(world: World) -> None:
    task, _ = held(world)
    assert take_back(world, task).task.state == "delegated"
    kept = world.task(task.id)
    assert (kept.claim, kept.attempt, kept.releases, kept.fence) == (None, 0, 1, 1)
    again = claim_next(world.deps, Claimer(by=AUDITOR, agent="auditor", worker="worker-2"))
    assert again is not None
    assert (again.details.task.id, again.details.task.attempt, again.details.task.fence) == (task.id, 1, 2)


def test_the_trail_says_who_took_it_back_and_why(world: World) -> None:
    task, _ = held(world)
    take_back(world, task)
    last = world.store.trail.events(WORKSPACE, task.id, 0, 100)[-1]
    assert (last.type, last.principal_kind, last.principal_id) == ("released", "human", "alice")
    assert (last.fence, last.data["reason"]) == (1, "it hangs")


VERBS: dict[str, Callable[[Deps, WorkerCall], object]] = {
    "heartbeat": lambda deps, call: renew_claim(deps, AUDITOR, call.task_id, call.claim_id),
    "checkpoint": lambda deps, call: save_checkpoint(deps, call, "half", {}),
    "complete": lambda deps, call: complete_task(deps, call, CompletedWork(output={"late": 1})),
}


@pytest.mark.parametrize("verb", VERBS)
def test_the_worker_is_refused_and_changes_nothing(world: World, verb: str) -> None:
    task, call = held(world)
    take_back(world, task)
    before = world.task(task.id)
    with pytest.raises(StaleClaim):
        VERBS[verb](world.deps, call)
    assert world.task(task.id) == before
    assert len(world.store.trail.late_results(WORKSPACE, task.id, 10, 0)) == (verb == "complete")


def test_a_checkpoint_is_kept_for_the_next_worker(world: World) -> None:
    task, call = held(world)
    save_checkpoint(world.deps, call, "half", {"done": 41})
    take_back(world, world.task(task.id))
    again = claim_next(world.deps, Claimer(by=AUDITOR, agent="auditor", worker="worker-2"))
    assert again is not None
    assert again.details.checkpoint is not None
    assert again.details.checkpoint.state == {"done": 41}


def test_a_claim_taken_meanwhile_is_left_alone(world: World) -> None:
    task, _ = held(world)
    take_back(world, task)
    taken = world.claim()
    with pytest.raises(ClaimChanged) as refused:
        take_back(world, task, fence=1)
    assert refused.value.fields == {"task_id": task.id, "seen": 1, "fence": 2, "agent": "auditor", "state": "claimed"}
    claim = world.task(task.id).claim
    assert claim is not None
    assert claim.claim_id == taken.claim_id


def test_the_second_of_two_people_is_told_who_was_first(world: World) -> None:
    task, _ = held(world)
    take_back(world, task, BOB)
    with pytest.raises(NobodyHolds) as refused:
        take_back(world, task)
    assert refused.value.fields["ended_by"] == "human:bob"
    assert "human:bob ended claim 1" in refused.value.message


def test_a_task_that_waits_says_how_it_is_stopped(world: World) -> None:
    task, call = held(world)
    wait_for_callback(world.deps, call, "signature")
    with pytest.raises(NobodyHolds, match="cancel or resolve") as refused:
        take_back(world, task)
    assert refused.value.fields["state"] == "waiting"


def test_a_repeat_gets_the_first_answer_whatever_came_after(world: World) -> None:
    task, _ = held(world)
    key = IdempotencyKey(ALICE, f"/tasks/{task.id}/release-claim", "key", "hash")
    first = take_back(world, task, key=key).task
    world.claim()
    again = take_back(world, task, key=key).task
    assert (again.state, again.meta.seq, again.meta.version) == (first.state, first.meta.seq, first.meta.version)
    assert world.task(task.id).state == "claimed"


def test_a_lease_that_is_over_may_be_released_before_the_sweeper_comes(world: World) -> None:
    task, _ = held(world)
    world.clock.advance(300)
    take_back(world, task)
    assert sweep(world.deps).failed == 0
    kept = world.task(task.id)
    assert (kept.state, kept.attempt, kept.recoveries) == ("delegated", 0, 0)


def test_released_again_and_again_it_waits_for_a_human_with_an_alert(world: World) -> None:
    """A worker that hangs may claim it again: that ends, and is seen."""
    task, _ = held(world)
    for _ in range(MAX_RELEASES - 1):
        take_back(world, world.task(task.id))
        world.claim()
    kept = take_back(world, world.task(task.id)).task
    assert (kept.state, "released_too_often" in kept.flags) == ("needs", True)


# Races

RIVALS: dict[str, Callable[[Deps, WorkerCall], object]] = {
    "a heartbeat": VERBS["heartbeat"],
    "its last word": VERBS["complete"],
    "a checkpoint": VERBS["checkpoint"],
}


def outcomes(world: World, steps: dict[str, Callable[[], object]]) -> dict[str, object]:
    """What each of them, at the same moment, was answered or refused with."""
    world.clock.stands_still = True
    found: dict[str, object] = {}

    def run(name: str) -> None:
        try:
            found[name] = steps[name]()
        except BatonError as refusal:
            found[name] = refusal

    assert [each for each in all_at_once([partial(run, name) for name in steps]) if each is not None] == []
    return found


@pytest.mark.slow
@pytest.mark.parametrize("rival", RIVALS)
def test_of_a_release_and_its_worker_at_once_one_is_first_and_the_other_is_told(rival: str) -> None:
    for _ in range(ROUNDS):
        world = World().settle()
        task, call = held(world)
        found = outcomes(
            world,
            {
                "release": partial(take_back, world, task),
                "worker": partial(RIVALS[rival], world.deps, call),
            },
        )
        kept, trail = world.task(task.id), world.trail(task.id)
        if isinstance(found["release"], TaskDetails):
            assert (kept.state, kept.claim, trail[-1]) == ("delegated", None, "released")
            is_refused = isinstance(found["worker"], StaleClaim)
            assert is_refused or rival == "a heartbeat" or "checkpoint_saved" in trail
        else:
            assert (rival, kept.state, trail[-1]) == ("its last word", "done", "handoff_completed")
            assert isinstance(found["release"], TaskEnded)


@pytest.mark.slow
def test_of_eight_people_at_once_one_releases_and_the_others_are_told_who() -> None:
    for _ in range(ROUNDS):
        world = World().settle()
        task, _call = held(world)
        people = [human(name=f"h{number}") for number in range(8)]
        found = outcomes(world, {by.key: partial(take_back, world, task, by) for by in people})
        (winner,) = [key for key, each in found.items() if isinstance(each, TaskDetails)]
        refused = [each for each in found.values() if isinstance(each, NobodyHolds)]
        assert [each.fields["ended_by"] for each in refused] == [winner] * 7
        assert world.trail(task.id).count("released") == 1


@pytest.mark.slow
def test_a_claimer_at_the_same_moment_gets_the_next_claim_or_is_refused() -> None:
    for _ in range(ROUNDS):
        world = World().settle()
        task, _call = held(world)
        claimer = Claimer(by=AUDITOR, agent="auditor", worker="worker-2")
        found = outcomes(
            world,
            {
                "release": partial(take_back, world, task),
                "claimer": partial(claim_task, world.deps, claimer, task.id),
            },
        )
        assert isinstance(found["release"], TaskDetails)
        kept = world.task(task.id)
        if isinstance(found["claimer"], Claimed):
            assert (kept.state, kept.fence) == ("claimed", 2)
        else:
            assert isinstance(found["claimer"], AlreadyClaimed)
            assert (kept.state, kept.fence) == ("delegated", 1)
