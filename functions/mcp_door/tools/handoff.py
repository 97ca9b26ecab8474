"""Hands work to an agent, or to any that is able."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools import tasks_shown
from mcp_door.tools.arguments import Arguments, left_out, merged
from mcp_door.tools.tool import McpTool, Said, ToolCall
from mcp_door.tools.tool_call_keys import key_of
from rest import models


class HandoffArguments(Arguments):
    reason: Annotated[str, Field(description="why this agent")]
    summary: Annotated[str, Field(description="what to do")] = LEFT_OUT
    target: Annotated[str, Field(description="left out: any able agent")] = LEFT_OUT
    context: dict[str, Any] = LEFT_OUT
    deliverable: Annotated[str, Field(description="its type, like code")] = LEFT_OUT
    criteria: Annotated[list[str], models.few(50), Field(description="of the deliverable")] = LEFT_OUT
    scope: Annotated[str, Field(description="like src/auth: takes what is known along")] = LEFT_OUT
    priority: Literal["P0", "P1", "P2"] = LEFT_OUT
    claim_id: Annotated[str, Field(description="yours, if you hold one")] = LEFT_OUT
    worker: Annotated[str, Field(description="your session's name")] = LEFT_OUT
    agent: Annotated[str, Field(description="act for it")] = LEFT_OUT
    request_id: Annotated[str, Field(description="same id: same handoff")] = LEFT_OUT
    advanced: Annotated[dict[str, Any], Field(description="work_type, kind, results, rollback, budget")] = LEFT_OUT

    def body(self, source: str) -> dict[str, Any]:
        """Returns the body of POST /handoffs."""
        given = self.given()
        flat = left_out(
            source={"agent": source},
            target=left_out(agent=given.get("target"), reason=self.reason),
            summary=given.get("summary"),
            context={"state": given["context"]} if "context" in given else None,
            expectations=self._expectations(given),
            metadata={"priority": given["priority"]} if "priority" in given else None,
            claim_id=given.get("claim_id"),
        )
        if "scope" in given:
            flat |= {"scope": given["scope"], "auto_snapshot": given.get("advanced", {}).get("auto_snapshot", True)}
        return merged(given.get("advanced", {}), flat)

    def _expectations(self, given: dict[str, Any]) -> dict[str, Any] | None:
        if not given.keys() & {"deliverable", "criteria"}:
            return None
        description = given.get("summary") or self.reason
        deliverable = left_out(
            type=given.get("deliverable"), description=description, acceptance_criteria=given.get("criteria")
        )
        return {"deliverables": [deliverable]}


@partial(
    McpTool,
    arguments=HandoffArguments,
    answer=("task_id",),
    plays=("create_a_handoff",),
    renamed={
        "target.agent": "target",
        "target.reason": "reason",
        "source.agent": "agent",
        "metadata.priority": "priority",
        "expectations.deliverables.0.type": "deliverable",
        "expectations.deliverables.0.acceptance_criteria": "criteria",
    },
)
def handoff(call: ToolCall[HandoffArguments]) -> Said:
    """Hand work to another agent, whose completion reports each criterion."""
    arguments = call.arguments
    key = key_of("handoff", arguments.given().get("request_id"))
    made = call.play("create_a_handoff", merged(arguments.body(call.agent), call.named), key=key)
    task = made["task"]
    lines = [f"Handed off; state: {task['state']}", *tasks_shown.head_lines(task), f"url: {task['url']}"]
    data = {"task_id": task["id"], "handoff_id": task["handoff_id"], "state": task["state"], "url": task["url"]}
    waits = tasks_shown.next_step(call, task) if task["state"] == "needs" else "await_task waits for the result"
    return Said(lines, f"{waits}; get_task shows it", data)
