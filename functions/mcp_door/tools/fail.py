"""Ends a claim without a result."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools.arguments import Arguments, merged
from mcp_door.tools.complete import ended
from mcp_door.tools.tool import FOR_WORKERS, McpTool, Said, ToolCall
from mcp_door.tools.tool_call_keys import key_under_claim


class FailArguments(Arguments):
    task_id: str
    claim_id: str
    type: Literal["blocker", "error", "timeout", "validation", "capability"]
    description: str
    retryable: bool = LEFT_OUT
    claim_next: bool = LEFT_OUT
    advanced: Annotated[dict[str, Any], Field(description="failure.partial_progress, rollback_request")] = LEFT_OUT

    def body(self) -> dict[str, Any]:
        """Returns the body of POST /tasks/{task_id}/fail."""
        given = self.given()
        flat: dict[str, Any] = {name: given[name] for name in ("claim_id", "retryable", "claim_next") if name in given}
        failure = {"type": self.type, "description": self.description}
        return merged(given.get("advanced", {}), {**flat, "failure": failure})


@partial(
    McpTool,
    arguments=FailArguments,
    answer=("state",),
    plays=("fail",),
    of=FOR_WORKERS,
    renamed={"failure.type": "type", "failure.description": "description"},
)
def fail(call: ToolCall[FailArguments]) -> Said:
    """End your claim: it can't be done, or not now (retryable)."""
    key = key_under_claim("fail", call.arguments.given())
    params = {"task_id": call.arguments.task_id}
    return ended(call.play("fail", call.arguments.body(), params=params, key=key))
