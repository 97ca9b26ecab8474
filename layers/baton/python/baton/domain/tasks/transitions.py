"""The state machine of a task (docs/spec/lifecycle.md §1). Nothing else sets ``Task.state``.

``transition(task, command, at)`` raises (see ``errors.py``; nothing has changed then) or returns a ``Change``: the new
task and its events. The store commits it on the condition that the stored task is still ``change.before``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.agents.agent import Agent, Roster, service_version_of
from baton.domain.agents.guards import Guards
from baton.domain.agents.route import Mode
from baton.domain.newer import is_known
from baton.domain.settings.settings import Settings
from baton.domain.task_state import State
from baton.domain.tasks import commands, tail
from baton.domain.tasks.approval_rules import (
    Approved,
    ClaimRules,
    Counted,
    Handed,
    Origin,
    adds_approval,
    as_came,
    counts_fully,
    counts_with_others,
)
from baton.domain.tasks.calls import Seen
from baton.domain.tasks.change import CLEARED, TO_HUMAN, Change, EventRecorder, requeue
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.failure import failure_in
from baton.domain.tasks.question_rules import ask, decide, revoke_approval, use_approval
from baton.domain.tasks.sweep_rules import sweep
from baton.domain.tasks.task import EXHAUSTED_FLAGS, MAX_RELEASES, UNTAKEN_FLAGS, Claim, Flag, Task, already_claimed

FIRST_BACKOFF_SECONDS = 5
LAST_BACKOFF_SECONDS = 300
MAX_DEFERRAL = times.seconds(366 * 86_400)


@dataclass(frozen=True, slots=True)
class Dispatch:
    """What decides whether a new task is approved at once."""

    agent: Agent | None  # the target; None for open work
    settings: Settings
    mode: Mode = Mode.DISPATCH
    asked_directly: bool = True  # False if it follows from another action: a human's request then approves nothing
    standing: dict[str, Any] | None = None  # a human's standing approval for this route, in the event's shape
    # Approval rules also compare these facts: the other agents, the agents above the task in its chain, and its origin.
    roster: Roster = field(default_factory=Roster)
    sources: frozenset[str] = frozenset()
    origin: Origin | None = None
    speakers: tuple[str, ...] = ()  # keys of the earlier writers in its conversation
    authors: tuple[str, ...] = ()  # keys of a released request's authors; empty for the caller's own request
    came_as: int | None = None  # the target's version that people know from the work that this follows; None: as it is

    @property
    def roster_version(self) -> int:
        """The version of the roster that an approval is compared with. 0, an unknown one, if the target has changed
        between the two reads."""
        is_same = (
            self.agent is None or service_version_of(self.roster.find(self.agent.slug)) == self.agent.service_version
        )
        return self.roster.version if is_same else 0

    def came(self, new: Task, by: Principal, at: datetime) -> Task:
        """Returns the new task with its authors and its needs by the rules."""
        new = new.changed(co_authors=self._co_authors(new, by))
        guards = Guards(self.roster, self.settings)
        handed = Handed(guards=guards, authors=new.authors, sources=self.sources, origin=self.origin)
        version = self.roster.version if new.target_agent is None else service_version_of(self.agent)
        return as_came(new, at, handed, version if self.came_as is None else min(version, self.came_as))

    def _co_authors(self, new: Task, by: Principal) -> tuple[str, ...]:
        """Returns the people who count as authors besides ``created_by``: the authors of the task that it comes from,
        the earlier speakers of its conversation, and the authors of the request."""
        before = self.speakers if self.origin is None else self.origin.authors
        keys = (*before, *(self.authors or by.authors))
        return tuple(dict.fromkeys(each for each in keys if each.startswith("human:") and each != new.created_by))


def create(new: Task, by: Principal, at: datetime, dispatch: Dispatch) -> Change:
    """Returns the change that creates ``new``, a task in ``needs``. Three things approve it immediately (invariant 8):
    the request of a human who may approve, ``standing``, and the target's standing approval. Its mode says whether for
    dispatch or for ``next``. If a rule of the settings asks for more, the request counts as its human's approval, if
    that human may approve."""
    agent, settings, standing = dispatch.agent, dispatch.settings, dispatch.standing
    recorder = EventRecorder(None, dispatch.came(new, by, at), by, at)
    recorder.record(EventType.HANDOFF_INITIATED)
    if dispatch.mode is Mode.MANUAL or not is_known(dispatch.mode):
        return recorder.end()
    data: dict[str, Any] | None = None
    undo, human = times.seconds(0), ""
    if by.may_do(Deed.APPROVE) and dispatch.asked_directly:
        data, undo, human = {"revision": new.revision, "asked_by_human": True}, settings.undo_window, by.key
    elif standing is not None:
        data, human = {"revision": new.revision, "standing_approval": standing}, standing["given_by"]
    elif agent is not None and agent.standing is not None:
        data, human = {"revision": new.revision, "standing_approval": agent.standing}, agent.approval_giver
    if data is None:
        return recorder.end()
    is_for_next = dispatch.mode is Mode.NEXT
    what = Approved("next" if is_for_next else "dispatch", service_version_of(agent), dispatch.roster_version)
    counted = counts_fully(recorder, human, what, data, settings)
    if counted is None:
        return recorder.end()
    if is_for_next:
        _set_next(recorder, counted, agent)
    else:
        _delegate(recorder, counted, agent, settings, undo=undo)
    return recorder.end()


def imported(new: Task, by: Principal, at: datetime, page: str, dispatch: Dispatch) -> Change:
    """Returns the change that creates a task from a page of the tracker; not approved. Raises ``HumanNeeded``."""
    by.must_have(Deed.IMPORT_TASK)
    recorder = EventRecorder(None, dispatch.came(new, by, at), by, at)
    recorder.record(EventType.HANDOFF_IMPORTED, {"page": page})
    return recorder.end()


def transition(task: Task, command: commands.TaskCommand, at: datetime) -> Change:
    """Raises ``WrittenByNewer`` for a task in a state that only a newer version of Baton knows: that one has to act on
    it."""
    if not is_known(task.state):
        raise errors.WrittenByNewer
    change = _RULES[type(command)](task, command, at)
    return replace(change, by_holder=isinstance(command, commands.WorkerCommand))


def backoff(attempt: int) -> timedelta:
    """Returns the pause before the next attempt: 5 s, 20 s, 80 s … at most 5 minutes."""
    return times.seconds(min(FIRST_BACKOFF_SECONDS * 4 ** min(attempt - 1, 8), LAST_BACKOFF_SECONDS))


def release_pause(releases: int) -> timedelta:
    """Returns the pause after a release that names no time: none after the first, by which a worker that stops gives
    its work to another; then that of failures, so that no worker takes and releases the same task all the time."""
    return backoff(releases - 1) if releases > 1 else times.seconds(0)


def _approve(task: Task, command: commands.Approve, at: datetime) -> Change:
    """Approves a task that waits for it. An approval of ready work counts for the agents that rules hold back from
    it."""
    command.by.must_have(Deed.APPROVE)
    is_held = task.state is State.DELEGATED and bool(command.held)
    if not is_held:
        _must_be(task, command, State.NEEDS)
    seen = _as_seen(task, command.seen) | agent_as_seen(task, command.seen, command.agent, command.changed)
    recorder = EventRecorder(task, task, command.by, at)
    if is_held:
        adds_approval(recorder, command, seen, command.settings.groups)
        return recorder.end(notifies=task.is_run)
    what = Approved("dispatch", service_version_of(command.agent), command.roster)
    if counted := counts_with_others(recorder, what, seen, command.settings, command.former):
        _delegate(recorder, counted, command.agent, command.settings, undo=command.settings.undo_window)
    return recorder.end()


def _delegate(
    recorder: EventRecorder, counted: Counted, agent: Agent | None, settings: Settings, *, undo: timedelta
) -> None:
    ready_at = recorder.at + undo
    if recorder.task.not_before is not None:
        ready_at = max(ready_at, recorder.task.not_before)
    recorder.record(
        EventType.APPROVED,
        {"for": "dispatch", **counted.data},
        state=State.DELEGATED,
        ready_at=ready_at,
        undo_until=recorder.at + undo if undo else None,
        deferred_until=None,
        attempt=0,
        releases=0,
        flags=recorder.task.flags - UNTAKEN_FLAGS - EXHAUSTED_FLAGS,
        **_approved_as(recorder.task, service_version_of(agent)),
        approval=recorder.task.approval and recorder.task.approval.anew(),
        ok_by=counted.by,
        rings=0,
        alert_after_seconds=settings.unclaimed_alert_seconds,
        runtime=recorder.task.meta.runtime if agent is None else agent.runtime,
    )
    if recorder.task.target_agent is None:
        return
    if agent is None or not agent.active:
        recorder.alert(Flag.UNDELIVERABLE)
    else:
        recorder.extras["notifies"] = agent.is_run


def _approve_next(task: Task, command: commands.ApproveNext, at: datetime) -> Change:
    command.by.must_have(Deed.APPROVE)
    is_held = task.state is State.NEXT and bool(command.held)
    if not is_held:
        _must_be(task, command, State.NEEDS)
    seen = _as_seen(task, command.seen) | agent_as_seen(task, command.seen, command.agent, command.changed)
    recorder, settings = EventRecorder(task, task, command.by, at), command.settings or Settings()
    use = Approved("next", service_version_of(command.agent), command.roster)
    if is_held:
        adds_approval(recorder, command, seen, settings.groups)
    elif counted := counts_with_others(recorder, use, seen, settings, command.former):
        _set_next(recorder, counted, command.agent)
    return recorder.end()


def _set_next(recorder: EventRecorder, counted: Counted, agent: Agent | None) -> None:
    recorder.record(
        EventType.APPROVED,
        {"for": "next", **counted.data},
        state=State.NEXT,
        ready_at=recorder.at,
        undo_until=None,
        deferred_until=None,
        attempt=0,
        releases=0,
        flags=recorder.task.flags - UNTAKEN_FLAGS - EXHAUSTED_FLAGS,
        **_approved_as(recorder.task, service_version_of(agent)),
        approval=recorder.task.approval and recorder.task.approval.anew(),
        ok_by=counted.by,
    )


def _approved_as(task: Task, version: int) -> dict[str, Any]:
    if task.target_agent is None:  # each approval of open work keeps the version of the roster
        return {}
    return {"approved_as": version, "came_as": None if version == task.shown_as else task.shown_as}


def _undo(task: Task, command: commands.Undo, at: datetime) -> Change:
    command.by.must_have(Deed.UNDO)
    _must_be(task, command, State.DELEGATED)
    if task.undo_until is None or at >= task.undo_until:
        raise errors.UndoWindowOver(task.id)
    recorder = EventRecorder(task, task, command.by, at)
    recorder.record(EventType.APPROVAL_UNDONE, state=State.NEEDS, ready_at=None, undo_until=None)
    return recorder.end()


def _send_back(task: Task, command: commands.SendBack, at: datetime) -> Change:
    _must_be(task, command, State.DELEGATED)
    target, recorder = command.target, EventRecorder(task, task, command.by, at)
    data = {"reason": "agent_changed", "agent": target.slug, "version": target.service_version}
    data |= {"changed_by": target.service_by, "fields": list(target.service_fields)}
    recorder.record(EventType.APPROVAL_UNDONE, data, **TO_HUMAN, undo_until=None)
    return recorder.end()


def _defer(task: Task, command: commands.Defer, at: datetime) -> Change:
    command.by.must_have(Deed.DEFER)
    _must_be(task, command, State.NEEDS)
    if task.approval is not None:  # a person of a rule's next group would wait for their turn in the dark
        task.approval.must_name(task.id, command.by, command.groups)
    seen = _as_seen(task, command.seen)
    if not at < command.until <= at + MAX_DEFERRAL:
        raise errors.InvalidInput("until", f"must be in the future, and at most {MAX_DEFERRAL.days} days ahead")
    recorder = EventRecorder(task, task, command.by, at)
    recorder.record(EventType.DEFERRED, seen, deferred_until=command.until)
    return recorder.end()


def _dismiss(task: Task, command: commands.Dismiss, at: datetime) -> Change:
    command.by.must_have(Deed.DISMISS)
    _must_be(task, command, State.NEEDS)
    recorder = EventRecorder(task, task, command.by, at)
    recorder.record(EventType.DISMISSED, {"reason": command.reason}, state=State.CANCELLED, deferred_until=None)
    return recorder.end()


def _split(task: Task, command: commands.Split, at: datetime) -> Change:
    command.by.must_have(Deed.SPLIT)
    _must_be(task, command, State.NEEDS)
    seen = _as_seen(task, command.seen)
    recorder = EventRecorder(task, task, command.by, at)
    data = {**seen, "parts": list(command.parts)}
    recorder.record(EventType.SPLIT, data, state=State.CANCELLED, deferred_until=None, successors=command.parts)
    return recorder.end()


def _claim(task: Task, command: commands.ClaimTask, at: datetime) -> Change:
    command.by.acting_for(command.agent)
    if command.resumes is not None:
        return _resume_claim(task, command, command.resumes, at)
    if task.target_agent is not None and command.agent != task.target_agent:
        raise errors.NotYourAgent(task.target_agent)
    if task.target_agent is None and command.agent == task.source_agent:
        raise errors.OwnHandoff(task.id)
    task.must_be_claimable(at)
    missing = command.skills.lacks(task.requires) if command.skills is not None else ()
    if missing:
        raise errors.CapabilityMismatch(command.agent, missing, ())
    _must_be_met(task, command)
    claim = _new_claim(task, command, at)
    recorder = EventRecorder(task, task, command.by, at)
    recorder.record(
        EventType.HANDOFF_RECEIVED,
        {"agent": command.agent, "worker": command.worker, **_ruled(command.rules)},
        state=State.CLAIMED,
        origin=task.state,
        undo_until=None,
        claim=claim,
        fence=claim.fence,
        started_at=task.started_at or at,
        takers=task.takers_with(command.agent),
        attempt=task.attempt + 1,
        flags=task.flags - UNTAKEN_FLAGS,
        rings=0,
    )
    return recorder.end()


def _must_be_met(task: Task, command: commands.ClaimTask) -> None:
    if command.rules is not None:
        command.rules.must_be_met(task, command.agent)


def _ruled(rules: ClaimRules | None) -> dict[str, Any]:
    """Returns the approval fields of a claim's event: the people who met the rules with their approvals."""
    return {"approved_by": sorted(rules.givers)} if rules is not None and rules.asked else {}


