"""What humans do with a task; and its creator, who may cancel it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from baton.services.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.end_task import cancel_task, resolve_task
from rest.answers import Answer, ok
from rest.models import Body, NoFields, Reason, strict
from rest.routing import Call, Routes, human
from rest.task_views import ChangedTask, changed_task

if TYPE_CHECKING:
    from baton.ports import Baton

routes = Routes()


class RevisionSeen(Body):
    """``revision``: the content that was seen; left out, the current one."""

    revision: Annotated[int, Field(ge=1, lt=2**53)] | None = None


class Resolution(Body):
    output: Any = None
    reason: Reason | None = None


class Cancellation(Body):
    reason: Reason | None = None


@routes.post(
    "/tasks/{task_id}/approve", body=strict(RevisionSeen), answers={200: ChangedTask}, only=human("approve a task")
)
def approve(baton: Baton, call: Call[RevisionSeen, None]) -> Answer:
    """Approve a task for its agent; it can be taken once the undo window is over."""
    return ok(changed_task(baton, approve_task(baton, call.by, call.task_id, call.body.revision, call.once)))


@routes.post(
    "/tasks/{task_id}/approve-next", body=strict(RevisionSeen), answers={200: ChangedTask}, only=human("approve a task")
)
def approve_next(baton: Baton, call: Call[RevisionSeen, None]) -> Answer:
    """Approve a task for whoever works on it right now: it is claimed by id, never dispatched."""
    return ok(changed_task(baton, approve_task_next(baton, call.by, call.task_id, call.body.revision, call.once)))


@routes.post("/tasks/{task_id}/undo", body=strict(NoFields), answers={200: ChangedTask}, only=human("undo an approval"))
def undo(baton: Baton, call: Call[NoFields, None]) -> Answer:
    """Take an approval back while its undo window is open."""
    return ok(changed_task(baton, undo_approval(baton, call.by, call.task_id, call.once)))


@routes.post(
    "/tasks/{task_id}/resolve", body=strict(Resolution), answers={200: ChangedTask}, only=human("resolve a task")
)
def resolve(baton: Baton, call: Call[Resolution, None]) -> Answer:
    """The work turned out to be done elsewhere."""
    asked = call.body
    return ok(changed_task(baton, resolve_task(baton, call.by, call.task_id, asked.output, asked.reason, call.once)))


@routes.post("/tasks/{task_id}/cancel", body=strict(Cancellation), answers={200: ChangedTask})
def cancel(baton: Baton, call: Call[Cancellation, None]) -> Answer:
    """Cancel a task: by a human, or by whoever created it."""
    return ok(changed_task(baton, cancel_task(baton, call.by, call.task_id, call.body.reason, call.once)))
