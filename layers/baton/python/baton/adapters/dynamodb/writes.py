"""Transactions: the items that a commit writes, and their conditions. The safety of Baton rests on these conditions.
Each has a name; those that most writes share are in ``puts``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.adapters.dynamodb import alert_items, handoff_items, items, keys, tracker_items
from baton.adapters.dynamodb.alert_writes import alert_counted
from baton.adapters.dynamodb.handoff_writes import HandoffExtra, brought, handoff_writes, held_writes, member
from baton.adapters.dynamodb.marker_writes import MarkerExtra, marker_writes
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put, put_version
from baton.adapters.dynamodb.remembering import remembered_put
from baton.adapters.dynamodb.run_writes import RunExtra, run_writes
from baton.adapters.dynamodb.table import Mark, Place, Seen
from baton.adapters.dynamodb.told_items import told_item
from baton.adapters.dynamodb.tracker_writes import mirror_behind, page_reported, page_taken
from baton.domain.errors import Conflict
from baton.domain.published import tellings
from baton.ports import (
    AlertCounted,
    AlertRaised,
    AlertSaved,
    Also,
    Body,
    CheckpointKept,
    ClaimCut,
    EndedClaim,
    EntryKept,
    ErrandDue,
    GateSaved,
    InboxPosted,
    LateKept,
    MirrorBehind,
    MirrorOpened,
    MirrorSaved,
    Note,
    Output,
    PageReported,
    PageTaken,
    Remember,
    ReviewChanged,
    ReviewOpened,
    RootsCounted,
    Spent,
    WebhookSaved,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baton.adapters.dynamodb.table import Bar, Write
    from baton.domain.alert import Alert
    from baton.domain.change import Change
    from baton.domain.task import Task
    from baton.ports import Extra

# Written once and never changed by anybody: the best commit markers.
WRITTEN_ONCE = (Note, Remember, Also, AlertRaised, CheckpointKept, LateKept, EntryKept)


def commit_writes(workspace: str, change: Change | None, extras: Sequence[Extra], token: str) -> list[Write]:
    """Returns all writes of one commit's transaction."""
    task = None if change is None else change.task
    writes = [] if change is None else task_writes(change, token)
    for extra in extras:
        writes += extra_writes(workspace, task, extra, token)
    return writes


def task_writes(change: Change, token: str) -> list[Write]:
    """Returns the writes of HEAD, of the new events and of the change's other items. The first new event is the commit
    marker."""
    task = change.task
    writes = [_head(change, token)]
    writes += [put({**told_item(task, each), "written_by": token}, NOT_THERE_YET) for each in tellings(change)]
    if change.recovery is not None:
        writes.append(put(items.recovery_item(task, change.recovery)))
    if change.failure is not None:
        writes.append(put(items.failure_item(task, change.failure)))
    if change.brought is not None:
        writes.append(brought(task, change.brought))
    if change.before is None:
        writes += [member(task), *(put(listed._asdict()) for listed in _listings(task))]
        writes.append(put(_listed_by_day(task)._asdict(), NOT_THERE_YET))
    return writes + held_writes(change)


def extra_writes(workspace: str, task: Task | None, extra: Extra, token: str) -> list[Write]:
    match extra:
        case Also(change, extras):
            return commit_writes(workspace, change, extras, token)
        case Body(content) if task is not None:
            return [put(items.payload_item(keys.beside(workspace, task.id, keys.BODY), content), NOT_THERE_YET)]
        case Output(content, completion) if task is not None:
            return [put(handoff_items.output_item(keys.beside(workspace, task.id, keys.OUTPUT), content, completion))]
        case EndedClaim(claim_id, answer) if task is not None:
            return [put(items.remembered_item(keys.ended_claim(workspace, task.id, claim_id), answer))]
        case ClaimCut(claim) if task is not None:
            return [put(handoff_items.cut_claim_item(task, claim))]
        case Remember(once, answer, forget_at):
            return [remembered_put(once, answer, token, forget_at)]
        case Note():
            note = {**items.note_item(workspace, extra), "written_by": token}
            return [put(note, NOT_THERE_YET, lambda: Conflict("note"))]
        case AlertRaised(alert):
            listed = {**_listed_alert(alert)._asdict(), "written_by": token}
            return [_alert(alert, token), put(listed, NOT_THERE_YET, lambda: Conflict("alert"))]
        case AlertSaved(alert):
            return [_alert(alert, token)]
        case AlertCounted(by, at):
            return [alert_counted(workspace, by, at)]
        case _ if isinstance(extra, MarkerExtra):
            return marker_writes(workspace, extra, token)
        case _ if isinstance(extra, HandoffExtra):
            return handoff_writes(workspace, extra, token)
        case _ if isinstance(extra, RunExtra):
            return run_writes(workspace, extra, token)
        case _:
            return [_tracker_write(workspace, task, extra, token)]