def _new_claim(task: Task, command: commands.ClaimTask, at: datetime) -> Claim:
    """Raises ``NotClaimable`` for a task whose deadline fails it."""
    lease_seconds = min(command.first_lease_seconds or command.lease_seconds, command.lease_seconds)
    expires_at = at + times.seconds(lease_seconds)
    if task.hard_deadline is not None:
        if task.hard_deadline <= at:
            raise errors.NotClaimable(task.id, task.state, None)
        expires_at = min(expires_at, task.hard_deadline)
    return Claim(
        claim_id=command.claim_id,
        fence=task.fence + 1,
        agent=command.agent,
        worker=command.worker,
        principal=command.by.key,
        lease_seconds=command.lease_seconds,
        claimed_at=at,
        heartbeat_at=at,
        expires_at=expires_at,
        slot=command.slot,
    )


def _resume_claim(task: Task, command: commands.ClaimTask, fence: int, at: datetime) -> Change:
    """Continues the claim of this fence under a new one: the same attempt, and the old one is stale. An expired lease
    doesn't matter, as it could be renewed.

    Raises:
        NobodyHolds, ClaimChanged.
        AlreadyClaimed: another principal made the claim.
        ApprovalNeeded: a rule that is newer than the claim isn't met.
    """
    held = _claim_seen(task, fence)
    if (held.agent, held.principal) != (command.agent, command.by.key):
        raise already_claimed(task, held)
    _must_be_met(task, command)
    claim = replace(_new_claim(task, command, at), slot=held.slot, kept_bytes=held.kept_bytes)
    recorder = EventRecorder(task, task, command.by, at)
    data = {"agent": command.agent, "worker": command.worker, "resumed": fence}
    recorder.record(EventType.HANDOFF_RECEIVED, data, claim=claim, fence=claim.fence)
    return recorder.end()


