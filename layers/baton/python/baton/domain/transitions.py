"""The one place that decides what happens to a task (spec/lifecycle.md §1). Nothing else writes a state.

``transition(task, verb, at)`` either raises (see ``errors.py``; nothing has happened then) or answers with a
``Change``: the task as it will be and the events that tell of it. Committing it under ``change.before`` is the store's
business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from baton.domain import verbs
from baton.domain.errors import NotAllowed, NotClaimable, NotYourAgent, RevisionChanged, TaskEnded, UndoWindowOver
from baton.domain.events import Event, record
from baton.domain.task import (
    EXHAUSTED_FLAGS,
    MAX_RELEASES,
    NEXT_STALE_AFTER,
    UNTAKEN_FLAGS,
    Claim,
    Flag,
    Recovery,
    State,
    Task,
)
from baton.domain.times import rfc3339, seconds
from baton.domain.wake import next_look, unclaimed_since

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta

    from baton.domain.agent import Agent
    from baton.domain.principal import Principal
    from baton.domain.settings import Settings

FIRST_BACKOFF_SECONDS = 5
LAST_BACKOFF_SECONDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """``before``: None for a new task. ``ring``: the target agent's bell is due once this is committed."""

    before: Task | None
    task: Task
    events: tuple[Event, ...] = ()
    recovery: Recovery | None = None
    failure: dict[str, Any] | None = None
    ring: bool = False
    reasons: tuple[str, ...] = field(default=())

    @property
    def ends(self) -> bool:
        return self.task.is_ended and (self.before is None or not self.before.is_ended)


def create(new: Task, by: Principal, at: datetime, agent: Agent, settings: Settings) -> Change:
    """``new`` is in ``needs``; a human's asking or a standing approval of the target's moves it on (truth 8)."""
    story = _Story(None, new, by, at)
    story.tell("handoff_initiated")
    if by.is_human:
        _delegate(story, {"revision": new.revision, "asked_by_human": True}, agent, settings, undo=settings.undo_window)
    elif agent.has_standing_approval:
        given = {"agent": agent.slug, "version": agent.version, "given_by": agent.updated_by}
        _delegate(story, {"revision": new.revision, "standing_approval": given}, agent, settings, undo=seconds(0))
    return story.end()


def transition(task: Task, verb: verbs.Verb, at: datetime) -> Change:
    return _RULES[type(verb)](task, verb, at)


def backoff(attempt: int) -> timedelta:
    """5 s, 20 s, 80 s … at most 5 minutes, before a failed attempt is tried again."""
    return seconds(min(FIRST_BACKOFF_SECONDS * 4 ** min(attempt - 1, 8), LAST_BACKOFF_SECONDS))


class _Story:
    """One change in the making: each ``tell`` moves the task on and writes the event of it."""

    def __init__(self, before: Task | None, task: Task, by: Principal, at: datetime) -> None:
        self.before, self.task, self.by, self.at = before, task, by, at
        self.events: list[Event] = []
        self.extras: dict[str, Any] = {}

    def tell(self, type_: str, data: dict[str, Any] | None = None, **changes: Any) -> None:
        after = self.task.changed(updated_at=self.at, **changes)
        previous = self.task if self.events else self.before
        event = record(previous, after, type_, self.by, self.at, data or {})
        self.task = after.changed(seq=event.seq, chain=event.hash)
        self.events.append(event)

    def alert(self, flag: Flag) -> None:
        if flag not in self.task.flags:
            self.tell("alert_raised", {"flag": str(flag)}, flags=self.task.flags | {flag})

    def end(self, **extras: Any) -> Change:
        version = 1 if self.before is None else self.before.version + 1
        task = self.task.changed(version=version, wake_at=next_look(self.task, self.at))
        return Change(before=self.before, task=task, events=tuple(self.events), **self.extras, **extras)


def _approve(task: Task, verb: verbs.Approve, at: datetime) -> Change:
    verb.by.must_be_human("approve a task")
    _must_be(task, verb, State.NEEDS)
    revision = _revision_seen(task, verb.revision)
    story = _Story(task, task, verb.by, at)
    _delegate(story, {"revision": revision}, verb.agent, verb.settings, undo=verb.settings.undo_window)
    return story.end()


def _delegate(story: _Story, data: dict[str, Any], agent: Agent | None, settings: Settings, *, undo: timedelta) -> None:
    ready_at = story.at + undo
    story.tell(
        "approved",
        {"for": "dispatch", **data},
        state=State.DELEGATED,
        ready_at=ready_at,
        undo_until=ready_at if undo else None,
        attempt=0,
        releases=0,
        flags=story.task.flags - UNTAKEN_FLAGS - EXHAUSTED_FLAGS,
        rings=0,
        alert_after_seconds=settings.unclaimed_alert_seconds,
        runtime=story.task.runtime if agent is None else agent.runtime,
    )
    if agent is None or not agent.active:
        story.alert(Flag.UNDELIVERABLE)
    else:
        story.extras["ring"] = agent.is_run


