"""A human approves several tasks at once."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from api.tasks.command_requests import ApprovalsRequest
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from baton.services.tasks.approve_many import ApprovalResult, approve_many
from rest import answers, models, routing
from rest.tasks import views as task_views

routes = routing.Routes()


class ApprovalView(TypedDict):
    """``problem``: why this one was refused, as the request for it alone would have been."""

    task_id: str
    status: Literal["approved", "refused"]
    task: task_views.ChangedTask | None
    problem: answers.Problem | None


class ApprovalsView(TypedDict):
    items: list[ApprovalView]


@routes.post(
    "/approvals",
    body=models.strict(ApprovalsRequest),
    answers={200: ApprovalsView},
    only=routing.human(Deed.APPROVE),
)
def approve_several(deps: Deps, call: routing.Call[ApprovalsRequest, None]) -> answers.Answer:
    """Approve up to 25 tasks, each with an answer of its own, in the order given.

    Repeated with the same `Idempotency-Key`, each is answered as the first time, refusals included.
    """
    done = approve_many(deps, call.by, [each.approval() for each in call.body.items], call.idempotency_key)
    return answers.ok({"items": [_view(deps, call, each) for each in done]})


def _view(deps: Deps, call: routing.Call[Any, Any], of: ApprovalResult) -> ApprovalView:
    refused: Any = None if of.refusal is None else answers.problem(of.refusal, call.request_id).body
    return {
        "task_id": of.task_id,
        "status": "approved" if of.details else "refused",
        "task": task_views.changed_task(deps, call.by, of.details) if of.details else None,
        "problem": refused,
    }
