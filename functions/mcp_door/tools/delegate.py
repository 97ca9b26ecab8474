"""Has other agents do parts of a claimed task, and waits for their results."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from api.handoffs.requests import LEFT_OUT, Piece
from baton.domain.tasks.task import MAX_BRANCHES
from mcp_door.tools.arguments import Arguments, left_out
from mcp_door.tools.tool import NEITHER, McpTool, Said, ToolCall
from mcp_door.tools.tool_call_keys import key_under_claim
from rest import models


class PartArguments(Piece):
    target: str
    reason: str
    summary: str = LEFT_OUT
    context: dict[str, Any] = LEFT_OUT

    def branch(self) -> dict[str, Any]:
        """Returns the branch of POST /tasks/{task_id}/delegate."""
        given = self.given()
        return left_out(
            target={"agent": self.target, "reason": self.reason},
            summary=given.get("summary"),
            context={"state": given["context"]} if "context" in given else None,
        )


class DelegateArguments(Arguments):
    task_id: str
    claim_id: str
    parts: Annotated[tuple[PartArguments, ...], models.few(MAX_BRANCHES, 1)]
    join: Annotated[Literal["all", "any"], Field(description="what to wait for; default: all")] = LEFT_OUT


@partial(
    McpTool,
    arguments=DelegateArguments,
    answer=("parts",),
    plays=("delegate",),
    of=NEITHER,
    renamed={"branches": "parts"},
)
def delegate(call: ToolCall[DelegateArguments]) -> Said:
    """Have others do parts of your task; it comes back with their results."""
    arguments = call.arguments
    given = arguments.given()
    body: dict[str, Any] = {"claim_id": arguments.claim_id, "branches": [each.branch() for each in arguments.parts]}
    body |= {"join": {"policy": given["join"]}} if "join" in given else {}
    key = key_under_claim("delegate", given)
    task = call.play("delegate", body, params={"task_id": arguments.task_id}, key=key)
    branches = {each["call_id"]: each["task_id"] for each in task["wait"]["branches"]}
    lines = [f"{task['id']} waits for {len(branches)} parts. Your claim on it is over.", *map(_line, branches.items())]
    step = "claim_next for other work, and for this one with its results once they are there"
    return Said(lines, step, {"task_id": task["id"], "state": task["state"], "parts": branches})


def _line(branch: tuple[str, str]) -> str:
    return f"{branch[0]}: {branch[1]}"
