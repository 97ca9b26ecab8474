"""The connection to Baton's door: one message per request, no session. A failure is told in words for a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import MCPError

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


def connection(profile: ServerProfile) -> httpx2.AsyncClient:
    """Returns an HTTP client for the profile. It uses no proxy for an address on this machine."""
    return httpx2.AsyncClient(
        base_url=profile.base_url, headers=profile.headers, timeout=SECONDS, trust_env=not profile.is_local
    )


@dataclass(frozen=True, slots=True)
class McpConnection:
    """``tools``: whose are shown: ``worker``, ``sender``, ``usual`` or ``all``. ``worker``: the session's
    name, in trails and for its own claims."""

    http: httpx2.AsyncClient
    tools: str
    worker: str = ""

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Returns the method's result. Raises ``MCPError`` for what the door calls an error of the protocol, and
        ``Unanswered``. A request that fails leaves nothing behind: the next one is asked as if it was the first."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        try:
            response = await self.http.post(
                "/mcp",
                params={"tools": self.tools} | ({"worker": self.worker} if self.worker else {}),
                json=message,
                headers=VERSION,
            )
        except httpx2.HTTPError as exc:
            raise Unanswered(f"Baton doesn't answer ({type(exc).__name__}).", AGAIN) from exc
        return _result(response)


def _result(response: httpx2.Response) -> dict[str, Any]:
    match _json(response):
        case {"result": dict(result)}:
            return result
        case {"error": {"data": {"code": str(code), "detail": str(detail)}}}:
            raise Unanswered(f"Refused ({code}): {detail}", _step(response))
        case {"error": {"code": int(number), "message": str(message)}}:
            raise MCPError(number, message)
    failure = Refused if response.status_code in THROTTLED else Unanswered
    raise failure(f"Baton doesn't answer (HTTP {response.status_code}).", _step(response))


def _json(response: httpx2.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return None


def _step(response: httpx2.Response) -> str:
    if response.status_code in STEPS:
        return STEPS[response.status_code]
    seconds = response.headers.get("Retry-After", "")
    is_number = seconds.isascii() and seconds.isdigit() and len(seconds) <= MOST_DIGITS
    return f"wait {int(seconds)} seconds, then {AGAIN}" if is_number else AGAIN
