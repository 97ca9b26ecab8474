"""Shows a task, or the chain that it is part of."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools import tasks_shown, texts
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import McpTool, Said, ToolCall


class TaskArguments(Arguments):
    task_id: str
    chain: Annotated[bool, Field(description="with its workflow's handoffs")] = LEFT_OUT


@partial(McpTool, arguments=TaskArguments, answer=("state", "output"), plays=("get_task", "get_chain"), reads=True)
def get_task(call: ToolCall[TaskArguments]) -> Said:
    """Show a task: state, output, failure."""
    task = call.play("get_task", params={"task_id": call.arguments.task_id})
    lines = [
        f"State: {task['state']}{tasks_shown.holder(task)}",
        *tasks_shown.head_lines(task),
        *tasks_shown.outcome_lines(task),
    ]
    data = {**tasks_shown.brief(task), "output": task["output"], "failure": task["failure"], "url": task["url"]}
    if call.arguments.given().get("chain"):
        params = {"workflow_id": task["workflow_id"]}
        data["chain"] = call.play("get_chain", params=params, query={"format": "text"})
        lines += texts.block("its agents", "chain", data["chain"])
    return Said(lines, tasks_shown.next_step(call, task), data, (*tasks_shown.OTHERS, "chain"))
