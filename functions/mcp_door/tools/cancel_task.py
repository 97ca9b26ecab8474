"""Cancels what one handed off, with all that follows from it."""

from __future__ import annotations

from mcp_door.tools import tasks_shown
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import SENDER, McpTool, Said, ToolCall


class CancelArguments(Arguments):
    task_id: str
    reason: str


def cancel(call: ToolCall[CancelArguments]) -> Said:
    body = call.arguments.given()
    task = call.play("cancel", body, params={"task_id": body.pop("task_id")})
    lines = [f"{task['id']} is {task['state']}, and so is what follows from it."]
    data = {"task_id": task["id"], "state": task["state"]}
    return Said(lines, tasks_shown.next_step(call, task), data)


TOOL = McpTool(
    name="cancel_task",
    description="Cancel what you handed off.",
    arguments=CancelArguments,
    answer=("state",),
    plays=("cancel",),
    handler=cancel,
    of=frozenset({SENDER}),
)
