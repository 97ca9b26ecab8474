"""The official client of the Model Context Protocol at the deployed door, in both eras, over HTTP and over stdio."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from mcp import Client as McpClient

from mcp_door.tools.catalogue import TOOLS, tools_of
from support.faults.soak import IS_WHOLE
from support.faults.threads import at_once
from support.worlds.deployed import Deployed
from support.worlds.official_client import connected, done, text_of, worked_from_handoff_to_result
from support.worlds.tenant import Tenant

# How the client comes → the version that it then speaks. The mode ``auto`` asks for the newest first.
WAYS = {
    "http auto": "2026-07-28",
    "http legacy": "2025-11-25",
    "stdio auto": "2026-07-28",
    "stdio legacy": "2025-11-25",
}
# Over each transport, and in each era.
SOME_WAYS = [way for way in WAYS if IS_WHOLE or way in {"http auto", "stdio legacy"}]
OTHER_WAYS = [way for way in WAYS if IS_WHOLE or way not in SOME_WAYS]
SCOPE = {"scope": "src/parser"}


@pytest.fixture(scope="module")
def deployed(beside: Deployed) -> Deployed:
    return beside


@pytest.mark.parametrize("way", SOME_WAYS)
def test_the_official_client_works_from_the_handoff_to_the_result(tenant: Tenant, way: str) -> None:
    async def play() -> str:
        async with (
            connected(tenant.deployed, tenant.human, way) as sender,
            connected(tenant.deployed, tenant.reviewer, way, "worker") as worker,
        ):
            assert {sender.protocol_version, worker.protocol_version} == {WAYS[way]}
            listed = await worker.list_tools()
            assert {each.name for each in listed.tools} == tools_of("worker").keys()
            return await worked_from_handoff_to_result(sender, worker)

    assert tenant.replayed(asyncio.run(play()))["state"] == "done"


@pytest.mark.parametrize("way", OTHER_WAYS)
def test_what_one_client_remembers_another_recalls_and_a_claimer_is_told(tenant: Tenant, way: str) -> None:
    async def play() -> None:
        async with (
            connected(tenant.deployed, tenant.human, way) as sender,
            connected(tenant.deployed, tenant.reviewer, way) as worker,
        ):
            task_id = await decided_twice(sender)
            found = await done(worker, "recall", query="how is the lexer made?", **SCOPE)
            assert found["entries"][0]["summary"] == "The lexer is generated"
            told = text_of(await worker.call_tool("claim_next", {"task_id": task_id}))
            assert re.search('"The lexer is written by hand" was (overridden|superseded)', told)

    asyncio.run(play())


async def decided_twice(sender: McpClient) -> str:
    """A task that was handed off between two decisions, with what was known."""
    entry = {**SCOPE, "entry_type": "decision"}
    first = await done(sender, "remember", **entry, summary="The lexer is written by hand")
    made = await done(sender, "handoff", **SCOPE, target="reviewer", reason="It reviews", agent="scout")
    results = [{"description": "The lexer", "status": "completed"}]
    given = {"source_agent": "scout", "target_agent": "reviewer", "summary": "Lexed", **SCOPE}
    handed = await done(sender, "twining_handoff", **given, results=results)
    assert handed["context_snapshot_size"] == {"decisions": 1, "warnings": 0, "findings": 0}
    await done(sender, "remember", **entry, summary="The lexer is generated", supersedes=first["entry_id"])
    return str(made["task_id"])


def test_the_client_lists_all_tools_and_finds_their_schemas_valid(tenant: Tenant) -> None:
    async def listed() -> list[str]:
        async with connected(tenant.deployed, tenant.scout, "http auto") as client:
            return [each.name for each in (await client.list_tools()).tools]

    assert asyncio.run(listed()) == [each.name for each in TOOLS]


def test_of_many_workers_that_claim_by_their_tool_one_gets_the_task(tenant: Tenant) -> None:
    task_id = tenant.approved()
    tenant.deployed.age(tenant.name, task_id, 60)

    async def claimed() -> bool:
        async with connected(tenant.deployed, tenant.reviewer, "http 2026-07-28") as client:
            return not (await client.call_tool("claim_next", {"task_id": task_id})).is_error

    assert at_once(4, lambda: asyncio.run(claimed())).count(True) == 1


def test_a_worker_waits_for_an_answer_from_outside_by_its_tool(tenant: Tenant) -> None:
    task_id = tenant.approved()
    tenant.deployed.age(tenant.name, task_id, 60)

    async def waited() -> dict[str, Any]:
        async with connected(tenant.deployed, tenant.reviewer, "http 2026-07-28") as client:
            claim = await done(client, "claim_next", task_id=task_id)
            ids = {"task_id": task_id, "claim_id": claim["claim_id"]}
            return await done(client, "wait_for_callback", **ids, interaction_id="lab-7")

    assert "/callbacks/" in asyncio.run(waited())["callback"]["url"]


def test_clients_find_no_authorization_server_and_a_real_401(deployed: Deployed) -> None:
    nobody = deployed.client(None)
    for path in ("oauth-protected-resource/mcp", "oauth-authorization-server", "openid-configuration"):
        assert nobody.send("GET", f"/.well-known/{path}").status_code == 404
        assert nobody.send("GET", f"/mcp/.well-known/{path}").status_code == 404
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    refused = deployed.client(f"baton_{'0' * 26}_{'f' * 64}").send("POST", "/mcp", ping)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer error="invalid_token"')
    assert nobody.send("POST", "/mcp", ping).status_code == 401


def test_there_is_no_stream_and_no_session_at_the_gateway(tenant: Tenant) -> None:
    for method in ("GET", "DELETE"):
        assert tenant.reviewer.refused(method, "/mcp") == (405, "method_not_allowed")
    foreign = {"Origin": "https://evil.example"}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert tenant.reviewer.send("POST", "/mcp", ping, headers=foreign).status_code == 403
