"""The official client of the Model Context Protocol at the deployed door, in both eras."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from mcp_door.tools.catalogue import TOOLS, tools_of
from support.faults.threads import at_once
from support.worlds.deployed import Client, Deployed
from support.worlds.tenant import Tenant

# The mode ``auto`` asks for the newest version first, and takes what it finds.
ERAS = {"2026-07-28": "2026-07-28", "auto": "2026-07-28", "legacy": "2025-11-25"}
CRITERIA = ["It parses", "It is tested"]
REPORTS = [{"criterion": each, "met": True, "evidence": "seen"} for each in CRITERIA]


@asynccontextmanager
async def connected(deployed: Deployed, by: Client, mode: str, query: str = "") -> AsyncIterator[McpClient]:
    """The engine knows its functions' addresses by the host that is asked for."""
    address = urlsplit(deployed.stack.api_url)
    headers = {"Authorization": f"Bearer {by.token}", "Host": address.netloc}
    url = f"http://127.0.0.1:{address.port}/mcp{query}"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        McpClient(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


def played(
    deployed: Deployed, by: Client, mode: str, play: Callable[[McpClient], Awaitable[Any]], query: str = ""
) -> Any:
    """What a conversation comes to that one client has."""

    async def run() -> Any:
        async with connected(deployed, by, mode, query) as client:
            return await play(client)

    return asyncio.run(run())


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


@pytest.mark.parametrize("mode", ERAS)
def test_the_official_client_works_from_the_handoff_to_the_result(tenant: Tenant, mode: str) -> None:
    deployed = tenant.deployed

    async def hand_over(client: McpClient) -> tuple[str, str]:
        given = {"target": "reviewer", "reason": "It reviews", "summary": "Review the parser", "priority": "P0"}
        made = await done(client, "handoff", **given, request_id="job-1", agent="scout")
        again = await done(client, "handoff", **given, request_id="job-1", agent="scout")
        assert made == again
        return made["task_id"], str(client.protocol_version)

    async def work(client: McpClient) -> str:
        listed = await client.list_tools()
        assert {each.name for each in listed.tools} == tools_of("worker").keys()
        claim = await done(client, "claim_next", wait_seconds=20)
        ids = {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}
        await done(client, "heartbeat", **ids, lease_seconds=600)
        saved = [await done(client, "checkpoint", **ids, step_name="half", state={"read": 3}) for _ in range(2)]
        assert saved[0] == saved[1]
        ended = [await done(client, "complete", **ids, output={"signed": True}) for _ in range(2)]
        assert ended[0] == ended[1]
        late = await client.call_tool("fail", {**ids, "type": "error", "description": "Too late"})
        assert (late.is_error, "stale_claim" in text_of(late)) == (True, True)
        return str(claim["task_id"])

    async def wait(client: McpClient) -> dict[str, Any]:
        return await done(client, "await_task", task_id=task_id)

    task_id, version = played(deployed, tenant.human, mode, hand_over)
    assert version == ERAS[mode]
    assert played(deployed, tenant.reviewer, mode, work, "?tools=worker") == task_id
    waited = played(deployed, tenant.human, mode, wait)
    assert (waited["state"], waited["output"]) == ("done", {"signed": True})
    assert tenant.replayed(task_id)["state"] == "done"


@pytest.mark.parametrize("mode", ERAS)
def test_what_one_client_remembers_another_recalls_and_a_claimer_is_told(tenant: Tenant, mode: str) -> None:
    deployed, scope = tenant.deployed, {"scope": "src/parser"}

    async def decide(client: McpClient) -> str:
        first = await done(client, "remember", **scope, entry_type="decision", summary="The lexer is written by hand")
        made = await done(client, "handoff", **scope, target="reviewer", reason="It reviews", agent="scout")
        results = [{"description": "The lexer", "status": "completed"}]
        given = {"source_agent": "scout", "target_agent": "reviewer", "summary": "Lexed", **scope}
        handed = await done(client, "twining_handoff", **given, results=results)
        assert handed["context_snapshot_size"] == {"decisions": 1, "warnings": 0, "findings": 0}
        new = {"summary": "The lexer is generated", "supersedes": first["entry_id"], "entry_type": "decision"}
        await done(client, "remember", **scope, **new)
        return str(made["task_id"])

    async def look(client: McpClient) -> list[str]:
        found = await done(client, "recall", query="how is the lexer made?", **scope)
        claim = await client.call_tool("claim_next", {"task_id": task_id})
        assert '"The lexer is written by hand" was overridden' in text_of(claim) or "was superseded" in text_of(claim)
        return [each["summary"] for each in found["entries"]]

    task_id = played(deployed, tenant.human, mode, decide)
    assert played(deployed, tenant.reviewer, mode, look)[0] == "The lexer is generated"


def test_the_client_lists_all_tools_and_finds_their_schemas_valid(tenant: Tenant) -> None:
    async def listed(client: McpClient) -> list[str]:
        return [each.name for each in (await client.list_tools()).tools]

    assert played(tenant.deployed, tenant.scout, "auto", listed) == [each.name for each in TOOLS]


def test_of_many_workers_that_claim_by_their_tool_one_gets_the_task(tenant: Tenant) -> None:
    task_id = tenant.approved()
    tenant.deployed.age(tenant.name, task_id, 60)

    def claimed() -> bool:
        async def claim(client: McpClient) -> bool:
            result = await client.call_tool("claim_next", {"task_id": task_id})
            return not result.is_error

        return bool(played(tenant.deployed, tenant.reviewer, "2026-07-28", claim))

    assert at_once(4, claimed).count(True) == 1


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
