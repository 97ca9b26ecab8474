"""What holds on every route: who may call, request ids, unknown routes and ids, workspaces, faults."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from api import handler as api
from baton.domain.errors import Busy
from create_handoff_marker import handler as create_handoff_marker
from mcp_door import handler as mcp_door
from notion_webhook import handler as notion_webhook
from rest.routing import CONVERSERS, Endpoint
from support.faults.hooked_store import FailingStore
from support.gateway import ROUTES, Gateway, gateway_event
from support.models.expected import EXPECTED, HUMAN
from support.values.bodies import BODIES, IDS
from support.values.schema import DOCUMENT
from support.values.tokens import bearer
from support.worlds.world import World, agent, human, marker_body, service
from tools.docs import openapi
from wait import handler as wait

# Public, and answered with 404.
NOT_THERE = {"/.well-known/{proxy+}", "/mcp/.well-known/{proxy+}"}
ALICE = human()
STRANGER = human("other")
HUMAN_ONLY = [route for route in ROUTES if route.only not in {None, CONVERSERS}]
OF_TASKS = [route for route in ROUTES if "{task_id}" in route.path]


def send(gateway: Gateway, by: Any, route: Endpoint, **ids: str) -> Any:
    query = "timeout=0" if route.name in {"await_a_task", "wait_for_more_events", "wait_for_a_claim"} else ""
    return gateway.send(by, route.method, route.path.format(**(IDS | ids)), BODIES.get(route.name), query=query)


def test_humans_are_asked_for_where_it_is_decided_so() -> None:
    """What is declared is what the rows of ``support/models/expected.py`` refuse to every agent."""
    decided = {name for name, row in EXPECTED.items() if row.own == row.other == HUMAN}
    assert {route.name for route in HUMAN_ONLY} == decided


def test_agent_is_refused_where_a_human_is_needed_whether_the_thing_exists_or_not(
    world: World, gateway: Gateway
) -> None:
    task_id = world.needing()
    before = world.stored()
    for route in HUMAN_ONLY:
        known = send(gateway, agent("scout"), route, task_id=task_id)
        unknown = send(gateway, agent("scout"), route)
        assert (known.status, known.code) == (403, "human_required"), route.name
        assert unknown.json == known.json, route.name
        assert world.stored() == before, route.name


def test_agents_talk_where_a_human_let_them() -> None:
    assert {(route.method, route.path) for route in ROUTES if route.only is CONVERSERS} == {
        ("POST", "/conversations"),
        ("POST", "/conversations/{conversation_id}/messages"),
    }


def test_service_is_no_human_whoever_it_acts_for(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    for route in [each for each in HUMAN_ONLY if each.only and each.only.who == "humans"]:
        assert send(gateway, service(), route, task_id=task_id).code == "human_required", route.name


def test_other_workspaces_task_answers_like_an_unknown_one(world: World, gateway: Gateway) -> None:
    world.settle("other")
    task_id = world.needing()
    before = world.stored()
    for route in OF_TASKS:
        foreign, unknown = send(gateway, STRANGER, route, task_id=task_id), send(gateway, STRANGER, route)
        assert foreign.status in {404, 409}, route.name
        assert (foreign.status, without_ids(foreign.json)) == (unknown.status, without_ids(unknown.json)), route.name
        assert world.stored() == before, route.name


def without_ids(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem without what the caller sent."""
    return {name: value for name, value in problem.items() if name != "task_id"}


def test_id_that_cannot_be_one_answers_like_an_unknown_one(gateway: Gateway) -> None:
    for route in [each for each in OF_TASKS if each.method == "GET"]:
        unknown = send(gateway, ALICE, route)
        assert unknown.status == 404, route.name
        for bad in ("a b", "..", "x" * 65, "é", "a\n", "a%00"):
            assert send(gateway, ALICE, route, task_id=bad).json == unknown.json, (route.name, bad)


