"""The counts, times and edges of docs/spec/lifecycle.md §1 and §2, on the pure domain."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from copy import deepcopy
from datetime import timedelta

import pytest

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Approval, Requeue, Runtime
from baton.domain.errors import (
    HumanNeeded,
    NotAllowed,
    NotClaimable,
    RevisionChanged,
    StaleClaim,
    TaskEnded,
    UndoWindowOver,
)
from baton.domain.settings.settings import Settings
from baton.domain.task_state import ENDED, State
from baton.domain.tasks.task import Flag
from baton.domain.tasks.trail import replay, state_fields
from baton.domain.tasks.transitions import backoff
from support.clock import NOON
from support.values.tasks import (
    ACTING_SERVICE,
    CLAIM_ID,
    CREATOR,
    HUMAN,
    SERVICE,
    TARGET,
    Life,
    an_agent,
    claimed,
    in_state,
    ready,
)

AUTO = an_agent(approval=Approval.AUTO, version=7, updated_by="human:carol")


# Created


@pytest.mark.parametrize("by", [CREATOR, SERVICE, ACTING_SERVICE])
def test_what_an_agent_or_service_asks_for_waits_for_a_human(by: Principal) -> None:
    life = Life(by)
    assert life.task.state == "needs"
    assert life.task.ready_at is None
    assert not life.last.notifies
    assert [event.type for event in life.events] == ["handoff_initiated"]


def test_what_a_human_asks_for_is_approved_by_the_asking_and_may_be_undone() -> None:
    life = Life(HUMAN)
    assert life.task.state == "delegated"
    assert life.task.ready_at == life.task.undo_until == NOON + timedelta(seconds=3)
    approved = life.events[-1]
    assert (approved.type, approved.principal_kind, approved.principal_id) == ("approved", "human", "alice")
    assert approved.data["asked_by_human"] is True
    assert approved.data["revision"] == 1
    life.undo()
    assert life.task.state == "needs"


@pytest.mark.parametrize("by", [CREATOR, SERVICE])
def test_a_standing_approval_delegates_at_once_and_its_event_names_agent_version_and_giver(by: Principal) -> None:
    life = Life(by, AUTO)
    assert life.task.state == "delegated"
    assert life.task.ready_at == NOON
    assert life.events[-1].data["standing_approval"] == {
        "agent": "auditor",
        "version": 7,
        "given_by": "human:carol",
    }
    assert "asked_by_human" not in life.events[-1].data


def test_a_standing_approval_is_not_undone() -> None:
    life = Life(CREATOR, AUTO)
    with pytest.raises(UndoWindowOver):
        life.undo()


# Approved


def test_approval_names_the_revision_that_was_seen() -> None:
    for approve in (Life.approve, Life.approve_next):
        life = Life(revision=4)
        for seen in (3, 5):
            with pytest.raises(RevisionChanged):
                approve(life, revision=seen)
        approve(life, revision=4)
        assert life.events[-1].data["revision"] == 4


def test_approval_without_a_revision_is_for_the_current_one() -> None:
    life = Life(revision=4)
    life.approve()
    assert life.events[-1].data["revision"] == 4


def test_nobody_can_claim_before_the_undo_window_is_over_and_nobody_undo_after() -> None:
    life = Life()
    life.approve()
    life.later(3, ms=-1)
    with pytest.raises(NotClaimable):
        life.claim()
    undone = Life()
    undone.approve()
    undone.later(3, ms=-1).undo()
    assert undone.task.state == "needs"
    assert undone.task.ready_at is None

    life.later(ms=1)
    with pytest.raises(UndoWindowOver):
        life.undo()
    life.claim()
    assert life.task.state == "claimed"


def test_the_undo_window_is_a_setting_and_zero_means_none() -> None:
    life = Life()
    life.approve(settings=Settings(dispatch_delay_seconds=0))
    with pytest.raises(UndoWindowOver):
        life.undo()
    life.claim()
    assert life.task.fence == 1


def test_a_task_that_came_back_inside_its_undo_window_is_not_undone() -> None:
    life = Life()
    life.approve(settings=Settings(dispatch_delay_seconds=900))
    life.later(900).claim()
    life.release()
    with pytest.raises(UndoWindowOver):
        life.undo()


def test_approving_for_an_inactive_or_missing_agent_raises_an_alert_and_rings_nobody() -> None:
    life = Life()
    life.agent = an_agent(active=False, runtime=Runtime.RUN)
    change = life.approve()
    assert change.task.flags == {Flag.UNDELIVERABLE}
    assert not change.notifies
    assert [event.type for event in change.events] == ["approved", "alert_raised"]


def test_only_agents_that_baton_runs_are_notified() -> None:
    for runtime, notified in ((Runtime.RUN, True), (Runtime.PULL, False)):
        life = Life()
        life.agent = an_agent(runtime=runtime)
        assert life.approve().notifies is notified


def test_next_is_never_in_a_queue_and_never_notified() -> None:
    life = Life()
    life.agent = an_agent(runtime=Runtime.RUN)
    assert not life.approve_next().notifies
    assert not life.task.is_ready(life.now + timedelta(days=400))
    assert life.task.is_claimable(life.now)
    life.claim()
    assert not life.release().notifies
    assert life.task.state == "next"


# Given back


def test_work_goes_back_where_it_came_from() -> None:
    for state in ("delegated", "next"):
        for give_back in (Life.release, lambda life: life.fail(retryable=True), lambda life: life.later(300).sweep()):
            life = in_state(state)
            life.claim()
            give_back(life)
            assert life.task.state == state


def test_a_claim_counts_as_an_attempt_and_a_release_takes_it_back() -> None:
    life = claimed()
    assert life.task.attempt == 1
    life.release()
    assert life.task.attempt == 0
    assert life.task.ready_at == life.now
    life.claim()
    life.fail(retryable=True)
    assert life.task.attempt == 1


@pytest.mark.parametrize(("attempt", "seconds"), [(1, 5), (2, 20), (3, 80), (4, 300), (5, 300), (99, 300)])
def test_backoff_grows_fourfold_to_five_minutes(attempt: int, seconds: int) -> None:
    assert backoff(attempt) == timedelta(seconds=seconds)


def test_a_retryable_failure_waits_for_its_backoff_to_the_millisecond() -> None:
    life = claimed()
    life.fail(retryable=True)
    life.later(5, ms=-1)
    with pytest.raises(NotClaimable):
        life.claim()
    life.later(ms=1).claim()
    assert life.task.attempt == 2


def test_the_last_attempt_fails_for_good_though_retryable() -> None:
    life = claimed()
    for _ in range(2):
        life.fail(retryable=True)
        life.later(300).claim()
    assert life.task.attempt == life.task.max_attempts == 3
    change = life.fail(retryable=True)
    assert life.task.state == "failed"
    assert change.ends
    assert change.failure == {"type": "error", "description": "broke"}


def test_ten_releases_bring_a_human_and_nine_do_not() -> None:
    life, pauses = ready(), []
    for _ in range(9):
        life.claim()
        life.release()
        assert (life.task.state, life.task.ready_at is None) == ("delegated", False)
        pause = (life.task.ready_at or life.now) - life.now
        pauses.append(pause.total_seconds())
        with pytest.raises(NotClaimable) if pause else nullcontext():
            deepcopy(life).claim()
        life.later(pause.total_seconds())
    assert pauses == [0, 5, 20, 80, 300, 300, 300, 300, 300]
    assert life.task.flags == set()
    life.claim()
    life.release()
    assert life.task.state == "needs"
    assert life.task.flags == {Flag.RELEASED_TOO_OFTEN}
    assert life.task.attempt == 0
    assert life.events[-1].type == "alert_raised"


def test_approving_again_gives_fresh_attempts_and_releases_and_answers_the_alert() -> None:
    life = claimed()
    for attempt in range(3):
        life.later(300).sweep()
        if attempt < 2:
            life.claim()
    assert (life.task.state, life.task.attempt, life.task.flags) == ("needs", 3, frozenset({Flag.ATTEMPTS_EXHAUSTED}))
    life.task = life.task.changed(releases=9)
    life.approve()
    assert (life.task.attempt, life.task.releases, life.task.flags) == (0, 0, frozenset())
    life.later(3).claim()
    life.release()
    assert life.task.state == "delegated"


# Swept


def test_a_lease_is_swept_at_its_end_and_not_a_millisecond_before() -> None:
    life = claimed()
    assert life.task.meta.wake_at == life.now + timedelta(seconds=300)
    life.later(300, ms=-1).sweep()
    assert life.task.state == "claimed"
    assert life.task.meta.seq == 3
    life.later(ms=1).sweep()
    assert life.task.state == "delegated"
    assert life.task.ready_at == life.now


def test_a_recovery_says_who_lost_it_when_and_what_was_done() -> None:
    life = claimed()
    recovery = life.later(300).sweep().recovery
    assert recovery is not None
    assert recovery.reason == (
        "lease of worker w, fence 1, expired at 2026-11-18T12:05:03.000Z, last heartbeat 2026-11-18T12:00:03.000Z"
    )
    assert recovery.action == "re-queued to delegated, attempt 2 of 3"
    assert (recovery.number, recovery.prior_agent, recovery.prior_worker, recovery.prior_fence) == (
        1,
        "auditor",
        "w",
        1,
    )
    assert CLAIM_ID not in repr(recovery)


def test_an_agent_may_want_its_lost_work_seen_by_a_human() -> None:
    life = claimed()
    change = life.later(300).sweep(an_agent(requeue=Requeue.NEEDS))
    assert life.task.state == "needs"
    assert life.task.flags == set()
    assert change.recovery is not None
    assert change.recovery.action == "re-queued to needs, attempt 2 of 3"


def test_after_the_last_attempt_a_lost_task_always_goes_to_a_human_with_an_alert() -> None:
    life = claimed(max_attempts=2)
    life.later(300).sweep()
    assert life.task.state == "delegated"
    life.claim()
    change = life.later(300).sweep(an_agent(requeue=Requeue.SAME))
    assert life.task.state == "needs"
    assert life.task.flags == {Flag.ATTEMPTS_EXHAUSTED}
    assert change.recovery is not None
    assert change.recovery.action == "re-queued to needs, attempt 2 of 2 was the last"
    assert life.task.recoveries == 2


def test_sweeping_an_ended_task_tells_nothing() -> None:
    for state in ("done", "failed", "cancelled"):
        life = in_state(state)
        change = life.later(10_000_000).sweep()
        assert change.events == ()
        assert (change.task.state, change.task.meta.wake_at, change.ends) == (state, None, False)


# Deadlines


def test_a_lease_never_goes_past_a_deadline_that_fails_the_task() -> None:
    deadline = NOON + timedelta(seconds=100)
    life = claimed(deadline=deadline, fail_on_deadline=True)
    assert life.task.claim is not None
    assert life.task.claim.expires_at == deadline
    assert life.task.claim.renewed(life.now, 300, life.task.hard_deadline).expires_at == deadline
    soft = claimed(deadline=deadline)
    assert soft.task.claim is not None
    assert soft.task.claim.expires_at > deadline


def test_nobody_claims_a_task_whose_deadline_fails_it() -> None:
    life = ready(deadline=NOON + timedelta(seconds=10), fail_on_deadline=True)
    life.later(7)
    with pytest.raises(NotClaimable):
        life.claim()
    life.later(ms=-1).claim()
    assert life.task.state == "claimed"


# Always


def test_a_creator_that_is_an_agent_may_cancel_and_another_with_its_name_of_another_kind_may_not() -> None:
    life = ready()
    namesake = Principal(TARGET.workspace, SERVICE.kind, CREATOR.id)
    with pytest.raises(HumanNeeded):
        life.cancel(namesake)
    assert life.cancel(CREATOR).ends


def test_the_exact_claim_of_a_human_acting_for_the_agent_is_the_humans_alone() -> None:
    life = ready()
    life.claim(HUMAN)
    with pytest.raises(StaleClaim):
        life.complete(TARGET)
    life.complete(HUMAN)
    assert life.task.state == "done"


def test_a_long_life_only_ever_raises_fence_version_and_seq_and_replays_to_its_facts() -> None:
    life = Life()
    steps: list[Callable[[], object]] = [
        lambda: life.approve(),
        lambda: life.undo(),
        lambda: life.approve(),
        lambda: life.later(3).claim(),
        lambda: life.release(),
        lambda: life.claim(),
        lambda: life.fail(retryable=True),
        lambda: life.later(20).claim(),
        lambda: life.later(300).sweep(),
        lambda: life.later(3_600).sweep(),
        lambda: life.claim(),
        lambda: life.later(300).sweep(),
        lambda: life.approve_next(),
        lambda: life.claim(),
        lambda: life.complete(),
    ]
    for step in steps:
        before = life.task
        step()
        assert life.task.fence in (before.fence, before.fence + 1)
        assert life.task.meta.version == before.meta.version + 1
        assert life.task.meta.seq >= before.meta.seq
        assert state_fields(replay(life.events)) == state_fields(life.task)
    assert life.task.state == State.DONE
    assert life.task.fence == 5
    assert [event.seq for event in life.events] == list(range(1, life.task.meta.seq + 1))


def test_nothing_is_asked_twice_of_an_ended_task() -> None:
    for state in ENDED:
        life = in_state(str(state))
        for verb in (life.approve, life.approve_next, life.undo, life.claim, life.cancel, life.resolve):
            with pytest.raises(TaskEnded):
                verb()


def test_a_refused_verb_says_which_and_in_what_state() -> None:
    with pytest.raises(NotAllowed) as refused:
        in_state("claimed").approve()
    assert refused.value.fields == {"task_id": "task_1", "verb": "approve", "state": "claimed"}
