"""Claude Code's part of the pairs, played by the client of the Model Context Protocol over `baton-mcp`: no model
takes part."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

from frameworks import scene

WAITS = 3


@asynccontextmanager
async def session(agent: str) -> AsyncIterator[Client]:
    names = ("PATH", "PYTHONPATH", "BATON_URL")
    env = {**{name: os.environ[name] for name in names}, "BATON_TOKEN": os.environ["AGENT_TOKEN"], "BATON_AGENT": agent}
    program = StdioServerParameters(command=sys.executable, args=["-P", "-m", "baton_mcp", "serve"], env=env)
    async with Client(program) as client:
        yield client


async def called(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert not result.is_error, content.text
    return result.structured_content or {}


async def _serve() -> None:
    async with session(os.environ["AGENT"]) as client:
        for _ in range(WAITS):
            claim = await called(client, "claim_next", agent=os.environ["AGENT"], wait_seconds=20)
            if claim.get("claim_id"):
                break
        said = f"claude_code did: {claim['asked']}"
        await called(client, "complete", task_id=claim["task_id"], claim_id=claim["claim_id"], output=said)


async def _ask() -> None:
    async with session(os.environ["AGENT"]) as client:
        made = await called(client, "handoff", target=os.environ["OTHER"], reason="Look at the login")
        for _ in range(WAITS):
            ended = await called(client, "await_task", task_id=made["task_id"])
            if ended["state"] == "done":
                break
        print(ended["output"])


def serve_one() -> None:
    asyncio.run(_serve())


def ask_other() -> None:
    asyncio.run(_ask())


if __name__ == "__main__":
    scene.main({"serve_one": serve_one, "ask_other": ask_other})