@pytest.mark.parametrize(
    "path",
    [
        *("/agents/{}", "/manual-reviews/{}", "/alerts/{}", "/routes/{}", "/tools/{}", "/tools/{}/schema"),
        *("/conversations/{}", "/conversations/{}/messages", "/workflows/{}/chain"),
    ],
)
def test_unknown_and_impossible_ids_answer_alike(gateway: Gateway, path: str) -> None:
    unknown = gateway.get(ALICE, path.format("nobody"))
    assert (unknown.status, unknown.code) == (404, "not_found")
    impossible = gateway.get(ALICE, path.format("No.Body"))
    assert (impossible.status, impossible.code) == (404, "not_found")
    assert impossible.json["detail"] == unknown.json["detail"].replace("nobody", "No.Body")


def test_other_workspaces_things_are_unknown(world: World, gateway: Gateway) -> None:
    token = gateway.post(ALICE, "/tokens", {"kind": "human", "subject": "bob"}).json
    assert gateway.get(STRANGER, "/agents/auditor").status == 404
    assert gateway.send(STRANGER, "DELETE", f"/tokens/{token['id']}").status == 404
    for path in ("/agents", "/tasks", "/tokens", "/manual-reviews", "/alerts", "/routes", "/tools"):
        assert gateway.get(STRANGER, path).json["items"] == []


def test_unknown_route_is_a_problem(gateway: Gateway) -> None:
    for path in ("/nope", "/", "/tasks/", "/tasks/a/b/c", "//tasks"):
        reply = gateway.get(ALICE, path)
        assert (reply.status, reply.code) == (404, "not_found")
        assert reply.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/agents/auditor", "GET, HEAD, PUT"),
        ("PATCH", "/tokens", "GET, HEAD, POST"),
        ("GET", "/handoff-markers", "POST"),
        ("GET", "/mcp", "POST"),
        ("DELETE", "/mcp", "POST"),
        ("POST", "/tasks/task_1/await", "GET, HEAD"),
        ("GET", "/agents/auditor/claims/wait", "POST"),
        ("GET", f"/notion/webhook/{IDS['secret']}", "POST"),
        ("POST", "/tracker/token", "PUT"),
        ("DELETE", "/tools/handoff_to_auditor", "GET, HEAD, PUT"),
        ("PUT", "/conversations/wf_1/messages", "GET, HEAD, POST"),
        ("GET", "/tools/handoff_to_auditor/dry-run", "POST"),
        ("GET", "/tools/handoff_to_auditor/preview", "POST"),
        ("PUT", "/tracker/webhook", "DELETE, GET, HEAD, POST"),
    ],
)
def test_other_methods_are_refused_with_what_is_allowed(gateway: Gateway, method: str, path: str, allowed: str) -> None:
    reply = gateway.send(ALICE, method, path)
    assert (reply.status, reply.code, reply.headers["Allow"]) == (405, "method_not_allowed", allowed)


def test_what_the_api_says_of_other_functions_is_so() -> None:
    others = [*create_handoff_marker.routes, *wait.routes, *notion_webhook.routes, *mcp_door.routes]
    elsewhere = {route.path: route.method for route in others if route.path not in NOT_THERE}
    assert elsewhere == api.ELSEWHERE


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("abc-DEF_123", "abc-DEF_123"),
        ("x" * 64, "x" * 64),
        ("x" * 65, "gateway-1"),
        ("", "gateway-1"),
        ("a b", "gateway-1"),
        ("a\n", "gateway-1"),
        ("ü", "gateway-1"),
    ],
)
def test_request_id_is_the_callers_if_it_may_be_shown(gateway: Gateway, given: str, shown: str) -> None:
    for path in ("/healthz", "/nope", "/tasks/task_unknown"):
        reply = gateway.get(ALICE, path, headers={"x-request-id": given})
        assert reply.headers["X-Request-Id"] == shown
        if reply.status >= 400:
            assert reply.json["request_id"] == shown


