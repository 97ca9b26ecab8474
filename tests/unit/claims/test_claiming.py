"""Who gets what, in which order, and what a repeated asking gets (docs/spec/lifecycle.md §2 and §3)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.errors import (
    AlreadyClaimed,
    Busy,
    ClaimOver,
    InactiveAgent,
    KeyReused,
    NotClaimable,
    NotYourAgent,
    ScopeNeeded,
    TaskEnded,
    Unknown,
)
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import WorkerCall
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next, claim_next_waiting, claim_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.tasks.approve_task import approve_task_next
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimer
from support.faults.hooked_store import HookedStore
from support.values.tasks import ACTING_SERVICE, BARE_HUMAN, SERVICE
from support.worlds.world import World, agent, human

AUDITOR = agent("auditor")
AUDITING = Claimer(by=AUDITOR, agent="auditor", worker="w1")


def idempotency_key(key: str = "k1", body_hash: str = "h1", by: Principal = AUDITOR) -> IdempotencyKey:
    return IdempotencyKey(by, "/agents/auditor/claims", key, body_hash)


def sourced(world: World, slug: str, priority: str = "low") -> str:
    """A ready task from an agent of that name."""
    register_agent(world.deps, human(), slug, {})
    answer = world.mark(human(), source_agent=slug, task_priority=priority)
    assert answer.task_id
    return answer.task_id


# Order


def test_urgent_work_first_and_within_a_priority_first_in_first_out(world: World) -> None:
    made: list[str] = []
    for number, priority in enumerate(["low", "high", "medium", "low", "high"]):
        made.append(sourced(world, f"s{number}", priority))
        world.clock.advance(1)
    slow, urgent, middle, slow2, urgent2 = made
    world.clock.advance(3)
    got = [world.claim().details.task.id for _ in range(5)]
    assert got == [urgent, urgent2, middle, slow, slow2]
    assert claim_next(world.deps, AUDITING) is None


def test_the_queue_is_ordered_by_when_work_became_ready_not_by_when_it_was_made(world: World) -> None:
    first = sourced(world, "s1")
    world.clock.advance(milliseconds=1)
    second = sourced(world, "s2")
    world.clock.advance(3)
    claimed = world.claim()
    assert claimed.details.task.id == first
    world.clock.advance(1)
    release_task(world.deps, WorkerCall(AUDITOR, first, claimed.claim_id, "h"), ReleasedWork())
    assert world.claim().details.task.id == second


def test_work_inside_its_undo_window_is_not_given_out_to_the_millisecond(world: World) -> None:
    sourced(world, "s1")
    world.clock.advance(3, milliseconds=-1)
    assert claim_next(world.deps, AUDITING) is None
    world.clock.advance(milliseconds=1)
    assert claim_next(world.deps, AUDITING)


def test_next_work_is_never_given_out_but_may_be_taken_by_its_id(world: World) -> None:
    task_id = world.needing()
    approve_task_next(world.deps, human(), task_id, None)
    world.clock.advance(1_000)
    assert claim_next(world.deps, AUDITING) is None
    assert claim_task(world.deps, AUDITING, task_id).details.task.origin == "next"


def test_a_claim_carries_all_that_a_worker_needs(world: World) -> None:
    world.claimed()
    world.clock.advance(300)
    sweep(world.deps)
    claimed = world.claim(worker="w2", lease_seconds=15)
    claim = claimed.details.task.claim
    assert claim is not None
    assert (claim.claim_id, claim.fence, claim.worker) == (claimed.claim_id, 2, "w2")
    assert claim.expires_at == world.clock.now() + timedelta(seconds=15)
    assert claimed.details.body is not None
    assert claimed.details.recoveries[0].prior_fence == 1


# Who


@pytest.mark.parametrize("by", [human(), ACTING_SERVICE])
def test_humans_and_services_with_the_scope_claim_for_an_agent(world: World, by: Principal) -> None:
    task_id = world.ready()
    claimed = claim_next(world.deps, Claimer(by=by, agent="auditor", worker="w"))
    assert claimed is not None
    assert claimed.details.task.id == task_id
    assert claimed.details.task.claim is not None
    assert (claimed.details.task.claim.agent, claimed.details.task.claim.principal) == ("auditor", by.key)


@pytest.mark.parametrize(
    ("by", "error"), [(SERVICE, ScopeNeeded), (BARE_HUMAN, ScopeNeeded), (agent("scout"), NotYourAgent)]
)
def test_nobody_else_claims_for_it_not_even_when_there_is_nothing(world: World, by: Principal, error: Any) -> None:
    for _ in range(2):
        with pytest.raises(error):
            claim_next(world.deps, Claimer(by=by, agent="auditor", worker="w"))
        task_id = world.ready()
        with pytest.raises(Unknown if by is SERVICE else error):  # it has no part in the task
            claim_task(world.deps, Claimer(by=by, agent="auditor", worker="w"), task_id)
        cancel_task(world.deps, human(), task_id, None)


def test_another_agents_task_is_not_claimed_by_its_id(world: World) -> None:
    task_id = world.ready()
    with pytest.raises(NotYourAgent):
        claim_task(world.deps, Claimer(by=agent("scout"), agent="scout", worker="w"), task_id)
    assert world.task(task_id).fence == 0


@pytest.mark.parametrize("work", [True, False])
def test_an_agent_that_is_switched_off_gets_nothing_and_is_told(world: World, work: bool) -> None:
    task_id = world.ready() if work else None
    register_agent(world.deps, human(), "auditor", {"active": False})
    with pytest.raises(InactiveAgent):
        claim_next(world.deps, AUDITING)
    if task_id:
        with pytest.raises(InactiveAgent):
            claim_task(world.deps, AUDITING, task_id)
        assert world.task(task_id).fence == 0


def test_an_agent_that_does_not_exist_is_told(world: World) -> None:
    with pytest.raises(Unknown):
        claim_next(world.deps, Claimer(by=agent("nobody"), agent="nobody", worker="w"))


def test_switching_an_agent_off_leaves_a_live_claim_to_its_lease(world: World) -> None:
    """It may still be released and failed; what else is sent under it is refused at the edge."""
    claimed = world.claimed()
    register_agent(world.deps, human(), "auditor", {"active": False})
    assert world.task(claimed.details.task.id).claim == claimed.details.task.claim


# By id


def test_a_claim_by_id_says_why_not(world: World) -> None:
    task_id = world.needing()
    with pytest.raises(NotClaimable) as waiting:
        claim_task(world.deps, AUDITING, task_id)
    assert waiting.value.fields == {"task_id": task_id, "state": "needs", "ready_at": None}
    cancel_task(world.deps, human(), task_id, None)
    with pytest.raises(TaskEnded):
        claim_task(world.deps, AUDITING, task_id)

    world.clock.advance(1)
    undoable = world.mark(human()).task_id or ""
    with pytest.raises(NotClaimable) as early:
        claim_task(world.deps, AUDITING, undoable)
    assert early.value.fields["ready_at"] == "2026-11-18T12:00:04.000Z"

    world.clock.advance(3)
    held = claim_task(world.deps, AUDITING, undoable)
    with pytest.raises(AlreadyClaimed) as taken:
        claim_task(world.deps, replace(AUDITING, worker="w2"), undoable)
    assert taken.value.fields == {
        "task_id": undoable,
        "agent": "auditor",
        "worker": AUDITING.worker,
        "fence": 1,
        "claimed_at": "2026-11-18T12:00:04.000Z",
        "expires_at": "2026-11-18T12:05:04.000Z",
    }
    assert held.claim_id not in repr(taken.value)


def test_unknown_tasks_and_those_of_another_workspace_answer_alike(world: World) -> None:
    world.settle("other")
    task_id = world.ready()
    elsewhere = agent("auditor", "other")
    messages = set()
    for asked in (task_id, "task_nope"):
        with pytest.raises(Unknown) as refused:
            claim_task(world.deps, Claimer(by=elsewhere, agent="auditor", worker="w"), asked)
        messages.add(refused.value.message)
    assert len(messages) == 1
    assert claim_next(world.deps, Claimer(by=elsewhere, agent="auditor", worker="w")) is None


# Races


def test_losing_a_race_for_the_best_means_getting_the_next() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    best, second = sourced(world, "s1", "high"), sourced(world, "s2")
    world.clock.advance(3)
    store.before["commit"] = lambda: world.claim(worker="faster")
    assert world.claim(worker="slower").details.task.id == second
    assert {i: world.task(i).fence for i in (best, second)} == {best: 1, second: 1}


def test_losing_a_race_for_the_only_one_means_nothing_not_an_error() -> None:
    for moment in ("commit", "read_for_claim"):
        store = HookedStore()
        world = World(store=store).settle()
        task_id = world.ready()
        store.before[moment] = partial(world.claim, worker="faster")
        assert claim_next(world.deps, AUDITING) is None
        assert world.task(task_id).fence == 1


def test_losing_a_race_against_the_sweepers_bookkeeping_doesnt_cost_the_task() -> None:
    """The notice of a task would be gone, and the task left until the sweeper's next."""
    store = HookedStore()
    world = World(store=store).settle()
    task_id = world.ready()
    world.clock.advance(3_600)

    def look() -> None:
        assert sweep(world.deps).reasons["unclaimed_too_long"] == 1

    store.before["commit"] = look
    assert world.claim().details.task.id == task_id
    assert world.task(task_id).fence == 1


