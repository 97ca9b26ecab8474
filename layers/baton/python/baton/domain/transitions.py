"""The one place that decides what happens to a task (spec/lifecycle.md §1). Nothing else writes a state.

``transition(task, verb, at)`` either raises (see ``errors.py``; nothing has happened then) or answers with a
``Change``: the task as it will be and the events that tell of it. Committing it under ``change.before`` is the store's
business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain import verbs
from baton.domain.change import TO_HUMAN, Change, Story, put_back
from baton.domain.errors import NotAllowed, NotClaimable, NotYourAgent, RevisionChanged, TaskEnded, UndoWindowOver
from baton.domain.sweeping import sweep
from baton.domain.task import (
    EXHAUSTED_FLAGS,
    MAX_RELEASES,
    UNTAKEN_FLAGS,
    Claim,
    Flag,
    State,
    Task,
)
from baton.domain.times import seconds

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta

    from baton.domain.agent import Agent
    from baton.domain.principal import Principal
    from baton.domain.settings import Settings

FIRST_BACKOFF_SECONDS = 5
LAST_BACKOFF_SECONDS = 300


def create(new: Task, by: Principal, at: datetime, agent: Agent, settings: Settings) -> Change:
    """``new`` is in ``needs``; a human's asking or a standing approval of the target's moves it on (truth 8)."""
    story = Story(None, new, by, at)
    story.tell("handoff_initiated")
    if by.is_human:
        _delegate(story, {"revision": new.revision, "asked_by_human": True}, agent, settings, undo=settings.undo_window)
    elif agent.has_standing_approval:
        given = {"agent": agent.slug, "version": agent.version, "given_by": agent.updated_by}
        _delegate(story, {"revision": new.revision, "standing_approval": given}, agent, settings, undo=seconds(0))
    return story.end()


def imported(new: Task, by: Principal, at: datetime, page: str) -> Change:
    """A task that a human brings in from the tracker. Importing isn't approving."""
    by.must_be_human("import a task")
    story = Story(None, new, by, at)
    story.tell("handoff_imported", {"page": page})
    return story.end()


def transition(task: Task, verb: verbs.Verb, at: datetime) -> Change:
    return _RULES[type(verb)](task, verb, at)


def backoff(attempt: int) -> timedelta:
    """5 s, 20 s, 80 s … at most 5 minutes, before a failed attempt is tried again."""
    return seconds(min(FIRST_BACKOFF_SECONDS * 4 ** min(attempt - 1, 8), LAST_BACKOFF_SECONDS))


def _approve(task: Task, verb: verbs.Approve, at: datetime) -> Change:
    verb.by.must_be_human("approve a task")
    _must_be(task, verb, State.NEEDS)
    revision = _revision_seen(task, verb.revision)
    story = Story(task, task, verb.by, at)
    _delegate(story, {"revision": revision}, verb.agent, verb.settings, undo=verb.settings.undo_window)
    return story.end()


def _delegate(story: Story, data: dict[str, Any], agent: Agent | None, settings: Settings, *, undo: timedelta) -> None:
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
    story = Story(task, task, verb.by, at)
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
    story = Story(task, task, verb.by, at)
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
    story = Story(task, task, verb.by, at)
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
    story = Story(task, task, verb.by, at)
    story.tell("handoff_completed", state=State.DONE, claim=None, has_output=verb.has_output)
    return story.end()


def _fail(task: Task, verb: verbs.Fail, at: datetime) -> Change:
    task.current_claim(verb.claim_id, verb.by)
    story = Story(task, task, verb.by, at)
    data = {"failure": verb.failure, "retryable": verb.retryable, "attempt": task.attempt}
    if verb.retryable and task.attempt < task.max_attempts:
        put_back(story, "requeued", data, ready_at=at + backoff(task.attempt), has_failure=True)
    else:
        story.tell("handoff_failed", data, state=State.FAILED, claim=None, has_failure=True)
    return story.end(failure=verb.failure)


def _release(task: Task, verb: verbs.Release, at: datetime) -> Change:
    task.current_claim(verb.claim_id, verb.by)
    story = Story(task, task, verb.by, at)
    releases = task.releases + 1
    if releases >= MAX_RELEASES:
        story.tell("released", {"reason": verb.reason}, **TO_HUMAN, attempt=task.attempt - 1, releases=releases)
        story.alert(Flag.RELEASED_TOO_OFTEN)
    else:
        put_back(story, "released", {"reason": verb.reason}, ready_at=at, attempt=task.attempt - 1, releases=releases)
    return story.end()


def _resolve(task: Task, verb: verbs.Resolve, at: datetime) -> Change:
    verb.by.must_be_human("resolve a task")
    _must_not_be_ended(task)
    story = Story(task, task, verb.by, at)
    story.tell("resolved", {"reason": verb.reason}, state=State.DONE, claim=None, has_output=verb.has_output)
    return story.end()


def _cancel(task: Task, verb: verbs.Cancel, at: datetime) -> Change:
    if verb.by.key != task.created_by:
        verb.by.must_be_human("cancel a task that it didn't create")
    _must_not_be_ended(task)
    story = Story(task, task, verb.by, at)
    story.tell("cancelled", {"reason": verb.reason}, state=State.CANCELLED, claim=None)
    return story.end()


def _flag_closed_by_bot(task: Task, verb: verbs.FlagClosedByBot, at: datetime) -> Change:
    _must_not_be_ended(task)
    story = Story(task, task, verb.by, at)
    story.alert(Flag.CLOSED_BY_BOT)
    return story.end()


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
    verbs.FlagClosedByBot: _flag_closed_by_bot,
    verbs.Sweep: sweep,
}