def _approve_next(task: Task, verb: verbs.ApproveNext, at: datetime) -> Change:
    verb.by.must_be_human("approve a task")
    _must_be(task, verb, State.NEEDS)
    revision = _revision_seen(task, verb.revision)
    story = _Story(task, task, verb.by, at)
    flags = task.flags - UNTAKEN_FLAGS - EXHAUSTED_FLAGS
    story.tell(
        "approved",
        {"for": "next", "revision": revision},
        state=State.NEXT,
        ready_at=at,
        undo_until=None,
        attempt=0,
        releases=0,
        flags=flags,
    )
    return story.end()


def _undo(task: Task, verb: verbs.Undo, at: datetime) -> Change:
    verb.by.must_be_human("undo an approval")
    _must_be(task, verb, State.DELEGATED)
    if task.undo_until is None or at >= task.undo_until:
        raise UndoWindowOver(task.id)
    story = _Story(task, task, verb.by, at)
    story.tell("approval_undone", state=State.NEEDS, ready_at=None, undo_until=None)
    return story.end()


def _claim(task: Task, verb: verbs.ClaimTask, at: datetime) -> Change:
    verb.by.acting_for(verb.agent)
    if verb.agent != task.target_agent:
        raise NotYourAgent(task.target_agent)
    task.must_be_claimable(at)
    expires_at = at + seconds(verb.lease_seconds)
    if task.hard_deadline is not None:
        if task.hard_deadline <= at:
            raise NotClaimable(task.id, task.state, None)
        expires_at = min(expires_at, task.hard_deadline)
    claim = Claim(
        claim_id=verb.claim_id,
        fence=task.fence + 1,
        agent=verb.agent,
        worker=verb.worker,
        principal=verb.by.key,
        lease_seconds=verb.lease_seconds,
        claimed_at=at,
        heartbeat_at=at,
        expires_at=expires_at,
    )
    story = _Story(task, task, verb.by, at)
    story.tell(
        "handoff_received",
        {"agent": verb.agent, "worker": verb.worker},
        state=State.CLAIMED,
        origin=task.state,
        undo_until=None,
        claim=claim,
        fence=claim.fence,
        attempt=task.attempt + 1,
        flags=task.flags - UNTAKEN_FLAGS,
        rings=0,
    )
    return story.end()


def _complete(task: Task, verb: verbs.Complete, at: datetime) -> Change:
    task.current_claim(verb.claim_id, verb.by)
    story = _Story(task, task, verb.by, at)
    story.tell("handoff_completed", state=State.DONE, claim=None, has_output=verb.has_output)
    return story.end()


def _fail(task: Task, verb: verbs.Fail, at: datetime) -> Change:
    task.current_claim(verb.claim_id, verb.by)
    story = _Story(task, task, verb.by, at)
    data = {"failure": verb.failure, "retryable": verb.retryable, "attempt": task.attempt}
    if verb.retryable and task.attempt < task.max_attempts:
        _put_back(story, "requeued", data, ready_at=at + backoff(task.attempt), has_failure=True)
    else:
        story.tell("handoff_failed", data, state=State.FAILED, claim=None, has_failure=True)
    return story.end(failure=verb.failure)


def _release(task: Task, verb: verbs.Release, at: datetime) -> Change:
    task.current_claim(verb.claim_id, verb.by)
    story = _Story(task, task, verb.by, at)
    releases = task.releases + 1
    if releases >= MAX_RELEASES:
        story.tell("released", {"reason": verb.reason}, **_to_human(task), attempt=task.attempt - 1, releases=releases)
        story.alert(Flag.RELEASED_TOO_OFTEN)
    else:
        _put_back(story, "released", {"reason": verb.reason}, ready_at=at, attempt=task.attempt - 1, releases=releases)
    return story.end()


def _put_back(story: _Story, type_: str, data: dict[str, Any], *, ready_at: datetime, **changes: Any) -> None:
    origin = story.task.origin or State.DELEGATED
    story.tell(type_, data, state=origin, claim=None, ready_at=ready_at, rings=0, **changes)
    story.extras["ring"] = story.task.state is State.DELEGATED and story.task.runtime == "run"


def _to_human(task: Task) -> dict[str, Any]:
    return {"state": State.NEEDS, "claim": None, "ready_at": None, "origin": None, "revision": task.revision}


def _resolve(task: Task, verb: verbs.Resolve, at: datetime) -> Change:
    verb.by.must_be_human("resolve a task")
    _must_not_be_ended(task)
    story = _Story(task, task, verb.by, at)
    story.tell("resolved", {"reason": verb.reason}, state=State.DONE, claim=None, has_output=verb.has_output)
    return story.end()


