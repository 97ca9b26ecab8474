"""The official client of the Model Context Protocol at a deployed door: over HTTP, and through `baton-mcp`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp import Client as McpClient
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from support.worlds.deployed import Client, Deployed
from support.worlds.stdio_program import environment

CRITERIA = ["It parses", "It is tested"]
REPORTS = [{"criterion": each, "met": True, "evidence": "seen"} for each in CRITERIA]


@asynccontextmanager
async def connected(deployed: Deployed, by: Client, way: str, tools: str = "all") -> AsyncIterator[McpClient]:
    """Yields a connected client. Over stdio, the program `baton-mcp` is between the client and the door."""
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
    """Returns the data of a call that succeeds. The client checks it against the tool's schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert text_of(result).splitlines()[-1].startswith("next: ")
    found: dict[str, Any] = result.structured_content or {}
    return found


async def refused(client: McpClient, tool: str, /, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    return text_of(result)


async def worked_from_handoff_to_result(sender: McpClient, worker: McpClient) -> str:
    """Plays a handoff to its result. Returns the task."""
    task_id = await _handed_over(sender)
    assert await _worked(worker) == task_id
    waited = await done(sender, "await_task", task_id=task_id)
    assert (waited["state"], waited["output"]) == ("done", {"signed": True})
    return task_id


async def _handed_over(sender: McpClient) -> str:
    """Hands a task over, twice under one request_id, and returns the one task. A wrong agent's name is answered with
    the right ones."""
    assert '- "reviewer"' in await refused(sender, "handoff", target="nobody", reason="It reviews", agent="scout")
    given = {"target": "reviewer", "reason": "It reviews", "deliverable": "review", "criteria": CRITERIA}
    made = [await done(sender, "handoff", **given, request_id="job-1", agent="scout") for _ in range(2)]
    assert made[0] == made[1]
    return str(made[0]["task_id"])


async def _worked(worker: McpClient) -> str:
    """Claims and completes the task, and returns it. The completion is sent twice with one effect; each checkpoint is
    saved."""
    claim = await done(worker, "claim_next", wait_seconds=20)
    ids = {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}
    await done(worker, "heartbeat", **ids, lease_seconds=600)
    saved = [await done(worker, "checkpoint", **ids, step_name="half", state={"read": 3}) for _ in range(2)]
    assert saved[0]["checkpoint_id"] != saved[1]["checkpoint_id"]
    assert "criteria_unreported" in await refused(worker, "complete", **ids, output={"signed": True})
    ended = [await done(worker, "complete", **ids, output={"signed": True}, criteria=REPORTS) for _ in range(2)]
    assert ended[0] == ended[1]
    assert "stale_claim" in await refused(worker, "fail", **ids, type="error", description="Too late")
    return str(claim["task_id"])
