"""The state machine of a task (docs/spec/lifecycle.md §1). Nothing else sets ``Task.state``.

``transition(task, verb, at)`` raises (see ``errors.py``; nothing has changed then) or returns a ``Change``: the new
task and its events. The store commits it on the condition that the stored task is still ``change.before``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain import verbs
from baton.domain.change import OVER, TO_HUMAN, Change, Story, put_back
from baton.domain.errors import (
    CapabilityMismatch,
    CriteriaUnreported,
    InvalidInput,
    NotAllowed,
    NotClaimable,
    NotYourAgent,
    OwnHandoff,
    RevisionChanged,
    TaskEnded,
    UndoWindowOver,
)
from baton.domain.failure import failure_in
from baton.domain.route import Mode
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
MAX_DEFERRAL = seconds(366 * 86_400)


def create(
    new: Task,
    by: Principal,
    at: datetime,
    agent: Agent | None,
    settings: Settings,
    *,
    mode: Mode = Mode.DISPATCH,
    asked_directly: bool = True,
    standing: dict[str, Any] | None = None,
) -> Change:
    """Returns the change that creates ``new``, a task in ``needs``. A request by a human, ``standing`` or the target's
    standing approval approves it at once (invariant 8), for dispatch or for ``next`` as ``mode`` says.

    ``agent``: the target, None for open work. ``asked_directly``: False if the handoff follows from another action of
    ``by``: a human's request then approves nothing. ``standing``: a human's standing approval for this route, in the
    event's shape.
    """
    story = Story(None, new, by, at)
    story.tell("handoff_initiated")
    if mode is Mode.MANUAL:
        return story.end()
    data: dict[str, Any] | None = None
    undo = seconds(0)
    if by.is_human and asked_directly:
        data, undo = {"revision": new.revision, "asked_by_human": True}, settings.undo_window
    elif standing is not None:
        data = {"revision": new.revision, "standing_approval": standing}
    elif agent is not None and agent.has_standing_approval:
        approval = {"agent": agent.slug, "version": agent.version, "given_by": agent.updated_by}
        data = {"revision": new.revision, "standing_approval": approval}
    if data is not None and mode is Mode.NEXT:
        _set_next(story, data)
    elif data is not None:
        _delegate(story, data, agent, settings, undo=undo)
    return story.end()


def imported(new: Task, by: Principal, at: datetime, page: str) -> Change:
    """Returns the change that creates a task from a page of the tracker; not approved. Raises ``HumanNeeded``."""
    by.must_be_human("import a task")
    story = Story(None, new, by, at)
    story.tell("handoff_imported", {"page": page})
    return story.end()


def transition(task: Task, verb: verbs.Verb, at: datetime) -> Change:
    return _RULES[type(verb)](task, verb, at)


def backoff(attempt: int) -> timedelta:
    """Returns the pause before the next attempt: 5 s, 20 s, 80 s … at most 5 minutes."""
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
    if story.task.not_before is not None:
        ready_at = max(ready_at, story.task.not_before)
    story.tell(
        "approved",
        {"for": "dispatch", **data},
        state=State.DELEGATED,
        ready_at=ready_at,
        undo_until=story.at + undo if undo else None,
        deferred_until=None,
        attempt=0,
        releases=0,
        flags=story.task.flags - UNTAKEN_FLAGS - EXHAUSTED_FLAGS,
        rings=0,
        alert_after_seconds=settings.unclaimed_alert_seconds,
        runtime=story.task.runtime if agent is None else agent.runtime,
    )
    if story.task.target_agent is None:
        return
    if agent is None or not agent.active:
        story.alert(Flag.UNDELIVERABLE)
    else:
        story.extras["ring"] = agent.is_run


def _approve_next(task: Task, verb: verbs.ApproveNext, at: datetime) -> Change:
    verb.by.must_be_human("approve a task")
    _must_be(task, verb, State.NEEDS)
    story = Story(task, task, verb.by, at)
    _set_next(story, {"revision": _revision_seen(task, verb.revision)})
    return story.end()


def _set_next(story: Story, data: dict[str, Any]) -> None:
    story.tell(
        "approved",
        {"for": "next", **data},
        state=State.NEXT,
        ready_at=story.at,
        undo_until=None,
        deferred_until=None,
        attempt=0,
        releases=0,
        flags=story.task.flags - UNTAKEN_FLAGS - EXHAUSTED_FLAGS,
    )


def _undo(task: Task, verb: verbs.Undo, at: datetime) -> Change:
    verb.by.must_be_human("undo an approval")
    _must_be(task, verb, State.DELEGATED)
    if task.undo_until is None or at >= task.undo_until:
        raise UndoWindowOver(task.id)
    story = Story(task, task, verb.by, at)
    story.tell("approval_undone", state=State.NEEDS, ready_at=None, undo_until=None)
    return story.end()


def _defer(task: Task, verb: verbs.Defer, at: datetime) -> Change:
    verb.by.must_be_human("defer a task")
    _must_be(task, verb, State.NEEDS)
    revision = _revision_seen(task, verb.revision)
    if not at < verb.until <= at + MAX_DEFERRAL:
        raise InvalidInput("until", f"must be in the future, and at most {MAX_DEFERRAL.days} days ahead")
    story = Story(task, task, verb.by, at)
    story.tell("deferred", {"revision": revision}, deferred_until=verb.until)
    return story.end()


def _dismiss(task: Task, verb: verbs.Dismiss, at: datetime) -> Change:
    verb.by.must_be_human("dismiss a task")
    _must_be(task, verb, State.NEEDS)
    story = Story(task, task, verb.by, at)
    story.tell("dismissed", {"reason": verb.reason}, state=State.CANCELLED, deferred_until=None)
    return story.end()


def _split(task: Task, verb: verbs.Split, at: datetime) -> Change:
    verb.by.must_be_human("split a task")
    _must_be(task, verb, State.NEEDS)
    revision = _revision_seen(task, verb.revision)
    story = Story(task, task, verb.by, at)
    data = {"revision": revision, "parts": list(verb.parts)}
    story.tell("split", data, state=State.CANCELLED, deferred_until=None, successors=verb.parts)
    return story.end()


def _claim(task: Task, verb: verbs.ClaimTask, at: datetime) -> Change:
    verb.by.acting_for(verb.agent)
    if task.target_agent is not None and verb.agent != task.target_agent:
        raise NotYourAgent(task.target_agent)
    if task.target_agent is None and verb.agent == task.source_agent:
        raise OwnHandoff(task.id)
    task.must_be_claimable(at)
    missing = verb.skills.lacks(task.requires) if verb.skills is not None else ()
    if missing:
        raise CapabilityMismatch(verb.agent, missing, ())
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
        slot=verb.slot,
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
        started_at=task.started_at or at,
        takers=task.takers_with(verb.agent),
        attempt=task.attempt + 1,
        flags=task.flags - UNTAKEN_FLAGS,
        rings=0,
    )
    return story.end()


def _save_checkpoint(task: Task, verb: verbs.SaveCheckpoint, at: datetime) -> Change:
    task.current_claim(verb.claim_id, verb.by)
    story = Story(task, task, verb.by, at)
    _record_checkpoint(story, verb.checkpoint_id, verb.step_name)
    return story.end()


def _record_checkpoint(story: Story, checkpoint_id: str, step_name: str) -> None:
    """Records the checkpoint. It is progress, so it sets the count of releases back to 0."""
    data = {"checkpoint_id": checkpoint_id, "step_name": step_name}
    fields = {"last_checkpoint_id": checkpoint_id, "checkpoints": story.task.checkpoints + 1, "releases": 0}
    story.tell("checkpoint_saved", data, **fields)


def _complete(task: Task, verb: verbs.Complete, at: datetime) -> Change:
    """Raises ``CriteriaUnreported`` unless every criterion has its report (docs/spec/protocol.md §4)."""
    task.current_claim(verb.claim_id, verb.by)
    reported = {criterion for criterion, _ in verb.reports}
    unreported = tuple(criterion for criterion in verb.criteria if criterion not in reported)
    if unreported:
        raise CriteriaUnreported(unreported)
    unmet = [criterion for criterion, met in verb.reports if not met]
    data: dict[str, Any] = {"completion_id": verb.completion_id, "status": "partial" if unmet else "success"}
    if unmet:
        data["unmet"] = len(unmet)
    story = Story(task, task, verb.by, at)
    story.tell("handoff_completed", data, state=State.DONE, claim=None, has_output=verb.has_output)
    return story.end()


def _fail(task: Task, verb: verbs.Fail, at: datetime) -> Change:
    task.current_claim(verb.claim_id, verb.by)
    story = Story(task, task, verb.by, at)
    if verb.checkpoint_id is not None:
        _record_checkpoint(story, verb.checkpoint_id, f"partial_{task.claim.agent if task.claim else ''}")
    failure = failure_in(verb.failure)
    data = {
        "failure": {name: failure[name] for name in ("type", "description") if name in failure},
        "failure_id": verb.failure_id,
        "checkpoint_id": verb.checkpoint_id,
        "retryable": verb.retryable,
        "attempt": task.attempt,
    }
    if verb.retryable and task.attempt < task.max_attempts:
        put_back(story, "requeued", data, ready_at=at + backoff(task.attempt), has_failure=True)
    else:
        _end_unsuccessfully(story, "handoff_failed", data, State.FAILED, verb)
    return story.end(failure=verb.failure)


def _end_unsuccessfully(
    story: Story, type_: str, data: dict[str, Any], state: State, verb: verbs.Fail | verbs.Reject
) -> None:
    """Ends the task without success. A rollback that continues a branch is recorded as the task's successor."""
    if verb.rollback is not None:
        story.tell("rollback_initiated", verb.rollback)
    fields: dict[str, Any] = {"state": state, "claim": None, "has_failure": True}
    story.tell(type_, data, **fields, successors=() if verb.successor is None else (verb.successor,))


