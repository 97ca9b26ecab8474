"""Humans' commands on a task, and cancelling, which its creator may do too."""

from __future__ import annotations

from api.handoffs.views import SplitView, handed_off
from api.tasks.command_requests import Cancellation, Deferral, Dismissal, Resolution, RevisionSeen, SplitRequest
from baton.ports.deps import Deps
from baton.services.handoffs.split_task import split_task
from baton.services.tasks.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.put_off_task import defer_task, dismiss_task
from rest.answers import Answer, ok
from rest.models import NoFields, strict
from rest.routing import Call, Routes, human
from rest.tasks.views import ChangedTask, changed_task

routes = Routes()


@routes.post(
    "/tasks/{task_id}/approve", body=strict(RevisionSeen), answers={200: ChangedTask}, only=human("approve a task")
)
def approve(deps: Deps, call: Call[RevisionSeen, None]) -> Answer:
    """Approve a task for its agent; it can be claimed once the undo window is over."""
    return ok(changed_task(deps, approve_task(deps, call.by, call.task_id, call.body.revision, call.idempotency_key)))


@routes.post(
    "/tasks/{task_id}/approve-next", body=strict(RevisionSeen), answers={200: ChangedTask}, only=human("approve a task")
)
def approve_next(deps: Deps, call: Call[RevisionSeen, None]) -> Answer:
    """Approve a task for a worker that is at work already: it is claimed by its id, never dispatched."""
    return ok(
        changed_task(deps, approve_task_next(deps, call.by, call.task_id, call.body.revision, call.idempotency_key))
    )


@routes.post("/tasks/{task_id}/undo", body=strict(NoFields), answers={200: ChangedTask}, only=human("undo an approval"))
def undo(deps: Deps, call: Call[NoFields, None]) -> Answer:
    """Take an approval back while its undo window is open."""
    return ok(changed_task(deps, undo_approval(deps, call.by, call.task_id, call.idempotency_key)))


@routes.post("/tasks/{task_id}/defer", body=strict(Deferral), answers={200: ChangedTask}, only=human("defer a task"))
def defer(deps: Deps, call: Call[Deferral, None]) -> Answer:
    """Put off a task that needs approval: no queue shows it before then."""
    body = call.body
    return ok(changed_task(deps, defer_task(deps, call.about(body.revision), body.until)))


@routes.post(
    "/tasks/{task_id}/dismiss", body=strict(Dismissal), answers={200: ChangedTask}, only=human("dismiss a task")
)
def dismiss(deps: Deps, call: Call[Dismissal, None]) -> Answer:
    """Cancel a task that wasn't approved yet."""
    return ok(changed_task(deps, dismiss_task(deps, call.by, call.task_id, call.body.reason, call.idempotency_key)))


@routes.post("/tasks/{task_id}/split", body=strict(SplitRequest), answers={200: SplitView}, only=human("split a task"))
def split(deps: Deps, call: Call[SplitRequest, None]) -> Answer:
    """Split a task that needs approval into 2 to 10 parts, each to be approved by itself; the whole is cancelled."""
    body = call.body
    messages = [each.message() for each in body.parts]
    whole, parts = split_task(deps, call.about(body.revision), messages)
    return ok({"task": changed_task(deps, whole), "parts": [handed_off(deps, each) for each in parts]})


@routes.post(
    "/tasks/{task_id}/resolve", body=strict(Resolution), answers={200: ChangedTask}, only=human("resolve a task")
)
def resolve(deps: Deps, call: Call[Resolution, None]) -> Answer:
    """End a task whose work was done elsewhere."""
    body = call.body
    return ok(
        changed_task(
            deps,
            resolve_task(deps, call.about(), body.output, body.reason),
        )
    )


@routes.post("/tasks/{task_id}/cancel", body=strict(Cancellation), answers={200: ChangedTask})
def cancel(deps: Deps, call: Call[Cancellation, None]) -> Answer:
    """Cancel a task and all tasks that descend from it: by a human, or by the principal that created it."""
    return ok(changed_task(deps, cancel_task(deps, call.by, call.task_id, call.body.reason, call.idempotency_key)))
