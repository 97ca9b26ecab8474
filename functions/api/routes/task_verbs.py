"""Humans' commands on a task, and cancelling, which its creator may do too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.handoff_views import SplitView, handed_off
from api.human_models import Cancellation, Deferral, Dismissal, Resolution, RevisionSeen, SplitRequest
from baton.services.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.end_task import cancel_task, resolve_task
from baton.services.put_off_task import defer_task, dismiss_task
from baton.services.split_task import split_task
from rest.answers import Answer, ok
from rest.models import NoFields, strict
from rest.routing import Call, Routes, human
from rest.task_views import ChangedTask, changed_task

if TYPE_CHECKING:
    from baton.ports import Baton

routes = Routes()


@routes.post(
    "/tasks/{task_id}/approve", body=strict(RevisionSeen), answers={200: ChangedTask}, only=human("approve a task")
)
def approve(baton: Baton, call: Call[RevisionSeen, None]) -> Answer:
    """Approve a task for its agent; it can be claimed once the undo window is over."""
    return ok(changed_task(baton, approve_task(baton, call.by, call.task_id, call.body.revision, call.once)))


@routes.post(
    "/tasks/{task_id}/approve-next", body=strict(RevisionSeen), answers={200: ChangedTask}, only=human("approve a task")
)
def approve_next(baton: Baton, call: Call[RevisionSeen, None]) -> Answer:
    """Approve a task for a worker that is at work already: it is claimed by its id, never dispatched."""
    return ok(changed_task(baton, approve_task_next(baton, call.by, call.task_id, call.body.revision, call.once)))


@routes.post("/tasks/{task_id}/undo", body=strict(NoFields), answers={200: ChangedTask}, only=human("undo an approval"))
def undo(baton: Baton, call: Call[NoFields, None]) -> Answer:
    """Take an approval back while its undo window is open."""
    return ok(changed_task(baton, undo_approval(baton, call.by, call.task_id, call.once)))


@routes.post("/tasks/{task_id}/defer", body=strict(Deferral), answers={200: ChangedTask}, only=human("defer a task"))
def defer(baton: Baton, call: Call[Deferral, None]) -> Answer:
    """Put off a task that needs approval: no queue shows it before then."""
    body = call.body
    return ok(changed_task(baton, defer_task(baton, call.by, call.task_id, body.until, body.revision, call.once)))


@routes.post(
    "/tasks/{task_id}/dismiss", body=strict(Dismissal), answers={200: ChangedTask}, only=human("dismiss a task")
)
def dismiss(baton: Baton, call: Call[Dismissal, None]) -> Answer:
    """Cancel a task that wasn't approved yet."""
    return ok(changed_task(baton, dismiss_task(baton, call.by, call.task_id, call.body.reason, call.once)))


@routes.post("/tasks/{task_id}/split", body=strict(SplitRequest), answers={200: SplitView}, only=human("split a task"))
def split(baton: Baton, call: Call[SplitRequest, None]) -> Answer:
    """Split a task that needs approval into 2 to 10 parts, each to be approved by itself; the whole is cancelled."""
    body = call.body
    messages = [each.said() for each in body.parts]
    whole, parts = split_task(baton, call.by, call.task_id, messages, body.revision, call.once)
    return ok({"task": changed_task(baton, whole), "parts": [handed_off(baton, each) for each in parts]})


@routes.post(
    "/tasks/{task_id}/resolve", body=strict(Resolution), answers={200: ChangedTask}, only=human("resolve a task")
)
def resolve(baton: Baton, call: Call[Resolution, None]) -> Answer:
    """End a task whose work was done elsewhere."""
    body = call.body
    return ok(changed_task(baton, resolve_task(baton, call.by, call.task_id, body.output, body.reason, call.once)))


@routes.post("/tasks/{task_id}/cancel", body=strict(Cancellation), answers={200: ChangedTask})
def cancel(baton: Baton, call: Call[Cancellation, None]) -> Answer:
    """Cancel a task and all tasks that descend from it: by a human, or by the principal that created it."""
    return ok(changed_task(baton, cancel_task(baton, call.by, call.task_id, call.body.reason, call.once)))
