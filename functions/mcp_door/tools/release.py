"""Gives a claimed task back, undone."""

from __future__ import annotations

from functools import partial

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.complete import ended
from mcp_door.tools.tool import FOR_WORKERS, McpTool, Said, ToolCall
from mcp_door.tools.tool_call_keys import key_under_claim


class ReleaseArguments(Arguments):
    task_id: str
    claim_id: str
    reason: str = LEFT_OUT


@partial(McpTool, arguments=ReleaseArguments, answer=("state",), plays=("release",), of=FOR_WORKERS)
def release(call: ToolCall[ReleaseArguments]) -> Said:
    """Give your claim back, undone."""
    given = call.arguments.given()
    key = key_under_claim("release", given)
    task_id = given.pop("task_id")
    return ended(call.play("release", given, params={"task_id": task_id}, key=key))