def _cancel(task: Task, verb: verbs.Cancel, at: datetime) -> Change:
    if verb.by.key != task.created_by:
        verb.by.must_be_human("cancel a task that it didn't create")
    _must_not_be_ended(task)
    story = _Story(task, task, verb.by, at)
    story.tell("cancelled", {"reason": verb.reason}, state=State.CANCELLED, claim=None)
    return story.end()


def _sweep(task: Task, verb: verbs.Sweep, at: datetime) -> Change:
    """Everything that is due on this task now, in one change; a change without events only moves the next look."""
    story = _Story(task, task, verb.by, at)
    reasons: list[str] = []
    if _deadline_passed(story):
        reasons.append("deadline_passed")
    if not story.task.is_ended:
        reasons += _sweep_claimed(story, verb) if task.claim else _sweep_untaken(story, verb)
    return story.end(reasons=tuple(reasons))


def _deadline_passed(story: _Story) -> bool:
    task = story.task
    if task.deadline is None or story.at < task.deadline or Flag.DEADLINE_PASSED in task.flags or task.is_ended:
        return False
    story.alert(Flag.DEADLINE_PASSED)
    if task.fail_on_deadline:
        failure = {"type": "timeout", "description": f"The deadline {rfc3339(task.deadline)} passed."}
        story.tell("handoff_failed", {"failure": failure}, state=State.FAILED, claim=None, has_failure=True)
        story.extras["failure"] = failure
    return True


def _sweep_claimed(story: _Story, verb: verbs.Sweep) -> list[str]:
    claim = story.task.claim
    if claim is None or not claim.is_over(story.at):
        return []
    task = story.task
    exhausted = task.attempt >= task.max_attempts
    to_human = exhausted or (verb.agent is not None and verb.agent.requeue == "needs")
    to = State.NEEDS if to_human else task.origin or State.DELEGATED
    used = f"attempt {task.attempt} of {task.max_attempts} was the last"
    action = f"re-queued to {to}, " + (used if exhausted else f"attempt {task.attempt + 1} of {task.max_attempts}")
    recovery = Recovery(
        number=task.recoveries + 1,
        at=story.at,
        reason=(
            f"lease of worker {claim.worker}, fence {claim.fence}, expired at {rfc3339(claim.expires_at)}, "
            f"last heartbeat {rfc3339(claim.heartbeat_at)}"
        ),
        prior_agent=claim.agent,
        prior_worker=claim.worker,
        prior_fence=claim.fence,
        last_checkpoint_id=None,
        action=action,
    )
    story.tell("heartbeat_lost", {"agent": claim.agent, "worker": claim.worker, "reason": recovery.reason})
    changes = {"recoveries": recovery.number}
    if to_human:
        story.tell("requeued", {"action": action}, **_to_human(task), **changes)
    else:
        _put_back(story, "requeued", {"action": action}, ready_at=story.at, **changes)
    if exhausted:
        story.alert(Flag.ATTEMPTS_EXHAUSTED)
    story.extras["recovery"] = recovery
    return ["lease_over"]


def _sweep_untaken(story: _Story, verb: verbs.Sweep) -> list[str]:
    task, reasons = story.task, []
    if task.state is State.NEXT and task.ready_at and story.at >= task.ready_at + NEXT_STALE_AFTER:
        story.alert(Flag.NEXT_STALE)
        reasons.append("next_stale")
    if not task.is_ready(story.at):
        return reasons
    agent = verb.agent
    if agent is None or not agent.active:
        story.alert(Flag.UNDELIVERABLE)
        reasons.append("undeliverable")
    else:
        story.task = story.task.changed(runtime=agent.runtime)
        if agent.is_run:
            story.extras["ring"] = True
            reasons.append("not_taken")
    too_old = unclaimed_since(task)
    if too_old is not None and story.at >= too_old and Flag.UNCLAIMED not in story.task.flags:
        story.alert(Flag.UNCLAIMED)
        reasons.append("unclaimed_too_long")
    story.task = story.task.changed(rings=task.rings + 1)
    return reasons


def _must_be(task: Task, verb: verbs.Verb, state: State) -> None:
    _must_not_be_ended(task)
    if task.state is not state:
        raise NotAllowed(task.id, verb.name, task.state)


def _must_not_be_ended(task: Task) -> None:
    if task.is_ended:
        raise TaskEnded(task.id, task.state)


def _revision_seen(task: Task, seen: int | None) -> int:
    if seen is not None and seen != task.revision:
        raise RevisionChanged(task.id, seen, task.revision)
    return task.revision


_RULES: dict[type[verbs.Verb], Callable[[Task, Any, datetime], Change]] = {
    verbs.Approve: _approve,
    verbs.ApproveNext: _approve_next,
    verbs.Undo: _undo,
    verbs.ClaimTask: _claim,
    verbs.Complete: _complete,
    verbs.Fail: _fail,
    verbs.Release: _release,
    verbs.Resolve: _resolve,
    verbs.Cancel: _cancel,
    verbs.Sweep: _sweep,
}