def _reject(task: Task, verb: verbs.Reject, at: datetime) -> Change:
    task.current_claim(verb.claim_id, verb.by)
    story = Story(task, task, verb.by, at)
    data = {"reason": verb.reason, "failure_id": verb.failure_id}
    _end_unsuccessfully(story, "handoff_rejected", data, State.REJECTED, verb)
    return story.end(failure=verb.failure)


def _transfer(task: Task, verb: verbs.Transfer, at: datetime) -> Change:
    task.current_claim(verb.claim_id, verb.by)
    story = Story(task, task, verb.by, at)
    data = {"to": verb.target, "new_task_id": verb.successor}
    story.tell("handoff_transferred", data, state=State.DONE, claim=None, has_output=True, successors=(verb.successor,))
    return story.end()


def _wait_for(task: Task, verb: verbs.WaitFor, at: datetime) -> Change:
    """Takes back the attempt that the claim counted: a wait is no attempt."""
    task.current_claim(verb.claim_id, verb.by)
    story = Story(task, task, verb.by, at)
    wait = verb.wait
    data: dict[str, Any] = {"for": "callback" if wait.is_for_callback else "branches", "wait": wait.number}
    fields = {"state": State.WAITING, "claim": None, "ready_at": None, "attempt": task.attempt - 1}
    story.tell("waiting", data, **fields, wait=wait, waits=wait.number)
    return story.end()