def _save_checkpoint(task: Task, command: commands.SaveCheckpoint, at: datetime) -> Change:
    """Also extends the claim, as every command does that names it and leaves it; as a heartbeat's, that isn't told."""
    claim = task.current_claim(command.claim_id, command.by)
    recorder = EventRecorder(task, task, command.by, at)
    if command.is_run_state:
        data = {"checkpoint_id": command.checkpoint_id, "step_name": command.step_name, "kind": "run_state"}
        recorder.record(EventType.CHECKPOINT_SAVED, data, run_state_id=command.checkpoint_id, releases=0)
    else:
        _record_checkpoint(recorder, command.checkpoint_id, command.step_name)
    recorder.task = recorder.task.changed(claim=claim.renewed(at, None, task.hard_deadline))
    return recorder.end()


def _record_checkpoint(recorder: EventRecorder, checkpoint_id: str, step_name: str) -> None:
    """Records the checkpoint. It is progress, so it sets the count of releases back to 0."""
    data = {"checkpoint_id": checkpoint_id, "step_name": step_name}
    fields = {"last_checkpoint_id": checkpoint_id, "checkpoints": recorder.task.checkpoints + 1, "releases": 0}
    recorder.record(EventType.CHECKPOINT_SAVED, data, **fields)


def _complete(task: Task, command: commands.Complete, at: datetime) -> Change:
    """Raises ``CriteriaUnreported`` unless every criterion has its report (docs/spec/protocol.md §4)."""
    task.current_claim(command.claim_id, command.by)
    reported = {criterion for criterion, _ in command.reports}
    unreported = tuple(criterion for criterion in command.criteria if criterion not in reported)
    if unreported:
        raise errors.CriteriaUnreported(unreported)
    unmet = [criterion for criterion, met in command.reports if not met]
    data: dict[str, Any] = {"completion_id": command.completion_id, "status": "partial" if unmet else "success"}
    if unmet:
        data["unmet"] = len(unmet)
    data["output_digest"] = command.output_digest
    recorder = EventRecorder(task, task, command.by, at)
    recorder.record(EventType.HANDOFF_COMPLETED, data, state=State.DONE, claim=None, has_output=command.has_output)
    return recorder.end()


