"""The REST routes that have no function of their own."""

from __future__ import annotations

from typing import Any

from api.routes import (
    agents,
    alerts,
    approvals,
    callbacks,
    claims,
    conversations,
    handoffs,
    health,
    inbox,
    reviews,
    settings,
    task_verbs,
    tasks,
    tokens,
    tools,
    tracker,
    work_routes,
    worker_verbs,
    workflows,
)
from baton.bootstrap import wire
from rest.app import App
from rest.routing import Routes

routes = Routes()
for each in (
    *(
        health,
        agents,
        tools,
        work_routes,
        inbox,
        conversations,
        handoffs,
        workflows,
        tasks,
        task_verbs,
        claims,
        worker_verbs,
        callbacks,
    ),
    *(approvals, reviews, alerts, settings, tokens, tracker),
):
    routes.include(each.routes)

# Routes that the gateway sends to other functions: listed to answer other methods on these paths with 405.
ELSEWHERE = {
    "/handoff-markers": "POST",
    "/tasks/{task_id}/await": "GET",
    "/tasks/{task_id}/events/wait": "GET",
    "/agents/{slug}/claims/wait": "POST",
    "/notion/webhook/{secret}": "POST",
}

app = App(routes, wire, elsewhere=ELSEWHERE)


def lambda_handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    return app(event)