def test_a_cancel_between_reading_and_commit_wins_over_the_claim() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    task_id = world.ready()
    store.before["commit"] = lambda: cancel_task(world.deps, human(), task_id, None)
    with pytest.raises(TaskEnded):
        claim_task(world.deps, AUDITING, task_id)
    assert world.task(task_id).fence == 0


def test_a_task_that_never_stops_changing_makes_busy_after_bounded_tries() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    claimed = world.claimed()
    task_id, claim_id = claimed.details.task.id, claimed.claim_id

    def beat() -> None:
        world.clock.advance(milliseconds=1)
        renew_claim(world.deps, AUDITOR, task_id, claim_id)
        store.before["commit"] = beat

    store.before["commit"] = beat
    with pytest.raises(Busy):
        cancel_task(world.deps, human(), task_id, None)
    assert len(world.clock.slept) == 12
    assert max(world.clock.slept) <= 0.4
    store.before.clear()
    assert world.task(task_id).state == "claimed"


# Repeats


def test_a_repeat_with_the_same_key_gets_the_same_claim_while_it_lives_though_there_is_more(world: World) -> None:
    sourced(world, "s1")
    sourced(world, "s2")
    world.clock.advance(3)
    first = claim_next(world.deps, AUDITING, idempotency_key())
    assert first is not None
    world.clock.advance(100)
    renew_claim(world.deps, AUDITOR, first.details.task.id, first.claim_id)
    again = claim_next(world.deps, AUDITING, idempotency_key())
    assert again is not None
    assert (again.claim_id, again.details.task.id) == (first.claim_id, first.details.task.id)
    assert again.details.body == first.details.body
    assert world.task(first.details.task.id).fence == 1
    assert claim_next(world.deps, AUDITING, idempotency_key("k2")) is not None