def _fail(task: Task, command: commands.Fail, at: datetime) -> Change:
    task.current_claim(command.claim_id, command.by)
    recorder = EventRecorder(task, task, command.by, at)
    if command.checkpoint_id is not None:
        _record_checkpoint(recorder, command.checkpoint_id, f"partial_{task.claim.agent if task.claim else ''}")
    failure = failure_in(command.failure)
    data = {
        "failure": {name: failure[name] for name in ("type", "description") if name in failure},
        "failure_id": command.failure_id,
        "checkpoint_id": command.checkpoint_id,
        "retryable": command.retryable,
        "attempt": task.attempt,
    }
    if command.retryable and task.attempt < task.max_attempts:
        requeue(recorder, EventType.REQUEUED, data, ready_at=at + backoff(task.attempt), has_failure=True)
    else:
        _end_unsuccessfully(recorder, EventType.HANDOFF_FAILED, data, State.FAILED, command)
    return recorder.end(failure=command.failure)


def _end_unsuccessfully(
    recorder: EventRecorder,
    type_: EventType,
    data: dict[str, Any],
    state: State,
    command: commands.Fail | commands.Reject,
) -> None:
    """Ends the task without success. A rollback that continues a branch is recorded as the task's successor."""
    if command.rollback is not None:
        recorder.record(EventType.ROLLBACK_INITIATED, command.rollback)
    fields: dict[str, Any] = {"state": state, "claim": None, "has_failure": True}
    recorder.record(type_, data, **fields, successors=() if command.successor is None else (command.successor,))


