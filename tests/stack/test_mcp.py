"""The official client of the Model Context Protocol at the deployed door, in both eras, over HTTP and over stdio."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client as McpClient
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from mcp_door.tools.catalogue import TOOLS, tools_of
from support.faults.threads import at_once
from support.worlds.deployed import Client, Deployed
from support.worlds.stdio_program import environment
from support.worlds.tenant import Tenant

# How the client comes → the version that it then speaks. The mode ``auto`` asks for the newest first.
WAYS = {
    "http auto": "2026-07-28",
    "http legacy": "2025-11-25",
    "stdio auto": "2026-07-28",
    "stdio legacy": "2025-11-25",
}
SCOPE = {"scope": "src/parser"}
CRITERIA = ["It parses", "It is tested"]
REPORTS = [{"criterion": each, "met": True, "evidence": "seen"} for each in CRITERIA]


@asynccontextmanager
async def connected(deployed: Deployed, by: Client, way: str, tools: str = "all") -> AsyncIterator[McpClient]:
    """Over stdio with a program in between, which connects by itself."""
    wire, _, mode = way.partition(" ")
    if wire == "stdio":
        program = StdioServerParameters(
            command=sys.executable,
            args=["-m", "baton_mcp", "serve", "--tools", tools],
            env=environment(deployed.stack.api_url, by.token),
        )
        async with McpClient(program, mode=mode) as client:
            yield client
        return
    # The engine knows its functions' addresses by the host that is asked for.
    address = urlsplit(deployed.stack.api_url)
    headers = {"Authorization": f"Bearer {by.token}", "Host": address.netloc}
    url = f"http://127.0.0.1:{address.port}/mcp?tools={tools}"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        McpClient(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def done(client: McpClient, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The data of a call that isn't refused. The client holds it against the tool's schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert text_of(result).splitlines()[-1].startswith("next: ")
    found: dict[str, Any] = result.structured_content or {}
    return found


async def refused(client: McpClient, tool: str, /, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    return text_of(result)


@pytest.mark.parametrize("way", WAYS)
def test_the_official_client_works_from_the_handoff_to_the_result(tenant: Tenant, way: str) -> None:
    async def play() -> str:
        async with (
            connected(tenant.deployed, tenant.human, way) as sender,
            connected(tenant.deployed, tenant.reviewer, way, "worker") as worker,
        ):
            assert {sender.protocol_version, worker.protocol_version} == {WAYS[way]}
            listed = await worker.list_tools()
            assert {each.name for each in listed.tools} == tools_of("worker").keys()
            task_id = await handed_over(sender)
            assert await worked(worker) == task_id
            waited = await done(sender, "await_task", task_id=task_id)
            assert (waited["state"], waited["output"]) == ("done", {"signed": True})
            return task_id

    assert tenant.replayed(asyncio.run(play()))["state"] == "done"


async def handed_over(sender: McpClient) -> str:
    """The task, once though it was asked for twice. Who errs in the agent's name is told the names."""
    assert '- "reviewer"' in await refused(sender, "handoff", target="nobody", reason="It reviews", agent="scout")
    given = {"target": "reviewer", "reason": "It reviews", "deliverable": "review", "criteria": CRITERIA}
    made = [await done(sender, "handoff", **given, request_id="job-1", agent="scout") for _ in range(2)]
    assert made[0] == made[1]
    return str(made[0]["task_id"])


async def worked(worker: McpClient) -> str:
    """The task that was claimed and is done. What ends a claim, or saves under it, may be asked twice."""
    claim = await done(worker, "claim_next", wait_seconds=20)
    ids = {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}
    await done(worker, "heartbeat", **ids, lease_seconds=600)
    saved = [await done(worker, "checkpoint", **ids, step_name="half", state={"read": 3}) for _ in range(2)]
    assert saved[0] == saved[1]
    assert "criteria_unreported" in await refused(worker, "complete", **ids, output={"signed": True})
    ended = [await done(worker, "complete", **ids, output={"signed": True}, criteria=REPORTS) for _ in range(2)]
    assert ended[0] == ended[1]
    assert "stale_claim" in await refused(worker, "fail", **ids, type="error", description="Too late")
    return str(claim["task_id"])


@pytest.mark.parametrize("way", WAYS)
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
