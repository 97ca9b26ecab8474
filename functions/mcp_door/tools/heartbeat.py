"""Extends a claim."""

from __future__ import annotations

from functools import partial

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import FOR_WORKERS, McpTool, Said, ToolCall


class HeartbeatArguments(Arguments):
    task_id: str
    claim_id: str
    lease_seconds: int = LEFT_OUT


@partial(McpTool, arguments=HeartbeatArguments, answer=("expires_at",), plays=("heartbeat",), of=FOR_WORKERS)
def heartbeat(call: ToolCall[HeartbeatArguments]) -> Said:
    """Extend your claim."""
    given = call.arguments.given()
    task_id = given.pop("task_id")
    beat = call.play("heartbeat", given, params={"task_id": task_id})
    data = {"task_id": task_id, "expires_at": beat["expires_at"], "fence": beat["fence"]}
    return Said([f"The claim is yours until {beat['expires_at']}."], "work on; end with complete or fail", data)
