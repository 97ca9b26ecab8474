"""Saves how far the work is."""

from __future__ import annotations

from functools import partial
from typing import Any

from mcp_door.tools import texts
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import FOR_WORKERS, McpTool, Said, ToolCall


class CheckpointArguments(Arguments):
    task_id: str
    claim_id: str
    step_name: str
    state: dict[str, Any]


@partial(McpTool, arguments=CheckpointArguments, answer=("checkpoint_id",), plays=("checkpoint",), of=FOR_WORKERS)
def checkpoint(call: ToolCall[CheckpointArguments]) -> Said:
    """Save progress for the next attempt."""
    # Without a key: who goes back to an earlier state means it. A repeat saves the same once more.
    given = call.arguments.given()
    task_id = given.pop("task_id")
    saved = call.play("checkpoint", given, params={"task_id": task_id})
    data = {"checkpoint_id": saved["checkpoint_id"], "task_id": task_id}
    lines = [
        f"Saved as {saved['checkpoint_id']}: {texts.quoted(saved['step_name'])}.",
        "The next attempt begins there.",
    ]
    return Said(lines, "work on; this has extended the claim, as heartbeat does; end with complete or fail", data)