def test_also_when_the_agent_was_switched_off_in_between(world: World) -> None:
    sourced(world, "s1")
    sourced(world, "s2")
    world.clock.advance(3)
    first = claim_next(world.deps, AUDITING, idempotency_key())
    register_agent(world.deps, human(), "auditor", {"active": False})
    again = claim_next(world.deps, AUDITING, idempotency_key())
    assert first is not None
    assert again is not None
    assert again.claim_id == first.claim_id
    with pytest.raises(InactiveAgent):
        claim_next(world.deps, AUDITING, idempotency_key("k2"))


@pytest.mark.parametrize("more", [True, False])
def test_once_the_claim_has_ended_the_key_is_over(world: World, more: bool) -> None:
    sourced(world, "s1")
    world.clock.advance(3)
    first = claim_next(world.deps, AUDITING, idempotency_key())
    assert first is not None
    task_id = first.details.task.id
    if more:
        release_task(world.deps, WorkerCall(AUDITOR, task_id, first.claim_id, "h"), ReleasedWork())
    else:
        cancel_task(world.deps, human(), task_id, None)
    fence = world.task(task_id).fence
    with pytest.raises(ClaimOver):
        claim_next(world.deps, AUDITING, idempotency_key())
    assert world.task(task_id).fence == fence


def test_a_claim_by_id_is_repeated_likewise(world: World) -> None:
    task_id = world.ready()
    key = IdempotencyKey(AUDITOR, f"/tasks/{task_id}/claim", "k", "h")
    first = claim_task(world.deps, AUDITING, task_id, key)
    assert claim_task(world.deps, AUDITING, task_id, key).claim_id == first.claim_id
    with pytest.raises(KeyReused):
        claim_task(world.deps, AUDITING, task_id, replace(key, body_hash="h2"))
    world.clock.advance(300)
    sweep(world.deps)
    with pytest.raises(ClaimOver):
        claim_task(world.deps, AUDITING, task_id, key)
    assert world.task(task_id).fence == 1


