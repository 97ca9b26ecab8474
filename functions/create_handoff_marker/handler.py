"""An agent escalates to another: returns the block for its digest, and creates the task if asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from baton.bootstrap import begin, wire
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from baton.services.escalations.create_handoff_marker import MarkerAnswer, create_handoff_marker
from create_handoff_marker.shapes import MarkerRequest, MarkerView
from rest import answers, routing
from rest.app import App

routes = routing.Routes()


@routes.post(
    "/handoff-markers",
    body=routing.InputReader(MarkerRequest, routing.whole),
    answers={200: MarkerView, 201: MarkerView},
    deed=Deed.HAND_OFF,
)
def create_marker(deps: Deps, call: routing.Call[dict[str, Any], None]) -> answers.Answer:
    """Hand off: get the block to paste, and create the task unless a breaker or cap prevents it.

    201 when a task was created; 200 for a text-only call, a prevented duplicate, or a capped direction.
    """
    answer = create_handoff_marker(deps, call.by, call.body, call.idempotency_key)
    view = marker_view(deps, answer)
    return answers.created(view, deps.task_url(answer.task_id)) if answer.task_id else answers.ok(view)


def marker_view(deps: Deps, answer: MarkerAnswer) -> MarkerView:
    degraded: Any = answer.degraded_capabilities
    existing = deps.task_url(answer.duplicate_of) if answer.duplicate_of else None
    return {
        "success": True,
        "handoff_block": answer.handoff_block,
        "task_created": answer.task_id is not None,
        "task_url": answer.task_url or (deps.task_url(answer.task_id) if answer.task_id else None),
        "task_id": answer.task_id,
        "tracker_page_id": answer.tracker_page_id,
        "duplicate_prevented": answer.duplicate_of is not None,
        "existing_task_url": answer.existing_task_url or existing,
        "escalation_capped": answer.review_id is not None,
        "needs_manual_review": answer.review_id is not None,
        "handoff_id": answer.handoff_id,
        "degraded_capabilities": degraded,
    }


def refused(answer: answers.Answer) -> answers.Answer:
    """Adds ``{success, error}`` to every refusal, as this route's callers expect (docs/spec/marker.md §1)."""
    body = answer.body or {}
    return replace(answer, body={"success": False, "error": body.get("detail", ""), **body})


app = App(routes, wire, refused=refused)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    begin(context)
    return app(event)
