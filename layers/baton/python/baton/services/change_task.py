"""What every verb on a task has in common: load, let the domain decide, commit, ring."""

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
    """The task after the verb, or as it was after the first call that ``once`` repeats. ``output`` and ``failure`` are
    what the caller gave, and is answered again; ``also`` is written along.
    Raises what the domain raises, ``Unknown``, ``KeyReused`` and ``Busy``; nothing was written then."""

    def again(first_answer: dict[str, Any]) -> Dossier:
        must_not_be_refused(first_answer)
        return answered(baton, from_snapshot(first_answer), output, failure)

    def attempt() -> Dossier:
        task, remembered = baton.store.load(workspace, task_id, once)
        first_answer = once.recall(remembered) if once else None
        if first_answer is not None:
            return again(first_answer)
        change = transition(task, verb_for(task), baton.clock.now())
        extras = also(change)
        if change.task.has_output:
            extras.append(Output(output))
        if once:
            extras.append(Remember(once, snapshot(change.task)))
        commit_and_ring(baton, change, extras)
        return answered(baton, change.task, output, failure)

    return decided_once(baton, once, again, attempt)


def commit_and_ring(baton: Baton, change: Change, extras: Sequence[Extra] = ()) -> None:
    """A crash between the two costs time, nothing else: the task's ``wake_at`` brings the sweeper."""
    commit(baton, change, extras)
    if change.ring:
        ring(baton, change.task)


def commit(baton: Baton, change: Change, extras: Sequence[Extra] = ()) -> None:
    """The change, with what always goes along with it. A bell that is lost here costs time only: what it would have
    told is due in the table."""
    task = change.task
    is_behind = task.mirrored and change.before is not None and bool(change.events)
    joins = change.ends and task.has_branch_ended
    extras = [*extras, *_always_along(baton, change, extras)]
    if is_behind:
        extras.append(MirrorBehind(task.updated_at))
    baton.store.commit(task.workspace, change, extras)
    for event in change.events:
        baton.log(event.type.replace("_", " "), action=event.type, task_id=task.id, fence=event.fence, seq=event.seq)
    if is_behind:
        baton.tracker_bell.ring(task.workspace, task.id)
    if joins and task.join_parent is not None:
        baton.doorbell.ring(task.workspace, task.source_agent, task.join_parent)
    _ring_for_permit(baton, change)


def _ring_for_permit(baton: Baton, change: Change) -> None:
    """An agent that was at its limit isn't any more: a bell that found it so has gone by."""
    before, after = change.before and change.before.claim, change.task.claim
    if before and before.slot is not None and after is None and change.task.runtime is Runtime.RUN:
        baton.doorbell.ring(change.task.workspace, before.agent, change.task.id)


def _always_along(baton: Baton, change: Change, extras: Sequence[Extra]) -> list[Extra]:
    """What nobody who changes a task may forget."""
    task, before = change.task, change.before
    along = _alerts(baton, change)
    is_by_its_holder = any(isinstance(each, EndedClaim) for each in extras)
    if before is not None and before.claim is not None and task.claim is None and not is_by_its_holder:
        along.append(ClaimCut(before.claim))
    if change.ends:
        along += _told_of_end(baton, change)
    return along


def _told_of_end(baton: Baton, change: Change) -> list[Extra]:
    """Its direction, the agent that it comes from, the task that waits for its branch, its descendants."""
    task, at = change.task, change.task.updated_at
    told: list[Extra] = []
    if task.is_escalation and task.target_agent is not None:
        told.append(Closed(task.source_agent, task.target_agent, task.id))
    if is_slug(task.source_agent):
        told.append(InboxPosted(inbox_item(change, baton.ids.new("inbox", at))))
    if task.has_branch_ended and task.join_parent is not None:
        told.append(ErrandDue(errand(baton, Errand.JOIN, task.join_parent, at)))
    last = change.events[-1]
    is_taken_along = last.data.get("ancestor") is not None
    if task.state is State.CANCELLED and task.fence > 0 and not task.successors and not is_taken_along:
        # Only under a claim has anything come of it; an ancestor's cascade goes all the way down by itself. What was
        # split goes on in its parts.
        by = {"kind": last.principal_kind, "id": last.principal_id}
        told.append(ErrandDue(errand(baton, Errand.CASCADE, task.id, at, by=by, reason=last.data.get("reason"))))
    return told


def errand(baton: Baton, kind: Errand, task_id: str, at: datetime, **data: Any) -> DueErrand:
    return DueErrand(kind=kind, task_id=task_id, stamp=baton.ids.new("errand", at), at=at, data=data)


def _alerts(baton: Baton, change: Change) -> list[Extra]:
    """What a human should know is where humans look, from the moment on at which it is so."""
    told = [event for event in change.events if event.type == ALERT_RAISED]
    return [AlertRaised(system_alert(change.task, event, baton.ids.new("alert", event.at))) for event in told]


def ring(baton: Baton, task: Task) -> None:
    """One bell for the task's agent, due when the task is."""
    if task.target_agent is None:
        return  # open work isn't rung for
    now = baton.clock.now()
    delay = bell_delay(task.ready_at or now, now)
    baton.doorbell.ring(task.workspace, task.target_agent, task.id, delay)


def answered(baton: Baton, task: Task, output: Any = None, failure: dict[str, Any] | None = None) -> Dossier:
    """A verb's answer. A failure that an earlier attempt left behind is read for it: rare, and not worth carrying."""
    if task.has_failure and not task.has_output and failure is None:
        failure = baton.store.read(task.workspace, task.id).failure
    return Dossier(task=task, output=output if task.has_output else None, failure=failure, mirror=row_of(baton, task))


def row_of(baton: Baton, task: Task) -> Mirror | None:
    """For an answer about what is done already: it isn't refused because of a row that can't be read now."""
    try:
        return baton.store.mirror(task.workspace, task.id) if task.mirrored else None
    except Busy:
        return None
