"""Cancels what one handed off, with all that follows from it."""

from __future__ import annotations

from functools import partial

from mcp_door.tools import tasks_shown
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import FOR_SENDERS, McpTool, Said, ToolCall


class CancelArguments(Arguments):
    task_id: str
    reason: str


@partial(McpTool, arguments=CancelArguments, answer=("state",), plays=("cancel",), of=FOR_SENDERS)
def cancel_task(call: ToolCall[CancelArguments]) -> Said:
    """Cancel what you handed off."""
    body = call.arguments.given()
    task = call.play("cancel", body, params={"task_id": body.pop("task_id")})
    lines = [f"{task['id']} is {task['state']}, and so is what follows from it."]
    data = {"task_id": task["id"], "state": task["state"]}
    return Said(lines, tasks_shown.next_step(call, task), data)
