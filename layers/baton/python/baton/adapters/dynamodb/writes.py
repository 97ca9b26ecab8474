"""Transactions: the items that a commit writes, and their conditions. The safety of Baton rests on these conditions.
Each has a name; those that most writes share are in ``puts``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.access.idempotency_writes import response_put
from baton.adapters.dynamodb.alerts import alert_items
from baton.adapters.dynamodb.alerts.alert_writes import alert_counted
from baton.adapters.dynamodb.escalations.marker_writes import MarkerExtra, marker_writes
from baton.adapters.dynamodb.events.outbox_event_items import outbox_event_item
from baton.adapters.dynamodb.handoffs import handoff_items
from baton.adapters.dynamodb.handoffs.handoff_writes import (
    HandoffExtra,
    handoff_writes,
    held_writes,
    member,
    resume_payload,
)
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put, put_version
from baton.adapters.dynamodb.runs.run_writes import RunExtra, run_writes
from baton.adapters.dynamodb.table import KeyBar, MarkerBar, VersionBar
from baton.adapters.dynamodb.tracker import tracker_items
from baton.adapters.dynamodb.tracker.tracker_writes import page_linked, page_reported, page_sync_behind
from baton.domain.errors import Conflict
from baton.domain.events.bus_events import outbox_events
from baton.ports import (
    AlertCounted,
    AlertRaised,
    AlertSaved,
    Body,
    CheckpointKept,
    ClaimEndedByOther,
    EndedClaim,
    EntryKept,
    InboxPosted,
    JobScheduled,
    LateResultKept,
    Note,
    OtherTaskChanged,
    Output,
    PageLinked,
    PageReported,
    PageSyncBehind,
    PageSyncOpened,
    PageSyncSaved,
    ReviewChanged,
    ReviewOpened,
    RootsCounted,
    SaveResponse,
    TrackerCircuitSaved,
    UsageCounted,
    WebhookSaved,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baton.adapters.dynamodb.table import Bar, Write
    from baton.domain.alerts.alert import Alert
    from baton.domain.tasks.change import Change
    from baton.domain.tasks.task import Task
    from baton.ports import ExtraWrite

# Written once and never changed by anybody: the best commit markers.
WRITTEN_ONCE = (Note, SaveResponse, OtherTaskChanged, AlertRaised, CheckpointKept, LateResultKept, EntryKept)


def commit_writes(workspace: str, change: Change | None, extras: Sequence[ExtraWrite], token: str) -> list[Write]:
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
    writes += [
        put({**outbox_event_item(task, each), "written_by": token}, NOT_THERE_YET) for each in outbox_events(change)
    ]
    if change.recovery is not None:
        writes.append(put(items.recovery_item(task, change.recovery)))
    if change.failure is not None:
        writes.append(put(items.failure_item(task, change.failure)))
    if change.resume_payload is not None:
        writes.append(resume_payload(task, change.resume_payload))
    if change.before is None:
        writes += [member(task), *(put(listed._asdict()) for listed in _listings(task))]
        writes.append(put(_listed_by_day(task)._asdict(), NOT_THERE_YET))
    return writes + held_writes(change)


def extra_writes(workspace: str, task: Task | None, extra: ExtraWrite, token: str) -> list[Write]:
    match extra:
        case OtherTaskChanged(change, extras):
            return commit_writes(workspace, change, extras, token)
        case Body(content) if task is not None:
            return [put(items.payload_item(keys.task_item(workspace, task.id, keys.BODY), content), NOT_THERE_YET)]
        case Output(content, completion) if task is not None:
            return [
                put(handoff_items.output_item(keys.task_item(workspace, task.id, keys.OUTPUT), content, completion))
            ]
        case EndedClaim(claim_id, answer) if task is not None:
            return [put(items.saved_response_item(keys.ended_claim(workspace, task.id, claim_id), answer))]
        case ClaimEndedByOther(claim) if task is not None:
            return [put(handoff_items.claim_ended_by_other_item(task, claim))]
        case SaveResponse(idempotency_key, answer, forget_at):
            return [response_put(idempotency_key, answer, token, forget_at)]
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


def _tracker_write(workspace: str, task: Task | None, extra: ExtraWrite, token: str) -> Write:
    stamp = {"written_by": token}
    match extra:
        case PageSyncOpened(page_sync) if task is not None:
            return put({**tracker_items.page_sync_item(page_sync), **stamp}, NOT_THERE_YET)
        case PageSyncBehind(at) if task is not None:
            return page_sync_behind(task, at)
        case PageReported(task_id, at):
            return page_reported(workspace, task_id, at)
        case PageLinked(page_id, task_id):
            return page_linked(workspace, page_id, task_id)
        case PageSyncSaved(page_sync):
            return put_version({**tracker_items.page_sync_item(page_sync), **stamp}, page_sync.version, "mirror")
        case TrackerCircuitSaved(circuit):
            return put_version({**tracker_items.tracker_circuit_item(circuit), **stamp}, circuit.version, "gate")
        case WebhookSaved(webhook):
            return put_version({**tracker_items.webhook_item(webhook), **stamp}, webhook.version, "webhook")
        case _:
            raise TypeError(extra)


def commit_marker(workspace: str, change: Change | None, extras: Sequence[ExtraWrite]) -> keys.Key:
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


def _marker_of(workspace: str, extra: ExtraWrite) -> keys.Key | None:
    match extra:
        case OtherTaskChanged(change, extras):
            return commit_marker(workspace, change, extras)
        case Note(about, note_id):
            return keys.Key(keys.notes(workspace, about), note_id)
        case SaveResponse(idempotency_key):
            return keys.idempotency_key(workspace, idempotency_key.digest)
        case LateResultKept(task_id, claim_id, result):
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
        case UsageCounted(_, task_id):
            return keys.usage_of_task(workspace, task_id)
        case InboxPosted(item):
            return keys.Key(keys.inbox(workspace, item.agent), item.id)
        case JobScheduled(job):
            return keys.job(workspace, job.kind, job.task_id)
        case RootsCounted(roots):
            return keys.roots(workspace, roots.source, roots.target)
        case PageSyncSaved(page_sync):
            return keys.task_item(workspace, page_sync.task_id, keys.MIRROR)
        case TrackerCircuitSaved():
            return keys.tracker_circuit(workspace)
        case WebhookSaved():
            return keys.webhook(workspace)
        case _:
            return None


def bar(workspace: str, change: Change | None, extras: Sequence[ExtraWrite]) -> Bar | None:
    """Returns how a commit with an unclear outcome is fenced off before another decision. None if it needs no fencing:
    every other decision of the caller would write another version of the same items, or under the same key."""
    if change is not None:
        task, before = change.task, change.before
        if before is None:
            return KeyBar(_listed_by_day(task))
        return VersionBar(keys.head(workspace, task.id), before.version)
    if any(isinstance(extra, SaveResponse) for extra in extras):
        return None
    for extra in extras:
        match extra:
            case OtherTaskChanged(other, more):
                return bar(workspace, other, more)
            case Note(about, note_id):
                return KeyBar(keys.Key(keys.notes(workspace, about), note_id))
            case AlertRaised(alert):
                return KeyBar(_listed_alert(alert))
            case UsageCounted(_, task_id):
                return MarkerBar(keys.usage_of_task(workspace, task_id))
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
