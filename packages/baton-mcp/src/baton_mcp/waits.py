"""Calls of tools that wait. Where too many wait, Baton ends a wait sooner or refuses it: then the call looks once
without waiting, and is made again until its time is over, so that a model isn't asked more often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from baton_mcp.mcp_connection import McpConnection, Refused, with_id

# Tool → its argument with the seconds, how many it waits if not said, and the field that tells that it was in vain.
WAITS: dict[str, tuple[str, float, tuple[str, bool | str]]] = {
    "claim_next": ("wait_seconds", 0, ("claimed", False)),
    "await_task": ("timeout_seconds", 25, ("timed_out", True)),
    "ask_person": ("wait_seconds", 0, ("outcome", "open")),
}
# The pauses after looks that were answered at once; the last one again and again.
PAUSES = (1.0, 2.0, 4.0)
SHORTEST_WAIT_SECONDS = 1.0


async def call_tool(
    door: McpConnection, name: str, arguments: dict[str, Any], is_wanted: Callable[[], bool] = lambda: True
) -> dict[str, Any]:
    """Returns the tool's answer. Raises as ``McpConnection.ask`` does, and ``Refused`` if the look is refused, too."""
    argument, usual, in_vain = WAITS.get(name, ("", 0, ("", False)))
    left = arguments.get(argument, usual)
    if not isinstance(left, int | float) or left <= 0:
        return await door.ask("tools/call", {"name": name, "arguments": arguments})
    deadline, pauses = anyio.current_time() + left, list(PAUSES)
    while True:
        # The look has the wait's request_id: another program than AWS may have refused a wait that had claimed.
        begun_at, asked = anyio.current_time(), with_id(name, arguments)
        try:
            params = {"name": name, "arguments": {**asked, argument: int(left)}}
            found = await door.ask("tools/call", params, is_wait=True)
        except Refused:
            found = await door.ask("tools/call", {"name": name, "arguments": {**asked, argument: 0}})
        now = anyio.current_time()
        pause = 0.0 if now - begun_at >= SHORTEST_WAIT_SECONDS else pauses[0]
        left = deadline - now - pause
        field, value = in_vain
        if (found.get("structuredContent") or {}).get(field) != value or left < 1 or not is_wanted():
            return found
        if pause:
            await anyio.sleep(pause)
            pauses = pauses[1:] or pauses
