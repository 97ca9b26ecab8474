"""A human approves several tasks at once."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from api.tasks.command_requests import ApprovalsRequest
from baton.ports.deps import Deps
from baton.services.tasks.approve_many import ApprovalResult, approve_many
from rest.answers import Answer, Problem, ok, problem
from rest.models import strict
from rest.routing import Call, Routes, human
from rest.tasks.views import ChangedTask, changed_task

routes = Routes()


class ApprovalView(TypedDict):
    """``problem``: why this one was refused, as the request for it alone would have been."""

    task_id: str
    status: Literal["approved", "refused"]
    task: ChangedTask | None
    problem: Problem | None


class ApprovalsView(TypedDict):
    items: list[ApprovalView]


@routes.post("/approvals", body=strict(ApprovalsRequest), answers={200: ApprovalsView}, only=human("approve a task"))
def approve_several(deps: Deps, call: Call[ApprovalsRequest, None]) -> Answer:
    """Approve up to 25 tasks, each with an answer of its own, in the order given.

    Repeated with the same `Idempotency-Key`, each is answered as the first time, refusals included.
    """
    done = approve_many(deps, call.by, [each.approval() for each in call.body.items], call.idempotency_key)
    return ok({"items": [_view(deps, call, each) for each in done]})


def _view(deps: Deps, call: Call[Any, Any], of: ApprovalResult) -> ApprovalView:
    refused: Any = None if of.refusal is None else problem(of.refusal, call.request_id).body
    return {
        "task_id": of.task_id,
        "status": "approved" if of.details else "refused",
        "task": changed_task(deps, of.details) if of.details else None,
        "problem": refused,
    }
