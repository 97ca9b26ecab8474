"""Saves how far the work is."""

from __future__ import annotations

from typing import Any

from mcp_door.tools import texts
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.keys import key_under_claim
from mcp_door.tools.tool import WORKER, Said, Tool, ToolCall


class CheckpointArguments(Arguments):
    task_id: str
    claim_id: str
    step_name: str
    state: dict[str, Any]


def checkpoint(call: ToolCall[CheckpointArguments]) -> Said:
    given = call.arguments.given()
    key = key_under_claim("checkpoint", given)
    task_id = given.pop("task_id")
    saved = call.play("checkpoint", given, params={"task_id": task_id}, key=key)
    data = {"checkpoint_id": saved["checkpoint_id"], "task_id": task_id}
    lines = [
        f"Saved as {saved['checkpoint_id']}: {texts.quoted(saved['step_name'])}.",
        "The next attempt begins there.",
    ]
    return Said(lines, "work on; a checkpoint doesn't extend the claim, heartbeat does", data)


TOOL = Tool(
    name="checkpoint",
    description="Save progress for the next attempt.",
    arguments=CheckpointArguments,
    answer=("checkpoint_id",),
    plays=("checkpoint",),
    handler=checkpoint,
    of=frozenset({WORKER}),
)