def _reject(task: Task, command: commands.Reject, at: datetime) -> Change:
    task.current_claim(command.claim_id, command.by)
    recorder = EventRecorder(task, task, command.by, at)
    data = {"reason": command.reason, "failure_id": command.failure_id}
    _end_unsuccessfully(recorder, EventType.HANDOFF_REJECTED, data, State.REJECTED, command)
    return recorder.end(failure=command.failure)


def _transfer(task: Task, command: commands.Transfer, at: datetime) -> Change:
    task.current_claim(command.claim_id, command.by)
    recorder = EventRecorder(task, task, command.by, at)
    data = {"to": command.target, "new_task_id": command.successor, "output_digest": command.output_digest}
    fields = {"state": State.DONE, "claim": None, "has_output": True, "successors": (command.successor,)}
    recorder.record(EventType.HANDOFF_TRANSFERRED, data, **fields)
    return recorder.end()


def _wait_for(task: Task, command: commands.WaitFor, at: datetime) -> Change:
    """Takes back the attempt that the claim counted: a wait is no attempt."""
    task.current_claim(command.claim_id, command.by)
    recorder = EventRecorder(task, task, command.by, at)
    wait = command.wait
    data: dict[str, Any] = {"for": wait.what, "wait": wait.number}
    fields = {"state": State.WAITING, "claim": None, "ready_at": None, "attempt": task.attempt - 1}
    recorder.record(EventType.WAITING, data, **fields, wait=wait, waits=wait.number)
    return recorder.end()


