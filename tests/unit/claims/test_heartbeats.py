"""A heartbeat is never in vain: what was decided on an older reading can't end or shorten a live claim."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from baton.domain.errors import AlreadyClaimed, StaleClaim, Unknown
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim
from baton.services.claims.claim_task import claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimer
from support.clock import NOON, FakeClock
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import InMemoryStore
from support.faults.hooked_store import HookedStore
from support.values.changes import claimed as claimed_in
from support.values.tasks import MS, claimed
from support.worlds.world import WORKSPACE, World, agent, human

AUDITOR = agent("auditor")


class Working:
    """A worker with a live claim of 300 s, on a store whose calls can be stepped between."""

    def __init__(self) -> None:
        self.store = HookedStore()
        self.world = World(store=self.store).settle()
        claimed = self.world.claimed()
        self.task_id, self.claim_id = claimed.details.task.id, claimed.claim_id

    def beat(self, lease_seconds: int | None = None) -> Claim:
        return renew_claim(self.world.deps, AUDITOR, self.task_id, self.claim_id, lease_seconds)

    @property
    def claim(self) -> Claim | None:
        return self.world.task(self.task_id).claim


@pytest.fixture
def working() -> Working:
    return Working()


# What a heartbeat does


def test_a_heartbeat_extends_to_now_and_the_lease_in_one_write(working: Working) -> None:
    before = working.world.task(working.task_id)
    working.world.clock.advance(100)
    claim = working.beat()
    after = working.world.task(working.task_id)
    assert claim.expires_at == working.world.clock.now() + timedelta(seconds=300)
    assert claim.heartbeat_at == working.world.clock.now()
    assert (after.meta.version, after.meta.seq, after.fence) == (before.meta.version + 1, before.meta.seq, before.fence)
    assert after.claim == claim
    assert after.meta.wake_at == before.meta.wake_at, "heartbeats don't move the wake index"


def test_a_heartbeat_never_shortens(working: Working) -> None:
    held = working.claim
    assert held is not None
    working.world.clock.advance(10)
    claim = working.beat(15)
    assert claim.expires_at == held.expires_at
    working.world.clock.time -= timedelta(minutes=5)
    assert working.beat().expires_at == held.expires_at


def test_a_heartbeat_may_ask_for_a_longer_lease_and_keeps_it(working: Working) -> None:
    assert working.beat(600).lease_seconds == 600
    working.world.clock.advance(1)
    assert working.beat().expires_at == working.world.clock.now() + timedelta(seconds=600)


def test_a_heartbeat_at_the_very_edge_of_shortening_is_taken() -> None:
    claim = claimed().task.claim
    assert claim is not None
    lease = timedelta(seconds=100)
    just = claim.expires_at - lease
    assert claim.renewed(just - MS, 100, None) is claim
    assert claim.renewed(just, 100, None).heartbeat_at == just
    assert claim.renewed(just + MS, 100, None).expires_at == claim.expires_at + MS


def test_a_deadline_cuts_a_lease_and_never_ends_it_early() -> None:
    claim = claimed().task.claim
    assert claim is not None
    deadline = claim.expires_at + timedelta(seconds=1)
    assert claim.renewed(claim.expires_at, 300, deadline).expires_at == deadline
    assert claim.renewed(claim.expires_at, 300, NOON).expires_at == claim.expires_at


def test_of_two_heartbeats_at_once_the_shorter_doesnt_undo_the_longer() -> None:
    """A task that fails on its deadline takes the second way, which decides by what it has read."""

    class Between(FakeDynamo):
        step: Callable[[], object] | None = None

        def update_item(self, **request: Any) -> Any:
            if self.step and "#hard" not in request["ConditionExpression"]:
                step, self.step = self.step, None
                step()
            return super().update_item(**request)

    table, clock = Between(), FakeClock()
    store = InMemoryStore(table, clock)
    task = claimed_in(store, deadline=NOON + timedelta(hours=5), fail_on_deadline=True)
    call = WorkerCall(AUDITOR, task.id, "clm_1")
    table.step = lambda: store.claims.renew(call, NOON + timedelta(seconds=301), 3_600)
    assert store.claims.renew(call, NOON + timedelta(seconds=301), 600).expires_at == NOON + timedelta(seconds=3_901)
    claim = store.tasks.load(WORKSPACE, task.id)[0].claim
    assert claim is not None
    assert claim.expires_at == NOON + timedelta(seconds=3_901)


@pytest.mark.parametrize("wrong", ["claim", "principal", "task", "workspace"])
def test_only_the_claimers_own_heartbeat_counts(working: Working, wrong: str) -> None:
    held = working.world.task(working.task_id)
    working.world.clock.advance(100)
    with pytest.raises(Unknown if wrong in {"task", "workspace"} else StaleClaim):
        renew_claim(
            working.world.deps,
            {"principal": human(), "workspace": agent("auditor", "other")}.get(wrong, AUDITOR),
            "task_nope" if wrong == "task" else working.task_id,
            "clm_nope" if wrong == "claim" else working.claim_id,
        )
    assert working.world.task(working.task_id) == held


# Races, each at its one bad moment


def test_between_the_sweepers_reading_and_its_commit(working: Working) -> None:
    working.world.clock.advance(300)
    working.store.before["commit"] = working.beat
    this = sweep(working.world.deps)
    assert this.reasons == {"changed_meanwhile": 1}
    claim = working.claim
    assert claim is not None
    assert claim.expires_at == working.world.clock.now() + timedelta(seconds=300)
    assert working.world.trail(working.task_id)[-1] == "handoff_received"
    complete_task(
        working.world.deps, WorkerCall(AUDITOR, working.task_id, working.claim_id, "h"), CompletedWork(output=None)
    )


def test_between_the_index_and_the_sweepers_reading(working: Working) -> None:
    working.world.clock.advance(300)
    working.store.before["load"] = working.beat
    assert sweep(working.world.deps).reasons == {}
    assert working.claim is not None
    wake_at = working.world.task(working.task_id).meta.wake_at
    assert wake_at == working.claim.expires_at, "the sweeper moves a live claim on"


def test_after_the_lease_is_over_but_before_the_sweep(working: Working) -> None:
    working.world.clock.advance(10_000)
    claim = working.beat()
    assert claim.expires_at == working.world.clock.now() + timedelta(seconds=300)
    sweep(working.world.deps)
    assert working.claim == claim
    complete_task(
        working.world.deps, WorkerCall(AUDITOR, working.task_id, working.claim_id, "h"), CompletedWork(output=None)
    )


def test_after_the_sweep_it_is_too_late(working: Working) -> None:
    working.world.clock.advance(300)
    sweep(working.world.deps)
    with pytest.raises(StaleClaim):
        working.beat()


def test_a_lease_that_is_over_holds_the_task_until_somebody_ends_it(working: Working) -> None:
    working.world.clock.advance(299)
    with pytest.raises(AlreadyClaimed) as refused:
        claim_task(working.world.deps, Claimer(by=AUDITOR, agent="auditor", worker="w2"), working.task_id)
    working.world.clock.advance(10_000)
    assert refused.value.fields["agent"] == "auditor"
    assert working.claim_id not in str(refused.value.fields)
    complete_task(
        working.world.deps, WorkerCall(AUDITOR, working.task_id, working.claim_id, "h"), CompletedWork(output=None)
    )
    assert working.world.task(working.task_id).state == "done"


VERBS: dict[str, Callable[[Working], object]] = {
    "complete": lambda w: complete_task(
        w.world.deps, WorkerCall(AUDITOR, w.task_id, w.claim_id, "h"), CompletedWork(output={"ok": 1})
    ),
    "fail": lambda w: fail_task(
        w.world.deps,
        WorkerCall(AUDITOR, w.task_id, w.claim_id, "h"),
        FailedWork(failure={"type": "error", "description": "x"}),
    ),
    "release": lambda w: release_task(w.world.deps, WorkerCall(AUDITOR, w.task_id, w.claim_id, "h"), ReleasedWork()),
    "cancel": lambda w: cancel_task(w.world.deps, human(), w.task_id, None),
}


@pytest.mark.parametrize("verb", VERBS)
def test_between_another_verbs_reading_and_its_commit_both_succeed(working: Working, verb: str) -> None:
    working.world.clock.advance(100)
    extended_to = working.world.clock.now() + timedelta(seconds=300)
    beats: list[Claim] = []
    working.store.before["commit"] = lambda: beats.append(working.beat())
    VERBS[verb](working)
    assert beats[0].expires_at == extended_to
    assert working.claim is None
    assert len(working.world.trail(working.task_id)) == 4, "decided twice, told once"


def test_between_anothers_claim_attempt_and_its_answer(working: Working) -> None:
    working.store.after["read_for_claim"] = working.beat
    with pytest.raises(AlreadyClaimed):
        claim_task(working.world.deps, Claimer(by=AUDITOR, agent="auditor", worker="w2"), working.task_id)
    assert working.store.after == {}, "it did come in between"
    assert working.claim is not None


def test_the_sweeper_cannot_end_a_claim_made_after_its_reading(working: Working) -> None:
    world = working.world

    def turnover() -> None:
        release_task(world.deps, WorkerCall(AUDITOR, working.task_id, working.claim_id, "h"), ReleasedWork())
        world.claim(worker="worker-2")

    world.clock.advance(300)
    working.store.before["commit"] = turnover
    sweep(world.deps)
    claim = world.task(working.task_id).claim
    assert claim is not None
    assert (claim.worker, claim.fence) == ("worker-2", 2)


def test_many_heartbeats_keep_a_task_for_as_long_as_they_come(working: Working) -> None:
    for _ in range(50):
        working.world.clock.advance(299)
        working.beat()
        sweep(working.world.deps)
    assert working.claim is not None
    assert working.world.task(working.task_id).fence == 1
    working.world.clock.advance(300)
    sweep(working.world.deps)
    assert working.claim is None


def test_a_heartbeat_writes_no_event_and_sends_no_notice(working: Working) -> None:
    trail = working.world.trail(working.task_id)
    working.world.clock.advance(5)
    working.beat()
    assert working.world.trail(working.task_id) == trail
    assert working.world.dispatch_queue.notices == []
