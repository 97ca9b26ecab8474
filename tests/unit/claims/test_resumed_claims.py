"""A worker that lost its claim's id goes on with its own claim: under a new one, and the old one is stale."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks import trail
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.tasks.add_note import add_note
from baton.services.tasks.list_notes import late_results_of_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimed, Claimer
from support.faults.soak import scaled
from support.faults.threads import at_once
from support.worlds.world import WORKSPACE, World, agent, human, service

AUDITOR = agent("auditor")
ACTING = service()


def resumed(world: World, task_id: str, fence: int, by: Principal = AUDITOR, **more: Any) -> Claimed:
    claimer = Claimer(by=by, agent=more.pop("agent", "auditor"), worker="second", resumes=fence)
    return claim_task(world.deps, claimer, task_id, *more.values())


def handed(world: World) -> str:
    """A task for the auditor that may be claimed now."""
    message: dict[str, Any] = {"source": {"agent": "alice"}, "target": {"agent": "auditor", "reason": "Audit it"}}
    made = create_handoff(world.deps, human(), CreateHandoff(message=message_from(message)))
    world.clock.advance(3)
    return made.task.id


@pytest.fixture
def held(world: World) -> Claimed:
    return world.claimed()


def claim_of(world: World, claimed: Claimed) -> Claim:
    claim = world.task(claimed.details.task.id).claim
    assert claim is not None
    return claim


def test_a_resumed_claim_is_a_new_one_of_the_same_attempt(world: World, held: Claimed) -> None:
    task_id = held.details.task.id
    save_checkpoint(world.deps, WorkerCall(AUDITOR, task_id, held.claim_id), "half", {"n": 1})
    world.clock.advance(100)
    again = resumed(world, task_id, 1)
    claim, task = claim_of(world, held), world.task(task_id)
    assert again.claim_id == claim.claim_id != held.claim_id
    assert (claim.fence, claim.worker, task.fence, task.attempt) == (2, "second", 2, 1)
    assert claim.expires_at == world.clock.now() + timedelta(seconds=300)
    assert again.details.checkpoint is not None
    assert again.details.checkpoint.state == {"n": 1}
    assert task.recoveries == 0
    complete_task(world.deps, WorkerCall(AUDITOR, task_id, again.claim_id, "h"), CompletedWork(output={}))
    assert world.task(task_id).is_done


def test_the_trail_tells_which_claim_was_resumed_and_by_whom_and_replays(world: World, held: Claimed) -> None:
    task_id = held.details.task.id
    resumed(world, task_id, 1)
    events = world.store.trail.events(WORKSPACE, task_id, 0, 100)
    told = events[-1]
    assert (told.type, told.data["resumed"], told.data["worker"], told.fence) == ("handoff_received", 1, "second", 2)
    replayed, task = trail.replay(events), world.task(task_id)
    assert (replayed.state, replayed.fence, replayed.attempt) == (task.state, task.fence, task.attempt)


@pytest.mark.parametrize("verb", ["heartbeat", "checkpoint", "note", "release", "fail", "complete"])
def test_every_verb_of_the_old_session_is_stale_and_changes_nothing(world: World, held: Claimed, verb: str) -> None:
    task_id = held.details.task.id
    resumed(world, task_id, 1)
    before, call = world.task(task_id), WorkerCall(AUDITOR, task_id, held.claim_id, "h")
    failure = FailedWork(failure={"type": "error", "description": "no"})
    verbs: dict[str, Callable[[], object]] = {
        "heartbeat": lambda: renew_claim(world.deps, AUDITOR, task_id, held.claim_id),
        "checkpoint": lambda: save_checkpoint(world.deps, call, "half", {}),
        "note": lambda: add_note(world.deps, call, "n"),
        "release": lambda: release_task(world.deps, call, ReleasedWork()),
        "fail": lambda: fail_task(world.deps, call, failure),
        "complete": lambda: complete_task(world.deps, call, CompletedWork(output={"n": 1})),
    }
    with pytest.raises(errors.StaleClaim):
        verbs[verb]()
    assert world.task(task_id) == before
    kept = late_results_of_task(world.deps, human(), task_id, 10, None).items
    assert [each.claim_fence for each in kept] == ([1] if verb in {"fail", "complete"} else [])


@pytest.mark.parametrize("way", ["another fence", "nobody holds", "ended"])
def test_only_the_claim_that_was_seen_is_resumed(world: World, held: Claimed, way: str) -> None:
    task_id = held.details.task.id
    call = WorkerCall(AUDITOR, task_id, held.claim_id, "h")
    if way == "nobody holds":
        release_task(world.deps, call, ReleasedWork())
    if way == "ended":
        complete_task(world.deps, call, CompletedWork(output={}))
    refused = {"another fence": errors.ClaimChanged, "nobody holds": errors.NobodyHolds, "ended": errors.TaskEnded}
    with pytest.raises(refused[way]):
        resumed(world, task_id, 2 if way == "another fence" else 1)


def test_what_another_principal_claimed_is_not_resumed(world: World) -> None:
    """The agent's own token doesn't take what a service claimed for it, nor the other way round, nor a human."""
    for claimer, others in ((AUDITOR, (ACTING, human())), (ACTING, (AUDITOR, human()))):
        task_id = handed(world)
        claim_task(world.deps, Claimer(by=claimer, agent="auditor", worker="first"), task_id)
        before = world.task(task_id)
        for other in others:
            with pytest.raises((errors.AlreadyClaimed, errors.ScopeNeeded)):
                resumed(world, task_id, 1, by=other)
        with pytest.raises((errors.NotYourAgent, errors.Unknown)):
            resumed(world, task_id, 1, by=agent("scout"), agent="auditor")
        with pytest.raises((errors.AlreadyClaimed, errors.Unknown, errors.NotYourAgent)):
            resumed(world, task_id, 1, by=agent("scout"), agent="scout")
        assert world.task(task_id) == before
        assert resumed(world, task_id, 1, by=claimer).details.task.fence == 2


def test_an_agent_that_is_switched_off_resumes_nothing(world: World, held: Claimed) -> None:
    register_agent(world.deps, human(), "auditor", {"active": False})
    with pytest.raises(errors.InactiveAgent):
        resumed(world, held.details.task.id, 1)


def test_a_claim_whose_lease_is_over_is_resumed_while_nobody_has_ended_it(world: World, held: Claimed) -> None:
    world.clock.advance(1_000)
    again = resumed(world, held.details.task.id, 1)
    assert (again.details.task.attempt, again.details.task.recoveries) == (1, 0)
    sweep(world.deps)
    assert claim_of(world, held).claim_id == again.claim_id


def test_a_resumed_claim_keeps_its_permit(world: World) -> None:
    register_agent(world.deps, human(), "auditor", {"max_concurrent": 1})
    held = world.claimed()
    task_id = held.details.task.id
    again = resumed(world, task_id, 1)
    assert world.store.claims.taken_slots(WORKSPACE, "auditor") == {0: again.claim_id}
    other = handed(world)
    with pytest.raises(errors.AtCapacity):
        claim_task(world.deps, Claimer(by=AUDITOR, agent="auditor", worker="w"), other)
    complete_task(world.deps, WorkerCall(AUDITOR, task_id, again.claim_id, "h"), CompletedWork(output={}))
    assert world.store.claims.taken_slots(WORKSPACE, "auditor") == {}


def test_a_repeat_with_its_key_gets_the_same_claim(world: World, held: Claimed) -> None:
    task_id = held.details.task.id
    key = IdempotencyKey(AUDITOR, f"/tasks/{task_id}/claim", "k", "h")
    first, second = (resumed(world, task_id, 1, key=key) for _ in range(2))
    assert first.claim_id == second.claim_id
    assert world.task(task_id).fence == 2


@pytest.mark.slow
def test_of_sixteen_sessions_that_resume_one_claim_exactly_one_wins() -> None:
    for _ in range(scaled(50, 10)):
        world = World().settle()
        held = world.claimed()
        task_id = held.details.task.id
        answers = at_once(16, lambda: resumed(world, task_id, 1))  # noqa: B023
        won = [each for each in answers if isinstance(each, Claimed)]
        lost = [each for each in answers if not isinstance(each, Claimed)]
        assert len(won) == 1
        assert all(isinstance(each, errors.ClaimChanged | errors.Busy) for each in lost), lost
        assert claim_of(world, held).claim_id == won[0].claim_id
        assert world.task(task_id).fence == 2


# ---- refusals say who holds it ---------------------------------------------------------------------------------------


def test_a_refused_claim_says_who_holds_the_task_since_when_and_until_when(world: World, held: Claimed) -> None:
    claim = claim_of(world, held)
    with pytest.raises(errors.AlreadyClaimed) as refused:
        claim_task(world.deps, Claimer(by=AUDITOR, agent="auditor", worker="w2"), held.details.task.id)
    said = refused.value
    assert {name: said.fields[name] for name in ("agent", "worker", "fence")} == {
        "agent": "auditor",
        "worker": "worker-1",
        "fence": 1,
    }
    for each in ("auditor", "worker-1", said.fields["claimed_at"], said.fields["expires_at"]):
        assert str(each) in said.message
    assert held.claim_id not in f"{said.message} {said.fields}"
    assert claim.claim_id == held.claim_id


# ---- a claim that a wait made, and that nobody takes up --------------------------------------------------------------


def unconfirmed(world: World, lease_seconds: int = 300) -> Claimed:
    """A claim with a first lease of 60 s."""
    claimer = Claimer(by=AUDITOR, agent="auditor", worker="w", lease_seconds=lease_seconds, first_lease_seconds=60)
    claimed = claim_next(world.deps, claimer)
    assert claimed is not None
    return claimed


def test_a_first_lease_is_short_until_the_first_verb(world: World) -> None:
    world.ready()
    held = unconfirmed(world)
    claim = claim_of(world, held)
    assert (claim.expires_at - claim.claimed_at, claim.lease_seconds) == (timedelta(seconds=60), 300)
    world.clock.advance(30)
    renew_claim(world.deps, AUDITOR, held.details.task.id, held.claim_id)
    assert claim_of(world, held).expires_at == world.clock.now() + timedelta(seconds=300)
    assert not claim_of(world, held).is_unconfirmed


def test_a_first_lease_is_never_longer_than_the_lease(world: World) -> None:
    world.ready()
    claim = claim_of(world, unconfirmed(world, lease_seconds=15))
    assert claim.expires_at - claim.claimed_at == timedelta(seconds=15)
    assert not claim.is_unconfirmed


@pytest.mark.parametrize("by", ["sweeper", "claimer"])
def test_a_claim_that_nobody_took_up_costs_no_attempt(world: World, by: str) -> None:
    task_id = world.ready()
    unconfirmed(world)
    world.clock.advance(60)
    if by == "sweeper":
        sweep(world.deps)
    taken = claim_next(world.deps, Claimer(by=AUDITOR, agent="auditor", worker="w2"))
    assert taken is not None
    task = world.task(task_id)
    assert (task.attempt, task.releases, task.fence, task.recoveries) == (1, 1, 2, 1)
    assert "no word of it ever came" in taken.details.recoveries[0].reason
    assert "attempt 1 of 3" in taken.details.recoveries[0].action


def test_a_task_that_is_claimed_in_vain_ten_times_comes_to_a_human(world: World) -> None:
    task_id = world.ready()
    for _ in range(10):
        unconfirmed(world)
        world.clock.advance(60)
        sweep(world.deps)
    task = world.task(task_id)
    assert (task.state, task.attempt, set(task.flags)) == ("needs", 0, {"released_too_often"})


def test_a_claim_that_was_taken_up_and_lost_costs_its_attempt(world: World) -> None:
    task_id = world.ready()
    held = unconfirmed(world)
    world.clock.advance(1)
    renew_claim(world.deps, AUDITOR, task_id, held.claim_id)
    world.clock.advance(300)
    sweep(world.deps)
    assert (world.task(task_id).attempt, world.task(task_id).releases) == (1, 0)