@pytest.mark.parametrize("more", [True, False])
def test_the_same_key_with_another_body_is_refused(world: World, more: bool) -> None:
    sourced(world, "s1")
    if more:
        sourced(world, "s2")
    world.clock.advance(3)
    claim_next(world.deps, AUDITING, idempotency_key())
    with pytest.raises(KeyReused):
        claim_next(world.deps, AUDITING, idempotency_key(body_hash="h2"))


def test_an_empty_answer_is_not_remembered(world: World) -> None:
    assert claim_next(world.deps, AUDITING, idempotency_key()) is None
    task_id = world.ready()
    claimed = claim_next(world.deps, AUDITING, idempotency_key())
    assert claimed is not None
    assert claimed.details.task.id == task_id


# Waiting


def test_waiting_takes_what_is_there_at_once(world: World) -> None:
    world.ready()
    assert claim_next_waiting(world.deps, AUDITING, 20)
    assert world.clock.slept == []


def test_waiting_takes_work_as_soon_as_it_is_due(world: World) -> None:
    change_settings(world.deps, human(), {"dispatch_delay_seconds": 5})
    sourced(world, "s1")
    before = world.clock.now()
    assert claim_next_waiting(world.deps, AUDITING, 20)
    assert world.clock.now() - before == timedelta(seconds=5)


def test_waiting_ends_with_its_time_and_looks_once_more_at_the_end(world: World) -> None:
    change_settings(world.deps, human(), {"dispatch_delay_seconds": 5})
    sourced(world, "s1")
    before = world.clock.now()
    assert claim_next_waiting(world.deps, AUDITING, 4.75) is None
    assert world.clock.now() - before == timedelta(seconds=4.75)
    assert claim_next_waiting(world.deps, AUDITING, 0.25)


def test_waiting_under_the_name_of_an_agent_that_is_off_is_refused_at_once(world: World) -> None:
    register_agent(world.deps, human(), "auditor", {"active": False})
    with pytest.raises(InactiveAgent):
        claim_next_waiting(world.deps, AUDITING, 20)
    assert world.clock.slept == []


def test_waiting_does_not_go_on_for_ever_when_the_clock_stands_still(world: World) -> None:
    world.clock.stands_still = True
    assert claim_next_waiting(world.deps, AUDITING, 20) is None
    assert len(world.clock.slept) <= 85


def test_a_task_for_next_waits_for_its_backoff_too(world: World) -> None:
    task_id = world.needing()
    approve_task_next(world.deps, human(), task_id, None)
    claimed = claim_task(world.deps, AUDITING, task_id)
    failure = {"type": "error", "description": "once"}
    fail_task(
        world.deps, WorkerCall(AUDITOR, task_id, claimed.claim_id, "h"), FailedWork(failure=failure, retryable=True)
    )
    world.clock.advance(4.999)
    with pytest.raises(NotClaimable):
        claim_task(world.deps, AUDITING, task_id)
    world.clock.advance(milliseconds=1)
    assert claim_task(world.deps, AUDITING, task_id).details.task.attempt == 2
