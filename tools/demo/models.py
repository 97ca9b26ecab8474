"""The demo's scene of models: two clients of the Model Context Protocol, by the official SDK, hand over with what is
known of the work, see what has changed since, and finish it."""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2

from tools.demo.stage import BOLD, DIM, PLAIN, Player, Refused, heading, short

if TYPE_CHECKING:
    from mcp import Client

SCOPE = "src/auth"
CRITERIA = ["Sessions survive a restart"]


def scene_models(player: Player) -> None:
    heading(
        "9. Models, by their tools", "Two clients of the Model Context Protocol; a URL and a token is all they have."
    )
    asyncio.run(_play(player))


async def _play(player: Player) -> None:
    async with _client(player, "architect") as architect, _client(player, "auto-code") as coder:
        _say("What stands behind ↳ is what the model reads. The architect posts a decision for all others:")
        first = await architect.call("remember", **_decided("Sessions live in memory", "One process is enough"))
        _say("It hands the work over. The scope takes along what is known of src/auth:")
        task_id = await _handed_over(architect)
        _say("Meanwhile it changes its mind. The new decision replaces the old one:")
        changed = _decided("Sessions live in Redis", "There are two processes now")
        await architect.call("remember", **changed, supersedes=first["entry_id"])
        _say("The coder claims the task. It reads what was known then, and what holds no more:")
        await _finished(coder, await coder.call("claim_next", task_id=task_id))
        _say("The architect gets the result:")
        await architect.call("await_task", task_id=task_id)


def _say(sentence: str) -> None:
    print(f"\n           {sentence}")


def _decided(summary: str, rationale: str) -> dict[str, Any]:
    return {"summary": summary, "rationale": rationale, "entry_type": "decision", "scope": SCOPE}


async def _handed_over(architect: _Model) -> str:
    given: dict[str, Any] = {"target": "auto-code", "scope": SCOPE, "deliverable": "code", "criteria": CRITERIA}
    made = await architect.call("handoff", **given, reason="Build the sessions")
    return str(made["task_id"])


async def _finished(coder: _Model, claim: dict[str, Any]) -> None:
    """Without a report on each criterion the task isn't done."""
    ids = {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}
    _say("Its work is accepted with a report on each criterion, and not without:")
    await coder.call("complete", **ids, output={"files": ["sessions.py"]}, refused=True)
    reports = [{"criterion": each, "met": True, "evidence": "test_restart passes"} for each in CRITERIA]
    await coder.call("complete", **ids, output={"files": ["sessions.py"]}, criteria=reports)


class _Model:
    def __init__(self, who: str, client: Client) -> None:
        self._who, self._client = who, client

    async def call(self, tool: str, /, *, refused: bool = False, **arguments: Any) -> dict[str, Any]:
        """The tool's data; what its model reads is printed. ``refused``: what it should be. Ids come last, as they are
        long."""
        shown_last = sorted(arguments, key=lambda name: name.endswith("_id"))
        print(
            f"{DIM}{self._who:>9}  {BOLD}{tool}{PLAIN} {short({name: arguments[name] for name in shown_last})}",
            flush=True,
        )
        result = await self._client.call_tool(tool, arguments)
        text = "".join(getattr(each, "text", "") for each in result.content)
        shown = [textwrap.shorten(line, 140, placeholder=" …") for line in text.splitlines()]
        print(textwrap.indent("\n".join(shown), "        ↳  "), flush=True)
        if result.is_error is not refused:
            raise Refused(f"{tool} was {'refused' if result.is_error else 'not refused'}")
        return result.structured_content or {}


@asynccontextmanager
async def _client(player: Player, who: str) -> AsyncIterator[_Model]:
    # Here alone: it takes longer to import than all else of the demo.
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    address = urlsplit(player.stack.api_url)
    headers = {"Authorization": f"Bearer {player.tokens[who]}", "Host": address.netloc}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{player.stack.endpoint_url}/mcp", http_client=http)) as client,
    ):
        yield _Model(who, client)