def _resume(task: Task, command: commands.Resume, at: datetime) -> Change:
    """Ends the named wait, once: sent by a join or a callback. Raises ``NotAllowed`` if it is over."""
    _must_be(task, command, State.WAITING)
    if task.wait is None or task.wait.number != command.wait:
        raise errors.NotAllowed(task.id, command.name, task.state)
    recorder = EventRecorder(task, task, command.by, at)
    requeue(recorder, EventType.RESUMED, {"by": command.how, "wait": command.wait}, ready_at=at, wait=None)
    return recorder.end(resume_payload=command.resume_payload)


def _release(task: Task, command: commands.ReleaseTask, at: datetime) -> Change:
    task.current_claim(command.claim_id, command.by)
    recorder = EventRecorder(task, task, command.by, at)
    releases = 0 if command.has_progressed else task.releases + 1
    ready_at = at + release_pause(releases) if command.again_at is None else max(command.again_at, at)
    _give_back(recorder, command.reason, releases, ready_at)
    return recorder.end()


def _release_claim(task: Task, command: commands.ReleaseClaim, at: datetime) -> Change:
    command.by.must_have(Deed.RELEASE_CLAIM)
    _claim_seen(task, command.fence)
    recorder = EventRecorder(task, task, command.by, at)
    _give_back(recorder, command.reason, task.releases + 1, at)
    return recorder.end()


def _claim_seen(task: Task, fence: int) -> Claim:
    """Returns the claim. Raises ``TaskEnded``, and ``NobodyHolds`` or ``ClaimChanged`` unless the claim that was seen
    is the current one."""
    _must_not_be_ended(task)
    if task.claim is None:
        raise errors.NobodyHolds(task.id, task.state, fence, tail.who_ended(task, fence))
    if task.claim.fence != fence:
        raise errors.ClaimChanged(task.id, fence, task.claim.fence, task.claim.agent)
    return task.claim


def _give_back(recorder: EventRecorder, reason: str | None, releases: int, ready_at: datetime) -> None:
    """Ends the claim. The attempt doesn't count; a task that comes back again and again goes to a human."""
    counts = {"attempt": recorder.task.attempt - 1, "releases": releases}
    if releases >= MAX_RELEASES:
        recorder.record(EventType.RELEASED, {"reason": reason}, **TO_HUMAN, **counts)
        recorder.alert(Flag.RELEASED_TOO_OFTEN)
    else:
        requeue(recorder, EventType.RELEASED, {"reason": reason}, ready_at=ready_at, **counts)


def _resolve(task: Task, command: commands.Resolve, at: datetime) -> Change:
    command.by.must_have(Deed.RESOLVE)
    _must_not_be_ended(task)
    recorder = EventRecorder(task, task, command.by, at)
    data = {"reason": command.reason, "output_digest": command.output_digest}
    recorder.record(EventType.RESOLVED, data, state=State.DONE, **CLEARED, has_output=command.has_output)
    return recorder.end()


def _cancel(task: Task, command: commands.Cancel, at: datetime) -> Change:
    if command.by.key != task.created_by and command.ancestor is None:
        command.by.must_have(Deed.CANCEL)
    _must_not_be_ended(task)
    recorder = EventRecorder(task, task, command.by, at)
    data = {"reason": command.reason, "ancestor": command.ancestor}
    recorder.record(EventType.CANCELLED, data, state=State.CANCELLED, **CLEARED)
    return recorder.end()


