"""The steps that every command on a task shares: load, let the domain decide, commit, notify."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.agent import Runtime
from baton.domain.alert import ALERT_RAISED, system_alert
from baton.domain.change import Change
from baton.domain.errors import Busy
from baton.domain.events import from_snapshot, snapshot
from baton.domain.ids import is_slug
from baton.domain.task import State
from baton.domain.transitions import transition
from baton.domain.wake import bell_delay
from baton.domain.workflow import DueErrand, Errand, inbox_item
from baton.ports import (
    AlertRaised,
    ClaimCut,
    Closed,
    Dossier,
    EndedClaim,
    ErrandDue,
    Extra,
    InboxPosted,
    MirrorBehind,
    Output,
    Remember,
)
from baton.services.remembered_refusals import must_not_be_refused
from baton.services.retrying import decided_once

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from baton.domain.idempotency import Once
    from baton.domain.mirror import Mirror
    from baton.domain.task import Task
    from baton.domain.verbs import Verb
    from baton.ports import Baton


def change_task(
    baton: Baton,
    workspace: str,
    task_id: str,
    verb_for: Callable[[Task], Verb],
    once: Once | None = None,
    output: Any = None,
    failure: dict[str, Any] | None = None,
    also: Callable[[Change], list[Extra]] = lambda _: [],
) -> Dossier:
    """Returns the task after the command; for a repeat under ``once``, the task as it was after the first call.
    ``output`` and ``failure`` are the caller's, and part of the answer; ``also`` returns extra writes for the same
    transaction. Raises the domain's errors, ``Unknown``, ``KeyReused`` and ``Busy``; nothing was written then."""

    def replay(saved: dict[str, Any]) -> Dossier:
        must_not_be_refused(saved)
        return answered(baton, from_snapshot(saved), output, failure)

    def attempt() -> Dossier:
        task, remembered = baton.store.load(workspace, task_id, once)
        saved = once.recall(remembered) if once else None
        if saved is not None:
            return replay(saved)
        change = transition(task, verb_for(task), baton.clock.now())
        extras = also(change)
        if change.task.has_output:
            extras.append(Output(output))
        if once:
            extras.append(Remember(once, snapshot(change.task)))
        commit_and_ring(baton, change, extras)
        return answered(baton, change.task, output, failure)

    return decided_once(baton, once, replay, attempt)


def commit_and_ring(baton: Baton, change: Change, extras: Sequence[Extra] = ()) -> None:
    """Commits the change, then sends the dispatch notice. A crash between the two costs only time: the sweeper finds
    the task by its ``wake_at``."""
    commit(baton, change, extras)
    if change.ring:
        ring(baton, change.task)


def commit(baton: Baton, change: Change, extras: Sequence[Extra] = ()) -> None:
    """Commits the change with every write that belongs to it. A dispatch notice that is lost here costs only time: the
    work is due in the table."""
    task = change.task
    is_behind = task.mirrored and change.before is not None and bool(change.events)
    joins = change.ends and task.has_branch_ended
    extras = [*extras, *_required_writes(baton, change, extras)]
    if is_behind:
        extras.append(MirrorBehind(task.updated_at))
    baton.store.commit(task.workspace, change, extras)
    for event in change.events:
        baton.log(event.type.replace("_", " "), action=event.type, task_id=task.id, fence=event.fence, seq=event.seq)
    if is_behind:
        baton.tracker_bell.ring(task.workspace, task.id)
    if joins and task.join_parent is not None:
        baton.doorbell.ring(task.workspace, task.source_agent, task.join_parent)
    _notify_waiting_agent(baton, change)


def _notify_waiting_agent(baton: Baton, change: Change) -> None:
    """Sends a dispatch notice for an agent that was at its limit until this claim ended: an earlier notice may have
    found no free slot."""
    before, after = change.before and change.before.claim, change.task.claim
    if before and before.slot is not None and after is None and change.task.runtime is Runtime.RUN:
        baton.doorbell.ring(change.task.workspace, before.agent, change.task.id)


def _required_writes(baton: Baton, change: Change, extras: Sequence[Extra]) -> list[Extra]:
    """The writes that no change of a task may go without."""
    task, before = change.task, change.before
    writes = _alerts(baton, change)
    is_by_its_holder = any(isinstance(each, EndedClaim) for each in extras)
    if before is not None and before.claim is not None and task.claim is None and not is_by_its_holder:
        writes.append(ClaimCut(before.claim))
    if change.ends:
        writes += _end_writes(baton, change)
    return writes


def _end_writes(baton: Baton, change: Change) -> list[Extra]:
    """Writes for the task's direction, the agent that it comes from, the task that waits for its branch, and its
    descendants."""
    task, at = change.task, change.task.updated_at
    writes: list[Extra] = []
    if task.is_escalation and task.target_agent is not None:
        writes.append(Closed(task.source_agent, task.target_agent, task.id))
    if is_slug(task.source_agent):
        writes.append(InboxPosted(inbox_item(change, baton.ids.new("inbox", at))))
    if task.has_branch_ended and task.join_parent is not None:
        writes.append(ErrandDue(errand(baton, Errand.JOIN, task.join_parent, at)))
    last = change.events[-1]
    is_by_cascade = last.data.get("ancestor") is not None
    if task.state is State.CANCELLED and task.fence > 0 and not task.successors and not is_by_cascade:
        # Only a claimed task can have descendants. An ancestor's cascade reaches all levels by itself. A split task
        # goes on in its parts.
        by = {"kind": last.principal_kind, "id": last.principal_id}
        writes.append(ErrandDue(errand(baton, Errand.CASCADE, task.id, at, by=by, reason=last.data.get("reason"))))
    return writes


def errand(baton: Baton, kind: Errand, task_id: str, at: datetime, **data: Any) -> DueErrand:
    return DueErrand(kind=kind, task_id=task_id, stamp=baton.ids.new("errand", at), at=at, data=data)


def _alerts(baton: Baton, change: Change) -> list[Extra]:
    """Alerts for humans, saved in the same transaction as their cause."""
    raised = [event for event in change.events if event.type == ALERT_RAISED]
    return [AlertRaised(system_alert(change.task, event, baton.ids.new("alert", event.at))) for event in raised]


def ring(baton: Baton, task: Task) -> None:
    """Sends one dispatch notice for the task's agent, due when the task is."""
    if task.target_agent is None:
        return  # open work has no agent to notify
    now = baton.clock.now()
    delay = bell_delay(task.ready_at or now, now)
    baton.doorbell.ring(task.workspace, task.target_agent, task.id, delay)


def answered(baton: Baton, task: Task, output: Any = None, failure: dict[str, Any] | None = None) -> Dossier:
    """Returns a command's answer. The failure of an earlier attempt is read from the store, as it is rare."""
    if task.has_failure and not task.has_output and failure is None:
        failure = baton.store.read(task.workspace, task.id).failure
    return Dossier(task=task, output=output if task.has_output else None, failure=failure, mirror=row_of(baton, task))


def row_of(baton: Baton, task: Task) -> Mirror | None:
    """Returns the task's page synchronisation for an answer; None if it can't be read now. The commit is done, so the
    answer isn't refused for that."""
    try:
        return baton.store.mirror(task.workspace, task.id) if task.mirrored else None
    except Busy:
        return None