def test_every_log_line_has_the_request_id_and_none_what_was_sent(
    gateway: Gateway, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway.post(
        agent("scout"),
        "/handoff-markers",
        marker_body(escalation_reason="hush-hush"),
        headers={"x-request-id": "req-1"},
    )
    gateway.post(ALICE, "/tasks/task_1/cancel", {"reason": "hush-hush", "x": 1}, headers={"x-request-id": "req-1"})
    logged = capsys.readouterr().out
    lines = [json.loads(line) for line in logged.splitlines()]
    assert lines
    assert {line["request_id"] for line in lines} == {"req-1"}
    answered = [line for line in lines if line["action"] == "request_answered"]
    assert [line["status"] for line in answered] == [201, 422]
    # A metric filter of the template reads these.
    assert [(line["route"], type(line["ms"])) for line in answered] == [("create_marker", int), ("cancel", int)]
    assert "hush" not in logged
    assert bearer(agent("scout")).rpartition("_")[2] not in logged


def test_ids_of_one_request_are_not_logged_with_the_next(gateway: Gateway, capsys: pytest.CaptureFixture[str]) -> None:
    gateway.get(ALICE, "/agents/auditor")
    gateway.get(ALICE, "/nope")
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert not {"slug", "route", "workspace", "principal"} & set(last)


@pytest.mark.parametrize(
    ("path", "kept"), [("/healthz", "no-store"), ("/tasks/none", "no-store"), ("/agents", "private, no-cache")]
)
def test_answers_are_kept_by_nobody_in_between_and_not_guessed_at(gateway: Gateway, path: str, kept: str) -> None:
    headers = gateway.get(ALICE, path).headers
    assert (headers["Cache-Control"], headers["X-Content-Type-Options"]) == (kept, "nosniff")


def test_health_needs_no_token(gateway: Gateway) -> None:
    reply = gateway.send(None, "GET", "/healthz")
    assert (reply.status, reply.json) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    "authorizer",
    [
        {},
        {"authorizer": {}},
        {"authorizer": {"lambda": {"workspace": "acme", "kind": "human", "id": "alice", "scopes": "act_as"}}},
        {"authorizer": {"jwt": {"claims": {"workspace": "acme"}}}},
    ],
)
def test_nobody_is_believed_for_what_a_gateway_says(gateway: Gateway, authorizer: dict[str, Any]) -> None:
    event = gateway_event(None, "GET", "/tasks")
    event["requestContext"] |= authorizer
    answer = gateway._api(event)
    assert (answer["statusCode"], json.loads(answer["body"])["code"]) == (401, "not_authenticated")


@pytest.mark.parametrize("event", [{}, {"requestContext": None}, {"requestContext": {}, "headers": []}])
def test_event_that_is_none_is_answered_too(gateway: Gateway, event: Any) -> None:
    assert gateway._api(event)["statusCode"] == 500


AT_ONCE = [r for r in ROUTES if r.needs_token and r.name != "approve_several"]


@pytest.mark.parametrize(
    ("error", "status", "code"), [(Busy(), 503, "busy"), (RecursionError("deep secret"), 500, "internal")]
)
def test_no_fault_escapes_a_handler(world: World, error: Exception, status: int, code: str) -> None:
    gateway = Gateway(replace(world.deps, store=FailingStore(error)))
    for route in AT_ONCE:
        reply = send(gateway, ALICE, route)
        assert (reply.status, reply.code) == (status, code), route.name
        assert "secret" not in reply.text, route.name
        assert ("Retry-After" in reply.headers) == (status == 503), route.name


def test_an_answer_500_is_counted_and_no_other(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    for error, counted in ((Busy(), 0), (RecursionError("deep secret"), 1)):
        Gateway(replace(world.deps, store=FailingStore(error))).get(ALICE, "/tasks")
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
        assert [line["RequestFailed"] for line in lines] == [1] * counted


def test_every_route_is_documented_once_with_its_own_name() -> None:
    documented = {
        (method.upper(), path, operation["operationId"])
        for path, operations in DOCUMENT["paths"].items()
        for method, operation in operations.items()
    }
    assert documented == {(route.method, route.shown_path, route.name) for route in ROUTES}
    assert len({name for _, _, name in documented}) == len(ROUTES)


def test_document_is_what_the_code_says() -> None:
    assert openapi.document() == DOCUMENT
