"""A deployment behind an edge (docs/guides/edge.md): who comes around it is refused by every function, before anything
else is looked at."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from all_routes.handler import lambda_handler as all_routes
from baton.domain.access.principal import Principal
from console.handler import lambda_handler as console
from rest.edge import DIGESTS, HEADER
from support.context import FakeContext
from support.faults.hooked_store import FailingStore
from support.gateway import ROUTES, Gateway, gateway_event
from support.values.bodies import BODIES, IDS
from support.values.tokens import bearer
from support.worlds.world import World, human

SECRET, NEXT = "s3cret" * 6, "n3xt" * 8
ALICE = human()


def digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


@pytest.fixture(autouse=True)
def behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DIGESTS, digest(SECRET))


def refusal_of(answer: dict[str, Any]) -> tuple[int, str]:
    body = json.loads(answer["body"])
    problem = body["error"]["data"] if "jsonrpc" in body else body
    return answer["statusCode"], problem["code"]


@pytest.mark.parametrize(
    ("by", "headers"),
    [(ALICE, {}), (ALICE, {HEADER: ""}), (None, {HEADER: digest(SECRET)}), (None, {HEADER: NEXT})],
    ids=["without it", "empty", "its digest", "another"],
)
def test_every_route_refuses_who_comes_around_it_and_asks_the_table_nothing(
    world: World, by: Principal | None, headers: dict[str, str]
) -> None:
    untouched = Gateway(replace(world.deps, store=FailingStore(RuntimeError("was asked"))))
    for route in ROUTES:
        event = gateway_event(by, route.method, route.shown_path.format(**IDS), BODIES.get(route.name), headers=headers)
        assert refusal_of(untouched.handle(route, event)) == (403, "forbidden"), route.name


@pytest.mark.parametrize("path", ["/nowhere", "/healthz", "/tasks"])
def test_the_refusal_tells_nothing_of_what_is_there(gateway: Gateway, path: str) -> None:
    answer = gateway.handle(None, gateway_event(None, "GET", path))
    assert json.loads(answer["body"]) == {
        "type": "urn:baton:problem:forbidden",
        "title": "Forbidden",
        "status": 403,
        "detail": "Nobody is answered at this address.",
        "code": "forbidden",
        "errors": [],
        "request_id": "gateway-1",
    }


@pytest.mark.parametrize("path", ["/console", "/console/", "/console/0123456789abcdef/app.js", "/console/none"])
def test_the_console_is_behind_it_too(path: str) -> None:
    for door in (console, all_routes):
        answer = door(gateway_event(None, "GET", path), FakeContext())
        assert answer["statusCode"] == 403
        assert "X-Frame-Options" in answer["headers"]
    assert (
        console(gateway_event(None, "GET", "/console/", headers={HEADER: SECRET}), FakeContext())["statusCode"] == 200
    )


def test_the_function_behind_a_url_refuses_too() -> None:
    for path in ("/healthz", "/mcp", "/handoff-markers", "/nowhere"):
        assert refusal_of(all_routes(gateway_event(ALICE, "POST", path, {}), FakeContext())) == (403, "forbidden")


def test_who_comes_by_it_is_answered_as_without_one(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    by_the_edge = {HEADER: SECRET}
    assert gateway.send(None, "GET", "/healthz", headers=by_the_edge).json == {"status": "ok"}
    assert gateway.send(None, "GET", "/tasks", headers=by_the_edge).code == "not_authenticated"
    shown = gateway.get(ALICE, "/tasks", headers=by_the_edge)
    monkeypatch.delenv(DIGESTS)
    assert (shown.status, shown.text) == (200, gateway.get(ALICE, "/tasks").text)


def test_without_an_edge_the_header_is_one_like_any_other(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DIGESTS, "")
    for headers in ({}, {HEADER: "anything"}):
        assert gateway.send(None, "GET", "/healthz", headers=headers).status == 200


def test_two_secrets_are_good_while_one_takes_the_others_place(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answered(secret: str) -> Any:
        return gateway.handle(None, gateway_event(None, "GET", "/healthz", headers={HEADER: secret}))["statusCode"]

    monkeypatch.setenv(DIGESTS, f"{digest(SECRET)},{digest(NEXT)}")
    assert [answered(each) for each in (SECRET, NEXT, f"{SECRET},{NEXT}", "neither")] == [200, 200, 403, 403]
    monkeypatch.setenv(DIGESTS, digest(NEXT))
    assert [answered(each) for each in (SECRET, NEXT)] == [403, 200]


def test_no_log_line_has_the_secret(gateway: Gateway, capsys: pytest.CaptureFixture[str]) -> None:
    gateway.admit(ALICE)
    for secret in (SECRET, "wrong" * 8):
        gateway.handle(None, gateway_event(ALICE, "GET", "/nowhere", headers={HEADER: secret}))
    logged = capsys.readouterr().out
    assert [json.loads(line)["status"] for line in logged.splitlines() if "request_answered" in line] == [404, 403]
    assert not any(part in logged for part in (SECRET, "wrong", digest(SECRET), bearer(ALICE)))
