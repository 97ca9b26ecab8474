"""The REST routes that have no function of their own."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from api import health
from api.access import change_routes, person_routes, session_routes, settings_routes, token_routes, view_routes
from api.agents import routes as agent_routes
from api.agents import tool_routes, work_type_routes
from api.alerts import routes as alert_routes
from api.bell import routes as bell_routes
from api.claims import callback_routes, ending_routes
from api.claims import routes as claim_routes
from api.conversations import routes as conversation_routes
from api.escalations import routes as review_routes
from api.handoffs import inbox_routes, twining_routes, workflow_routes
from api.handoffs import routes as handoff_routes
from api.memory import graph_routes, recall_routes
from api.memory import routes as memory_routes
from api.questions import routes as question_routes
from api.stats import routes as stats_routes
from api.tasks import approval_routes, command_routes, search_routes
from api.tasks import routes as task_routes
from api.tracker import routes as tracker_routes
from baton.bootstrap import begin, wire
from rest import routing
from rest.app import App

routes = routing.Routes()
for each in (
    health,
    agent_routes,
    tool_routes,
    work_type_routes,
    inbox_routes,
    conversation_routes,
    handoff_routes,
    twining_routes,
    workflow_routes,
    search_routes,  # before the route of one task, whose path fits too
    task_routes,
    command_routes,
    claim_routes,
    ending_routes,
    callback_routes,
    approval_routes,
    review_routes,
    question_routes,
    alert_routes,
    bell_routes,
    stats_routes,
    memory_routes,
    graph_routes,
    recall_routes,
    settings_routes,
    change_routes,
    person_routes,
    token_routes,
    session_routes,
    view_routes,
    tracker_routes,
):
    routes.include(each.routes)

# Routes that the gateway sends to other functions: listed to answer other methods on these paths with 405.
ELSEWHERE = {
    "/handoff-markers": "POST",
    "/tasks/{task_id}/await": "GET",
    "/tasks/{task_id}/events/wait": "GET",
    "/agents/{slug}/claims/wait": "POST",
    "/notion/webhook/{secret}": "POST",
    "/mcp": "POST",
}

app = App(routes, wire, elsewhere=ELSEWHERE)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    begin(context)
    return app(event)
