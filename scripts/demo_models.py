"""The demo's scene of models: two clients of the Model Context Protocol, by the official SDK, hand over with what is
known of the work, see what has changed since, and finish it."""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from demo_stage import BOLD, DIM, PLAIN, Player, Refused, heading, short

SCOPE = "src/auth"
CRITERIA = ["Sessions survive a restart"]


def scene_models(player: Player) -> None:
    heading(
        "9. Models, by their tools", "Two clients of the Model Context Protocol; a URL and a token is all they have."
    )
    asyncio.run(_play(player))


async def _play(player: Player) -> None:
    async with _client(player, "architect") as architect, _client(player, "auto-code") as coder:
        decided = {"entry_type": "decision", "scope": SCOPE, "rationale": "One process is enough"}
        first = await architect.call("remember", **decided, summary="Sessions live in memory")
        made = await architect.call(
            "handoff",
            target="auto-code",
            reason="Build the sessions",
            scope=SCOPE,
            deliverable="code",
            criteria=CRITERIA,
        )
        print("           Meanwhile the architect changes its mind:")
        decided["rationale"] = "There are two processes now"
        await architect.call("remember", **decided, summary="Sessions live in Redis", supersedes=first["entry_id"])
        claim = await coder.call("claim_next", task_id=made["task_id"])
        reports = [{"criterion": each, "met": True, "evidence": "test_restart passes"} for each in CRITERIA]
        ids = {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}
        await coder.call("complete", **ids, output={"files": ["sessions.py"]}, criteria=reports)
        await architect.call("await_task", task_id=made["task_id"])


class _Model:
    def __init__(self, who: str, client: Client) -> None:
        self._who, self._client = who, client

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The tool's data; what its model reads is printed."""
        print(f"{DIM}{self._who:>9}  {BOLD}{tool}{PLAIN} {short(arguments)}", flush=True)
        result = await self._client.call_tool(tool, arguments)
        text = "".join(getattr(each, "text", "") for each in result.content)
        shown = [textwrap.shorten(line, 140, placeholder=" …") for line in text.splitlines()]
        print(textwrap.indent("\n".join(shown), "        ↳  "), flush=True)
        if result.is_error:
            raise Refused(f"{tool} was refused")
        return result.structured_content or {}


@asynccontextmanager
async def _client(player: Player, who: str) -> AsyncIterator[_Model]:
    address = urlsplit(player.stack.api_url)
    headers = {"Authorization": f"Bearer {player.tokens[who]}", "Host": address.netloc}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{player.stack.endpoint_url}/mcp", http_client=http)) as client,
    ):
        yield _Model(who, client)
