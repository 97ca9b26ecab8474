"""The connection to Baton's door: one message per request, no session. A failure is told in words for a model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
from mcp import MCPError

from baton_client.async_wire import AsyncWires
from baton_client.core import AGENT, Answer, Patience, Pause, Request, Send, exchange, is_refused, new_key, with_query
from baton_mcp.profile import ServerProfile

# Longer than the longest wait of a tool.
SECONDS = 40.0
VERSION = {"MCP-Protocol-Version": "2025-11-25"}
AGAIN = "call again with the same arguments in a few seconds; a request_id that you gave keeps it from happening twice"
ASK = "ask a human to check BATON_URL and BATON_TOKEN, and to start this program again"
# Tools that take a request_id: with one, a repeat of the call does nothing twice.
NEED_ID = frozenset({"claim_next", "create_handoff_marker", "handoff", "remember", "twining_handoff"})
# A repeat of any other tool does nothing twice. A tool that isn't here may be one of a newer Baton's.
REPEATABLE = NEED_ID | {
    *("ask_person", "await_task", "cancel_task", "checkpoint", "complete", "delegate", "fail", "get_task", "heartbeat"),
    *("list_tasks", "recall", "release", "wait_for_callback", "withdraw_entry"),
}
# Status → the next step. The same call would be refused again.
STEPS = {
    400: "correct the arguments, then call again",
    413: "shorten what is largest, or keep it elsewhere and say where; then call again",
    **dict.fromkeys((401, 403, 404), ASK),
}
TOO_LARGE = 413


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
    name, in trails and for its own claims. ``patience``: for how long a call of a tool is repeated."""

    api: Api
    tools: str
    worker: str = ""
    patience: Patience = field(default_factory=Patience)

    async def ask(self, method: str, params: dict[str, Any], *, is_wait: bool = False) -> dict[str, Any]:
        """Returns the method's result. A call of a tool is repeated until Baton answers, and does nothing twice: the
        request has a key, and a tool that needs a ``request_id`` gets one. A tool of a newer Baton is called once.

        Args:
            is_wait: raise ``Refused`` immediately, without a repeat.

        Raises:
            MCPError: an error of the protocol.
            Unanswered: the door refuses the request, or didn't answer. Nothing of it stays here: the next request is
                sent like a first one.
        """
        is_call = method == "tools/call"
        if is_call:
            params = {**params, "arguments": with_id(params["name"], params["arguments"])}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        path = with_query("/mcp", {"tools": self.tools, "worker": self.worker or None})
        repeatable = is_call and params["name"] in REPEATABLE
        key = new_key() if repeatable else None  # for tools that take no request_id
        request = Request[Any]("POST", path, message, key, VERSION)
        flow = exchange(request, self.patience, SECONDS, is_wait=is_wait)
        step = next(flow)
        try:
            while True:
                step = flow.send(await self._done(step))
        except StopIteration as ended:
            return _result(ended.value)

    async def _done(self, step: object) -> Answer:
        match step:
            case Send(request, seconds):
                return await self.api.send(request, seconds)
            case Pause(seconds):
                await anyio.sleep(seconds)
                return Answer(took=seconds)
        raise TypeError(step)


def with_id(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns a call's arguments, with a ``request_id`` if the tool needs one and they have none."""
    if name not in NEED_ID or arguments.get("request_id") is not None:
        return arguments
    return {**arguments, "request_id": new_key()}


def _result(answer: Answer) -> dict[str, Any]:
    match answer.object:
        case {"result": dict(result)}:
            return result
        case {"error": {"data": {"code": str(code), "detail": str(detail)}}}:
            raise Unanswered(f"Refused ({code}): {detail}", _step(answer))
        case {"error": {"code": int(number), "message": str(message)}}:
            raise MCPError(number, message)
    failure = Refused if is_refused(answer.code, answer.foreign) else Unanswered
    # The cause isn't shown to a model: another program may have written it.
    status = answer.status or answer.foreign
    raise failure(f"Baton doesn't answer (HTTP {status})." if status else "Baton doesn't answer.", _step(answer))


def _step(answer: Answer) -> str:
    """Returns the next step. A page of another program says nothing about the caller's token or arguments, but that a
    request is too large for a program between."""
    if (status := answer.status or (answer.foreign == TOO_LARGE and TOO_LARGE)) in STEPS:
        return STEPS[status]
    return f"wait {answer.retry_after:.0f} seconds, then {AGAIN}" if answer.retry_after else AGAIN
