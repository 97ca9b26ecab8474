"""The API at a Function URL, in place of the gateway: one handoff from its beginning to its end, and all doors."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from support.faults.soak import IS_WHOLE
from support.smoke import left_open, smoked
from support.worlds.deployed import Deployed, problem, until
from support.worlds.official_client import connected, worked_from_handoff_to_result
from support.worlds.tenant import Tenant, new_workspace
from tools.stack import stack
from tools.stack.background import StackError


@pytest.fixture(scope="module")
def at_its_url(another_home: Path) -> Iterator[Deployed]:
    """The stack in ``another_home``, whatever its front door was: it keeps what it knows."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [each for each in os.environ if each.startswith(("AWS_", "BATON_", "POWERTOOLS_"))]:
            patch.delenv(name)
        patch.setenv("BATON_FRONT_DOOR", "FunctionUrl")
        running = stack.up(another_home, 0, notion_port=0)
    with running.http(timeout_seconds=45) as http:
        yield Deployed(running, http)


@pytest.fixture(scope="module")
def by_url(at_its_url: Deployed) -> Tenant:
    return new_workspace(at_its_url)


def test_the_door_for_models_is_there_too(at_its_url: Deployed, by_url: Tenant) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    told = by_url.reviewer.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    assert told["result"]["protocolVersion"] == "2025-11-25"
    call = {"name": "claim_next", "arguments": {}}
    told = by_url.reviewer.post("/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
    assert told["result"]["structuredContent"]["claimed"] is False
    assert by_url.reviewer.refused("GET", "/mcp") == (405, "method_not_allowed")
    nobody = at_its_url.client(None)
    assert nobody.refused("GET", "/.well-known/oauth-protected-resource/mcp") == (404, "not_found")
    assert nobody.send("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}).status_code == 401


def test_the_official_client_works_at_the_url(at_its_url: Deployed, by_url: Tenant) -> None:
    async def play() -> str:
        async with (
            connected(at_its_url, by_url.human, "http auto") as sender,
            connected(at_its_url, by_url.reviewer, "http auto") as worker,
        ):
            return await worked_from_handoff_to_result(sender, worker)

    assert by_url.replayed(asyncio.run(play()))["state"] == "done"


def test_there_is_no_gateway_and_all_know_the_url(at_its_url: Deployed) -> None:
    running = at_its_url.stack
    assert urlsplit(running.api_url).netloc.endswith(f".lambda-url.{running.region}.localhost:{running.port}")
    assert [each["ProtocolType"] for each in at_its_url.aws("apigatewayv2").get_apis()["Items"]] == ["WEBSOCKET"]
    assert set(running.functions) == {
        *("AllRoutes", "ProcessTask", "SyncTracker", "PublishEvents", "SweepStaleClaims", "Listen", "Ring"),
    }
    functions = at_its_url.aws("lambda").list_functions()["Functions"]
    told = {each["FunctionName"]: each["Environment"]["Variables"]["BATON_PUBLIC_URL"] for each in functions}
    own = told.pop(running.functions["AllRoutes"])
    assert set(told.values()) == {running.api_url}
    assert own.replace("{id}", urlsplit(running.api_url).netloc.partition(".")[0]) == running.api_url


def test_a_handoff_from_its_beginning_to_its_end(at_its_url: Deployed, by_url: Tenant) -> None:
    made = by_url.mark(key=uuid4().hex)
    task_id = made["task_id"]
    assert made["task_url"] == f"{at_its_url.stack.api_url}/tasks/{task_id}"
    by_url.human.post(f"/tasks/{task_id}/approve")
    claim = by_url.reviewer.post("/agents/reviewer/claims/wait?timeout=20", {"worker": "w-1"})
    assert claim["task"]["id"] == task_id
    held = {"claim_id": claim["claim_id"]}
    by_url.reviewer.post(f"/tasks/{task_id}/heartbeat", held)
    news = by_url.human.get(f"/tasks/{task_id}/events/wait?after=0&timeout=20")
    assert len(news["events"]) >= 3
    by_url.reviewer.post(f"/tasks/{task_id}/complete", {**held, "output": {"done": True}}, key=uuid4().hex)
    assert by_url.awaited(task_id)["output"] == {"done": True}


def test_a_callbacks_address_is_the_urls_and_takes_its_answer(at_its_url: Deployed, by_url: Tenant) -> None:
    claim = by_url.claimed()
    task_id = claim["task"]["id"]
    wait = {"claim_id": claim["claim_id"], "interaction_id": "job-1"}
    address = by_url.reviewer.post(f"/tasks/{task_id}/wait-callback", wait)["callback"]["url"]
    assert address.startswith(f"{at_its_url.stack.api_url}/callbacks/")
    at_its_url.client().post(urlsplit(address).path, {"passed": True})
    assert by_url.reviewer.post("/agents/reviewer/claims/wait?timeout=20", {})["task"]["id"] == task_id


def test_an_agent_that_baton_runs_is_told_of(by_url: Tenant) -> None:
    assert by_url.awaited(by_url.approved(target="runner"))["state"] == "done"


def test_what_the_gateway_answers_is_answered_here(at_its_url: Deployed, by_url: Tenant) -> None:
    nobody = at_its_url.client()
    assert nobody.send("GET", "/healthz").json() == {"status": "ok"}
    assert nobody.send("GET", "/healthz?deep=1").json() == {"status": "ok"}
    assert nobody.refused("GET", "/tasks") == (401, "not_authenticated")
    assert at_its_url.client("baton_nonsense").refused("GET", "/tasks") == (403, "token_refused")
    assert nobody.send("POST", f"/notion/webhook/{by_url.name}.{'0' * 64}", {}).status_code == 404
    assert by_url.human.refused("GET", "/nowhere") == (404, "not_found")
    assert by_url.human.send("POST", "/agents/scout/claims/wait?timeout=x", {}).status_code == 422
    assert by_url.human.send("GET", "/handoff-markers").headers["allow"] == "POST"
    named = by_url.human.send("GET", "/tasks/none", headers={"X-Request-Id": "req-42_A"})
    assert problem(named)["request_id"] == "req-42_A"


def test_the_console_is_there_too(at_its_url: Deployed) -> None:
    page = at_its_url.client(None).send("GET", "/console/")
    assert (page.status_code, page.headers["content-encoding"]) == (200, "gzip")
    for link in re.findall(r'(?:href|src)="(/console/[^"]+)"', page.text):
        assert at_its_url.client(None).send("GET", link).status_code == 200


def test_bodies_of_any_type_arrive_as_they_are(by_url: Tenant) -> None:
    """JSON and texts as texts, anything else in base 64."""
    text = '{"source_agent": "scout", "task_priority": "🟡 Medium"}'.encode()
    for kind in ("application/json", "text/plain", "application/octet-stream"):
        response = by_url.scout.send("POST", "/handoff-markers", raw=text, headers={"Content-Type": kind})
        assert problem(response)["code"] == "invalid_marker", kind


def test_pages_of_other_origins_are_kept_out_as_at_the_gateway(at_its_url: Deployed, by_url: Tenant) -> None:
    headers = {"Origin": "http://evil.example"}
    assert by_url.human.send("GET", "/tasks", headers=headers).status_code == 403
    assert by_url.human.send("GET", "/_ministack/health").status_code == 403
    assert "access-control-allow-origin" not in by_url.human.send("GET", "/tasks").headers


def test_a_smoke_test_finds_all_in_order(by_url: Tenant) -> None:
    """A short one; under ``make soak`` the whole, and with the sweeper: here it has its schedule."""
    status, said = smoked(by_url, **({"SLOW": "1"} if IS_WHOLE else {"SHORT": "1"}))
    assert status == 0, said
    assert not IS_WHOLE or left_open(by_url) == []


def test_the_schedule_runs_the_sweeper_every_minute(at_its_url: Deployed) -> None:
    """A round that no test asked for: this stack has been there for longer than that."""
    until(lambda: any("REPORT " in line for line in at_its_url.logs("SweepStaleClaims")), 90, every=1)


def test_a_front_door_that_is_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATON_FRONT_DOOR", "window")
    with pytest.raises(StackError, match="BATON_FRONT_DOOR must be ApiGateway or FunctionUrl, and is 'window'"):
        stack.up(tmp_path)