def _overtake(task: Task, command: commands.Overtake, at: datetime) -> Change:
    """Only what waits for a human is closed: what one has approved goes on."""
    if not command.by.is_own_part:
        command.by.must_have(Deed.CLOSE_OVERTAKEN)
    _must_be(task, command, State.NEEDS)
    recorder = EventRecorder(task, task, command.by, at)
    data = {"reason": command.reason, "ancestor": None, "overtaken_by": command.overtaken_by}
    recorder.record(EventType.CANCELLED, data, state=State.CANCELLED, **CLEARED)
    return recorder.end()


def _flag_closed_by_bot(task: Task, command: commands.FlagClosedByBot, at: datetime) -> Change:
    _must_not_be_ended(task)
    recorder = EventRecorder(task, task, command.by, at)
    recorder.alert(Flag.CLOSED_BY_BOT)
    return recorder.end()


def _must_be(task: Task, command: commands.TaskCommand, state: State) -> None:
    _must_not_be_ended(task)
    if task.state is not state:
        raise errors.NotAllowed(task.id, command.name, task.state)


def _must_not_be_ended(task: Task) -> None:
    if task.is_ended:
        raise errors.TaskEnded(task.id, task.state)


def _as_seen(task: Task, seen: Seen | None) -> dict[str, Any]:
    """Returns what the event says of the content that was decided on. Raises ``RevisionChanged`` if another one was
    seen."""
    if seen is None:
        return {"revision": task.revision}
    for was_seen, present in ((seen.revision, task.revision), (seen.digest, task.digest)):
        if was_seen is not None and was_seen != present:
            raise errors.RevisionChanged(task.id, was_seen, task.revision, task.digest)
    return {"revision": task.revision, "seen": seen.digest}


def agent_as_seen(
    task: Task,
    seen: Seen | None,
    agent: Agent | None,
    changed: tuple[Agent, ...],
    about: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Returns the event's fields about the agents that the approver has seen: the target, or the agents that rules hold
    back from open work. An approver who names the content that they read approves it for the agents as they were.
    ``about``: the refusal's fields for the task. Raises ``AgentChanged`` if a service or a member has changed one, and
    they haven't seen how."""
    if seen is None or agent is None:
        return {} if seen is None else _guarded_as_seen(seen, changed, about or {"task_id": task.id})
    came_as = task.shown_as if seen.digest is not None else agent.service_version
    known = came_as if seen.agent_version is None else seen.agent_version
    if not agent.service_version <= known <= agent.version:
        raise agent.changed_since(known, None, **(about or {"task_id": task.id}))
    return {} if seen.agent_version is None else {"agent_version": seen.agent_version}


def _guarded_as_seen(seen: Seen, changed: tuple[Agent, ...], about: Mapping[str, str]) -> dict[str, Any]:
    looked_at = {each.slug: seen.agent_versions[each.slug] for each in changed if each.slug in seen.agent_versions}
    for agent in changed:
        known = looked_at.get(agent.slug, agent.service_version if seen.digest is None else 0)
        if not agent.service_version <= known <= agent.version:
            raise agent.changed_since(known, looked_at, **about)
    return {"agent_versions": looked_at} if looked_at else {}


_RULES: dict[type[commands.TaskCommand], Callable[[Task, Any, datetime], Change]] = {
    commands.Approve: _approve,
    commands.ApproveNext: _approve_next,
    commands.Undo: _undo,
    commands.SendBack: _send_back,
    commands.Defer: _defer,
    commands.Dismiss: _dismiss,
    commands.Split: _split,
    commands.ClaimTask: _claim,
    commands.SaveCheckpoint: _save_checkpoint,
    commands.Complete: _complete,
    commands.Fail: _fail,
    commands.Reject: _reject,
    commands.Transfer: _transfer,
    commands.WaitFor: _wait_for,
    commands.Resume: _resume,
    commands.Ask: ask,
    commands.Decide: decide,
    commands.UseApproval: use_approval,
    commands.RevokeApproval: revoke_approval,
    commands.ReleaseTask: _release,
    commands.ReleaseClaim: _release_claim,
    commands.Resolve: _resolve,
    commands.Cancel: _cancel,
    commands.Overtake: _overtake,
    commands.FlagClosedByBot: _flag_closed_by_bot,
    commands.Sweep: sweep,
}