def _tracker_write(workspace: str, task: Task | None, extra: Extra, token: str) -> Write:
    stamp = {"written_by": token}
    match extra:
        case MirrorOpened(mirror) if task is not None:
            return put({**tracker_items.mirror_item(mirror), **stamp}, NOT_THERE_YET)
        case MirrorBehind(at) if task is not None:
            return mirror_behind(task, at)
        case PageReported(task_id, at):
            return page_reported(workspace, task_id, at)
        case PageTaken(page_id, task_id):
            return page_taken(workspace, page_id, task_id)
        case MirrorSaved(mirror):
            return put_version({**tracker_items.mirror_item(mirror), **stamp}, mirror.version, "mirror")
        case GateSaved(gate):
            return put_version({**tracker_items.gate_item(gate), **stamp}, gate.version, "gate")
        case WebhookSaved(webhook):
            return put_version({**tracker_items.webhook_item(webhook), **stamp}, webhook.version, "webhook")
        case _:
            raise TypeError(extra)


def witness(workspace: str, change: Change | None, extras: Sequence[Extra]) -> keys.Key:
    """Returns the key of the commit marker: an item that nobody changes, where the commit has one. A sweep that changes
    nothing but its next wake time has only HEAD, and may safely be done again."""
    if change is not None:
        task = change.task
        if change.events:
            return keys.event(workspace, task.id, change.events[0].seq)
        return keys.head(workspace, task.id)
    for extra in sorted(extras, key=lambda each: not isinstance(each, WRITTEN_ONCE)):
        found = _marker_of(workspace, extra)
        if found is not None:
            return found
    raise ValueError("a commit without a change needs an extra that can be recognised")


def _marker_of(workspace: str, extra: Extra) -> keys.Key | None:
    match extra:
        case Also(change, extras):
            return witness(workspace, change, extras)
        case Note(about, note_id):
            return keys.Key(keys.notes(workspace, about), note_id)
        case Remember(once):
            return keys.once(workspace, once.digest)
        case LateKept(task_id, claim_id, result):
            return keys.late_result(workspace, task_id, result.claim_fence, claim_id)
        case CheckpointKept(checkpoint):
            return keys.Key(keys.checkpoints(workspace, checkpoint.workflow_id), checkpoint.id)
        case ReviewChanged(review) | ReviewOpened(review, _):
            return keys.Key(keys.reviews(workspace), review.id)
        case AlertRaised(alert):
            return _listed_alert(alert)
        case AlertSaved(alert):
            return keys.alert(workspace, alert.id)
        case EntryKept(task_id, entry):
            return keys.entry(workspace, task_id, entry.last)
        case Spent(_, task_id):
            return keys.usage_of_task(workspace, task_id)
        case InboxPosted(item):
            return keys.Key(keys.inbox(workspace, item.agent), item.id)
        case ErrandDue(errand):
            return keys.errand(workspace, errand.kind, errand.task_id)
        case RootsCounted(roots):
            return keys.roots(workspace, roots.source, roots.target)
        case MirrorSaved(mirror):
            return keys.beside(workspace, mirror.task_id, keys.MIRROR)
        case GateSaved():
            return keys.gate(workspace)
        case WebhookSaved():
            return keys.webhook(workspace)
        case _:
            return None


def bar(workspace: str, change: Change | None, extras: Sequence[Extra]) -> Bar | None:
    """Returns how a commit with an unclear outcome is fenced off before another decision. None if it needs no fencing:
    every other decision of the caller would write another version of the same items, or under the same key."""
    if change is not None:
        task, before = change.task, change.before
        if before is None:
            return Place(_listed_by_day(task))
        return Seen(keys.head(workspace, task.id), before.version)
    if any(isinstance(extra, Remember) for extra in extras):
        return None
    for extra in extras:
        match extra:
            case Also(other, more):
                return bar(workspace, other, more)
            case Note(about, note_id):
                return Place(keys.Key(keys.notes(workspace, about), note_id))
            case AlertRaised(alert):
                return Place(_listed_alert(alert))
            case Spent(_, task_id):
                return Mark(keys.usage_of_task(workspace, task_id))
            case _:
                continue
    return None


def _alert(alert: Alert, token: str) -> Write:
    return put_version({**alert_items.alert_item(alert), "written_by": token}, alert.version, "alert")


def _listed_alert(alert: Alert) -> keys.Key:
    """Returns the alert's key in the listing of its task. That item is also the commit marker of the alert's raising:
    nobody changes it afterwards."""
    return keys.Key(keys.alerts_of_task(alert.workspace, alert.task_id), alert.id)


def _head(change: Change, token: str) -> Write:
    item = items.head_item(change.task)
    stamp = {} if change.events else {"written_by": token}  # the first event is the commit marker where there is one
    return put_version({**item, **stamp}, change.task.version, "task")


def _listings(task: Task) -> list[keys.Key]:
    """Returns the listings besides the day's. Open work has no agent and is in no other listing."""
    agent = task.target_agent
    return [] if agent is None else [keys.Key(keys.tasks_of_agent(task.workspace, agent), task.id)]


def _listed_by_day(task: Task) -> keys.Key:
    return keys.Key(keys.tasks_of_day(task.workspace, task.created_at.date()), task.id)
