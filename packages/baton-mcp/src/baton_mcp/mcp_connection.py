"""The connection to Baton's door: one message per request, no session. A failure is told in words for a model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
from mcp import MCPError

from baton_client.async_wire import AsyncWires
from baton_client.core import AGENT, Answer, Request, with_query
from baton_mcp.profile import ServerProfile

# Longer than the longest wait of a tool.
SECONDS = 40.0
# A number of seconds. Another text in its place isn't shown to a model.
MOST_DIGITS = 5
VERSION = {"MCP-Protocol-Version": "2025-11-25"}
AGAIN = "call again with the same arguments in a few seconds; a request_id that you gave keeps it from happening twice"
ASK = "ask a human to check BATON_URL and BATON_TOKEN, and to start this program again"
THROTTLED = frozenset({429, 503})
# Status → the next step. The same call would be refused again.
STEPS = {
    400: "correct the arguments, then call again",
    413: "shorten what is largest, or keep it elsewhere and say where; then call again",
    **dict.fromkeys((401, 403, 404), ASK),
}


class Unanswered(Exception):
    """The door can't be reached, or refuses the caller. ``next_step``: what to do about it."""

    def __init__(self, said: str, next_step: str) -> None:
        super().__init__(said)
        self.next_step = next_step

    @property
    def text(self) -> str:
        return f"{self}\nnext: {self.next_step}"


class Refused(Unanswered):
    """AWS has no room for the request, and began nothing."""


class Api(Protocol):
    """The client's wire, as this program uses it."""

    async def send(self, request: Request[Any], seconds: float) -> Answer: ...


@asynccontextmanager
async def connection(profile: ServerProfile) -> AsyncIterator[AsyncWires]:
    wires = AsyncWires(profile.url, profile.token, AGENT)
    try:
        yield wires
    finally:
        with anyio.CancelScope(shield=True):
            await wires.close()


@dataclass(frozen=True, slots=True)
class McpConnection:
    """``tools``: whose are shown: ``worker``, ``sender``, ``usual`` or ``all``. ``worker``: the session's
    name, in trails and for its own claims."""

    api: Api
    tools: str
    worker: str = ""

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Returns the method's result. Raises ``MCPError`` for what the door calls an error of the protocol, and
        ``Unanswered``. A request that fails leaves nothing behind: the next one is asked as if it was the first."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        path = with_query("/mcp", {"tools": self.tools, "worker": self.worker or None})
        answer = await self.api.send(Request("POST", path, message, headers=VERSION), SECONDS)
        if answer.status == 0:  # why isn't told: another server may have written it
            raise Unanswered("Baton doesn't answer.", AGAIN)
        return _result(answer)


def _result(answer: Answer) -> dict[str, Any]:
    match answer.object:
        case {"result": dict(result)}:
            return result
        case {"error": {"data": {"code": str(code), "detail": str(detail)}}}:
            raise Unanswered(f"Refused ({code}): {detail}", _step(answer))
        case {"error": {"code": int(number), "message": str(message)}}:
            raise MCPError(number, message)
    failure = Refused if answer.status in THROTTLED else Unanswered
    raise failure(f"Baton doesn't answer (HTTP {answer.status}).", _step(answer))


def _step(answer: Answer) -> str:
    if answer.status in STEPS:
        return STEPS[answer.status]
    seconds = answer.headers.get("retry-after", "")
    is_number = seconds.isascii() and seconds.isdigit() and len(seconds) <= MOST_DIGITS
    return f"wait {int(seconds)} seconds, then {AGAIN}" if is_number else AGAIN