def _resume(task: Task, verb: verbs.Resume, at: datetime) -> Change:
    """Ends the named wait, once: sent by a join or a callback. Raises ``NotAllowed`` if it is over."""
    _must_be(task, verb, State.WAITING)
    if task.wait is None or task.wait.number != verb.wait:
        raise NotAllowed(task.id, verb.name, task.state)
    story = Story(task, task, verb.by, at)
    put_back(story, "resumed", {"by": verb.how, "wait": verb.wait}, ready_at=at, wait=None)
    return story.end(brought=verb.brought)


def _release(task: Task, verb: verbs.Release, at: datetime) -> Change:
    task.current_claim(verb.claim_id, verb.by)
    story = Story(task, task, verb.by, at)
    releases = 0 if verb.has_progressed else task.releases + 1
    counts = {"attempt": task.attempt - 1, "releases": releases}
    if releases >= MAX_RELEASES:
        story.tell("released", {"reason": verb.reason}, **TO_HUMAN, **counts)
        story.alert(Flag.RELEASED_TOO_OFTEN)
    else:
        put_back(story, "released", {"reason": verb.reason}, ready_at=verb.again_at or at, **counts)
    return story.end()


def _resolve(task: Task, verb: verbs.Resolve, at: datetime) -> Change:
    verb.by.must_be_human("resolve a task")
    _must_not_be_ended(task)
    story = Story(task, task, verb.by, at)
    story.tell("resolved", {"reason": verb.reason}, state=State.DONE, **OVER, has_output=verb.has_output)
    return story.end()


def _cancel(task: Task, verb: verbs.Cancel, at: datetime) -> Change:
    if verb.by.key != task.created_by and verb.ancestor is None:
        verb.by.must_be_human("cancel a task that it didn't create")
    _must_not_be_ended(task)
    story = Story(task, task, verb.by, at)
    data = {"reason": verb.reason, "ancestor": verb.ancestor}
    story.tell("cancelled", data, state=State.CANCELLED, **OVER)
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
    verbs.Defer: _defer,
    verbs.Dismiss: _dismiss,
    verbs.Split: _split,
    verbs.ClaimTask: _claim,
    verbs.SaveCheckpoint: _save_checkpoint,
    verbs.Complete: _complete,
    verbs.Fail: _fail,
    verbs.Reject: _reject,
    verbs.Transfer: _transfer,
    verbs.WaitFor: _wait_for,
    verbs.Resume: _resume,
    verbs.Release: _release,
    verbs.Resolve: _resolve,
    verbs.Cancel: _cancel,
    verbs.FlagClosedByBot: _flag_closed_by_bot,
    verbs.Sweep: sweep,
}
