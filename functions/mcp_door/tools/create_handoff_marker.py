"""Escalates, and gives back the block to paste."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools import texts
from mcp_door.tools.arguments import Arguments, merged
from mcp_door.tools.tool import NEITHER, McpTool, Said, ToolCall
from mcp_door.tools.tool_call_keys import key_of


class MarkerArguments(Arguments):
    target_agent: str
    escalation_reason: str
    source_digest_url: str
    source_agent: Annotated[str, Field(description="default: you")] = LEFT_OUT
    create_task: bool = LEFT_OUT
    task_priority: Annotated[Literal["P0", "P1", "P2"], Field(description="needed unless create_task is false")] = (
        LEFT_OUT
    )
    request_id: str = LEFT_OUT
    advanced: Annotated[dict[str, Any], Field(description="relation ids, scope")] = LEFT_OUT


@partial(McpTool, arguments=MarkerArguments, answer=("handoff_block",), plays=("create_marker",), of=NEITHER)
def create_handoff_marker(call: ToolCall[MarkerArguments]) -> Said:
    """Escalate: a block for your digest, and a task unless one is open."""
    given = call.arguments.given()
    advanced, request_id = given.pop("advanced", {}), given.pop("request_id", None)
    if "scope" in advanced:
        advanced = {"auto_snapshot": True, **advanced}
    body = merged(advanced, {"source_agent": call.own_name, **given})
    made = call.play("create_marker", body, key=key_of("create_handoff_marker", request_id))
    lines = [_outcome(made), *texts.block(body["source_agent"], "block for the digest", made["handoff_block"])]
    if made["task_url"] or made["existing_task_url"]:
        lines.append(f"task: {texts.line(made['task_url'] or made['existing_task_url'])}")
    data = {name: made[name] for name in FIELDS}
    return Said(lines, _next_step(made), data)


def _outcome(made: dict[str, Any]) -> str:
    if made["duplicate_prevented"]:
        return "No new task: one for the same escalation is still open."
    if made["needs_manual_review"]:
        return "No task yet: this direction is at its cap, and a human has to release it."
    return (
        f"Escalated. task_id: {made['task_id']}"
        if made["task_created"]
        else "Here is the block; no task was asked for."
    )


def _next_step(made: dict[str, Any]) -> str:
    then = "; await_task waits for the task" if made["task_id"] else ""
    return f"paste the block into your digest{then}"


FIELDS = (
    *("handoff_block", "task_created", "task_id", "handoff_id", "duplicate_prevented", "needs_manual_review"),
    *("task_url", "existing_task_url"),
)
