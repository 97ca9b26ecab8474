"""What the metric filters count: lines as the gateway and the functions write them."""

from __future__ import annotations

import json
import re
from typing import Any

from all_routes.handler import APPS
from infra.given import given
from infra.log_filters import matches
from infra.service_checks import OPEN_ROUTES, PAGES, ROUTED
from infra.template import GATEWAY, URL
from mcp_door.tools.catalogue import tools_of
from wait.handler import app as polls

NO_INTEGRATION = "-"


def pattern(door: str) -> str:
    (found,) = given(FrontDoor=door).of_type("AWS::Logs::MetricFilter").values()
    return str(found["FilterPattern"])


def access(**values: str) -> str:
    """A line of the access log, by the stage's own format."""
    stage = given().of_type("AWS::ApiGatewayV2::Stage")["HttpStage"]
    known = {"$context.routeKey": values["route"], "$context.status": values["status"]}
    known["$context.integrationStatus"] = values["integration"]
    return re.sub(r"\$context\.[\w.]*\w", lambda found: known.get(found[0], "x"), stage["AccessLogSettings"]["Format"])


def answered(route: str) -> str:
    return json.dumps({"action": "request_answered", "route": route, "status": 200, "ms": 12})


def test_refusals_of_the_gateway_are_counted_where_callers_cannot_wait() -> None:
    counted = {
        route
        for route in ROUTED
        if matches(pattern(GATEWAY), access(route=route, status="429", integration=NO_INTEGRATION))
    }
    assert counted == {route for route, function in ROUTED.items() if function != "Wait"} - OPEN_ROUTES - PAGES


def test_nothing_else_counts_as_a_refusal_of_the_gateway() -> None:
    for status, integration in (("429", "200"), ("503", NO_INTEGRATION), ("200", "200")):
        assert not matches(pattern(GATEWAY), access(route="$default", status=status, integration=integration))


def test_the_time_of_each_answer_counts_but_of_those_that_wait() -> None:
    waiting = {route.name for route in polls.routes} | {f"mcp {name}" for name in tools_of("all") if may_wait(name)}
    routes = {route.name for app in APPS for route in app.routes} | {f"mcp {name}" for name in tools_of("all")}
    assert {route for route in routes if not matches(pattern(URL), answered(route))} == waiting
    assert not matches(pattern(URL), json.dumps({"action": "swept", "route": "tasks"}))


def may_wait(tool: str) -> bool:
    shown: dict[str, Any] = tools_of("all")[tool].shown
    return "wait_seconds" in shown["inputSchema"]["properties"]
