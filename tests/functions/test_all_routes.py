"""Every route in one function, as a Function URL calls it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from all_routes import handler as all_routes
from baton.domain.access.principal import Principal
from support.context import FakeContext
from support.gateway import ROUTES, Gateway, Reply, gateway_event, route_of, undocumented
from support.values.bodies import BODIES, IDS, QUERIES
from support.worlds.world import World, agent, human, marker_body

URL_ID = "p0q1r2s3t4u5v6w7x8y9z0a1b2c3d4e5"
HERE = f"https://{URL_ID}.lambda-url.us-east-1.on.aws"
ALICE = human()
Send = Callable[..., Reply]


def url_event(event: dict[str, Any]) -> dict[str, Any]:
    """What differs from a gateway's event."""
    domain = HERE.removeprefix("https://")
    context = {"accountId": "anonymous", "apiId": URL_ID, "domainName": domain, "domainPrefix": URL_ID}
    return event | {
        "headers": {**event["headers"], "host": domain, "x-forwarded-proto": "https"},
        "requestContext": {**event["requestContext"], **context, "routeKey": "$default"},
    }


@pytest.fixture
def send(world: World, gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> Send:
    """Asks the function at its URL, which its environment doesn't know."""
    deps = replace(world.deps, public_url="https://{id}.lambda-url.us-east-1.on.aws")
    for app in all_routes.APPS:
        monkeypatch.setattr(app, "_wire", lambda: deps)

    def ask(by: Principal | None, method: str, path: str, body: Any = None, **options: Any) -> Reply:
        gateway.admit(by)
        answer = all_routes.lambda_handler(url_event(gateway_event(by, method, path, body, **options)), FakeContext())
        shown = Reply(answer["statusCode"], answer["headers"], answer.get("body", ""))
        route = route_of(method, path)
        assert route is None or list(undocumented(route, shown)) == []
        return shown

    return ask


def test_each_route_is_answered_by_the_app_that_has_it(send: Send, gateway: Gateway) -> None:
    for route in ROUTES:
        path, body = route.shown_path.format(**IDS), BODIES.get(route.name)
        query = "timeout=0" if route.waits or route.name == "wait_for_a_claim" else QUERIES.get(route.name, "")
        at_the_gateway = gateway.send(ALICE, route.method, path, body, query=query)
        by_the_url = send(ALICE, route.method, path, body, query=query)
        assert by_the_url.status not in {405, 500}, route.name
        if route.method == "GET":  # what changes nothing answers the same twice
            assert (by_the_url.status, by_the_url.text.replace(HERE, "")) == (
                at_the_gateway.status,
                at_the_gateway.text.replace("https://baton.example", ""),
            ), route.name


def test_addresses_in_answers_are_the_urls(send: Send) -> None:
    made = send(agent("scout"), "POST", "/handoff-markers", marker_body()).json
    assert made["task_url"] == f"{HERE}/tasks/{made['task_id']}"


def test_another_host_in_a_header_is_nowhere_in_an_answer(send: Send) -> None:
    named = dict.fromkeys(("host", "x-forwarded-host", "forwarded"), "evil.example")
    made = send(agent("scout"), "POST", "/handoff-markers", marker_body(), headers=named)
    assert made.status == 201
    assert "evil.example" not in made.text


def test_a_refused_marker_keeps_its_form(send: Send) -> None:
    refusal = send(agent("scout"), "POST", "/handoff-markers", {})
    assert (refusal.status, refusal.json["success"]) == (422, False)


@pytest.mark.parametrize("path", ["/tasks/t/await", "/handoff-markers", "/notion/webhook/w.x", "/agents/a/claims/wait"])
def test_another_method_is_told_the_right_one(send: Send, path: str) -> None:
    assert send(ALICE, "DELETE", path).status == 405


@pytest.mark.parametrize("path", ["/", "/nowhere", "/tasks/a/b/c"])
def test_an_unknown_path_is_a_problem(send: Send, path: str) -> None:
    assert send(ALICE, "GET", path).code == "not_found"
    assert send(None, "GET", path).status == 401


@pytest.mark.parametrize("event", [{}, {"requestContext": None}, {"requestContext": {"http": {}}}, {"rawPath": 1}])
def test_what_is_no_request_is_answered(send: Send, event: dict[str, Any]) -> None:
    answer = all_routes.lambda_handler(event, FakeContext())
    assert answer["statusCode"] == 500
    assert json.loads(answer["body"])["code"] == "internal"
