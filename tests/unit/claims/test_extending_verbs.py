"""Every verb that names a claim and leaves it extends it, in the write that it makes anyway."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from baton.domain.errors import StaleClaim
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim, Task
from baton.domain.times import rfc3339
from baton.services.claims.claim_task import claim_next
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.tasks.add_note import add_note
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimer
from support.faults.hooked_store import HookedStore
from support.faults.threads import at_once
from support.worlds.world import World, agent, human

AUDITOR = agent("auditor")
LEASE = timedelta(seconds=300)


@dataclass
class Held:
    """A worker's claim of 300 s."""

    store: HookedStore = field(default_factory=HookedStore)
    deadline: timedelta | None = None

    def __post_init__(self) -> None:
        self.world = World(store=self.store).settle()
        until = None if self.deadline is None else self.world.clock.now() + self.deadline
        message: dict[str, Any] = {"source": {"agent": "alice"}, "target": {"agent": "auditor", "reason": "Audit it"}}
        if until is not None:
            message["expectations"] = {"deadline": rfc3339(until), "fail_on_deadline": True}
        create_handoff(self.world.deps, human(), CreateHandoff(message=message_from(message)))
        self.world.clock.advance(3)
        claimed = self.world.claim()
        self.task_id, self.claim_id = claimed.details.task.id, claimed.claim_id
        self.call = WorkerCall(AUDITOR, self.task_id, self.claim_id, "h")

    @property
    def task(self) -> Task:
        return self.world.task(self.task_id)

    @property
    def claim(self) -> Claim:
        assert self.task.claim is not None
        return self.task.claim


def hand_off(held: Held) -> object:
    message: dict[str, Any] = {"source": {"agent": "auditor"}, "target": {"agent": "scout", "reason": "Look at it"}}
    asked = CreateHandoff(message=message_from(message), claim_id=held.claim_id)
    return create_handoff(held.world.deps, AUDITOR, asked)


VERBS: dict[str, Callable[[Held], object]] = {
    "checkpoint": lambda held: save_checkpoint(held.world.deps, held.call, "half", {"n": 1}),
    "note": lambda held: add_note(held.world.deps, held.call, "half of it"),
    "handoff": hand_off,
}
every_verb = pytest.mark.parametrize("verb", VERBS)


@every_verb
def test_a_verb_extends_the_claim_from_now_on(verb: str) -> None:
    held = Held()
    wake_at = held.task.meta.wake_at
    held.world.clock.advance(200)
    VERBS[verb](held)
    now = held.world.clock.now()
    assert (held.claim.expires_at, held.claim.heartbeat_at) == (now + LEASE, now)
    assert held.task.meta.wake_at == wake_at, "as with a heartbeat, no place of an index moves"
    held.world.clock.advance(299)
    sweep(held.world.deps)
    assert claim_next(held.world.deps, Claimer(by=AUDITOR, agent="auditor", worker="w2")) is None
    assert held.claim.claim_id == held.claim_id


@every_verb
def test_a_verb_never_shortens_a_lease(verb: str) -> None:
    held = Held()
    renew_claim(held.world.deps, AUDITOR, held.task_id, held.claim_id, 3_600)
    until = held.claim.expires_at
    held.world.clock.time -= timedelta(seconds=60)
    VERBS[verb](held)
    assert held.claim.expires_at == until


@every_verb
def test_a_hard_deadline_bounds_what_a_verb_extends(verb: str) -> None:
    held = Held(deadline=timedelta(seconds=400))
    deadline = held.task.hard_deadline
    assert deadline is not None
    held.world.clock.advance(200)
    VERBS[verb](held)
    assert held.claim.expires_at == deadline


@every_verb
def test_a_sweep_that_was_decided_before_the_verb_ends_nothing(verb: str) -> None:
    held = Held()
    held.world.clock.advance(300)
    held.store.before["commit"] = lambda: VERBS[verb](held)
    sweep(held.world.deps)
    assert held.claim.claim_id == held.claim_id
    assert "heartbeat_lost" not in held.world.trail(held.task_id)


@every_verb
def test_a_heartbeat_between_a_verbs_reading_and_its_write_is_kept(verb: str) -> None:
    held = Held()
    held.world.clock.advance(100)
    held.store.before["commit"] = lambda: renew_claim(held.world.deps, AUDITOR, held.task_id, held.claim_id, 3_600)
    VERBS[verb](held)
    assert held.claim.lease_seconds == 3_600
    assert held.claim.expires_at == held.world.clock.now() + timedelta(seconds=3_600)


@every_verb
def test_a_claim_that_was_given_back_is_not_extended(verb: str) -> None:
    held = Held()
    release_task(held.world.deps, held.call, ReleasedWork())
    with pytest.raises(StaleClaim):
        VERBS[verb](held)
    assert held.task.claim is None


@every_verb
def test_an_extended_lease_is_told_by_no_event(verb: str) -> None:
    held = Held()
    held.world.clock.advance(200)
    VERBS[verb](held)
    events = held.world.store.trail.events(held.task.workspace, held.task_id, 0, 100)
    received = [each for each in events if each.type == "handoff_received"]
    assert len(received) == 1
    assert all("claim" not in each.data["changes"] for each in events if each not in received)


@pytest.mark.slow
def test_of_many_handoffs_at_once_each_is_made_and_the_claim_is_extended_once_for_all() -> None:
    held = Held()
    held.world.clock.advance(200)
    answers = at_once(4, lambda: hand_off(held))
    assert not [each for each in answers if isinstance(each, Exception)]
    assert held.claim.expires_at >= held.world.clock.now() + LEASE - timedelta(seconds=1)
