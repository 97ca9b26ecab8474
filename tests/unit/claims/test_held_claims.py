"""Which claims an agent holds is read from an index that lags: only time depends on it (docs/what-is-stored.md §6)."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain import errors
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.ids import made_at
from baton.domain.tasks.calls import WorkerCall
from baton.domain.times import seconds
from baton.ports.details import TaskDetails
from baton.services.claims.claim_task import claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.steps.claims.held_claims import SETTLED_SECONDS, find_claim, holds_claims
from baton.steps.claims.take_task import Claimed, Claimer
from support.clock import NOON, FakeClock
from support.fakes.fake_dynamo import FakeDynamo, LateIndexes
from support.fakes.store import InMemoryStore
from support.worlds.world import WORKSPACE, World, agent

AUDITOR = agent("auditor")
LAGS_MS = (0, 40, 700, 1_900)


def lagging_world(lag_ms: int) -> World:
    clock = FakeClock()
    store = InMemoryStore(FakeDynamo(LateIndexes(clock.now, lag_ms)), clock)
    return World(store=store, clock=clock).settle()


def just_claimed(world: World) -> Claimed:
    claimer = Claimer(by=AUDITOR, agent="auditor", worker="worker-1")
    return claim_task(world.deps, claimer, world.ready())


def handed_off(world: World, claim_id: str | None) -> TaskDetails:
    message: dict[str, Any] = {"source": {"agent": "auditor"}, "target": {"agent": "scout", "reason": "Look at it"}}
    return create_handoff(world.deps, AUDITOR, CreateHandoff(message=message_from(message), claim_id=claim_id))


def done(world: World, claim: Claimed) -> None:
    call = WorkerCall(AUDITOR, claim.details.task.id, claim.claim_id, "h")
    complete_task(world.deps, call, CompletedWork(output={}))


@pytest.mark.parametrize("lag_ms", LAGS_MS)
def test_a_handoff_right_after_its_claim_belongs_to_it_however_late_the_index_is(lag_ms: int) -> None:
    world = lagging_world(lag_ms)
    claim = just_claimed(world)
    began_at = world.clock.now()
    made = handed_off(world, claim.claim_id)
    assert made.task.parent_id == claim.details.task.id
    assert world.clock.now() - began_at <= seconds(SETTLED_SECONDS)


@pytest.mark.parametrize("lag_ms", LAGS_MS)
def test_a_handoff_under_a_claim_that_has_ended_is_stale_however_late_the_index_is(lag_ms: int) -> None:
    world = lagging_world(lag_ms)
    claim = just_claimed(world)
    world.clock.advance(2)
    done(world, claim)
    with pytest.raises(errors.StaleClaim):
        handed_off(world, claim.claim_id)


@pytest.mark.parametrize("lag_ms", LAGS_MS)
def test_a_claim_that_has_ended_is_not_asked_for_however_late_the_index_is(lag_ms: int) -> None:
    world = lagging_world(lag_ms)
    claim = just_claimed(world)
    world.clock.advance(2)
    with pytest.raises(errors.ClaimRequired):
        handed_off(world, None)
    done(world, claim)
    assert handed_off(world, None).task.parent_id is None


def test_a_claim_within_the_lag_may_be_missed_and_its_agent_begins_a_workflow() -> None:
    """Which it may do thirty times an hour in each direction, with or without claims."""
    world = lagging_world(700)
    just_claimed(world)
    assert not holds_claims(world.deps, WORKSPACE, "auditor")
    assert handed_off(world, None).task.is_root
    world.clock.advance(1)
    assert holds_claims(world.deps, WORKSPACE, "auditor")


@pytest.mark.parametrize(
    ("claim_id", "pauses"),
    [
        ("clm_unknown", 0),
        ("clm_" + "z" * 26, 0),  # of a year that no time has
        ("clm_7zzzzzzzzz0000000000000000", 0),  # from the future
        ("clm_00000000000000000000000000", 0),  # from 1970
    ],
)
def test_nobody_waits_for_an_id_that_no_young_claim_can_have(claim_id: str, pauses: int) -> None:
    world = lagging_world(0)
    assert find_claim(world.deps, WORKSPACE, "auditor", claim_id) is None
    assert len(world.clock.slept) == pauses


def test_a_young_claim_that_is_not_there_is_looked_for_until_it_is_settled() -> None:
    world = lagging_world(0)
    young = world.deps.ids.new("clm", world.clock.now())
    began_at = world.clock.now()
    assert find_claim(world.deps, WORKSPACE, "auditor", young) is None
    assert world.clock.now() - began_at == seconds(SETTLED_SECONDS)
    assert len(world.clock.slept) < 10
    settled = len(world.clock.slept)
    assert find_claim(world.deps, WORKSPACE, "auditor", young) is None
    assert len(world.clock.slept) == settled


def test_an_id_tells_when_it_was_made() -> None:
    world = World()
    assert made_at(world.deps.ids.new("clm", NOON)) == NOON
    assert made_at("clm_1") is None
    assert made_at("") is None
