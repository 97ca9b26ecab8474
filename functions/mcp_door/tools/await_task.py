"""Waits for a task's end, or for a state."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools import tasks_shown
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import FOR_SENDERS, McpTool, Said, ToolCall

# Many clients give a call up after a minute.
MAX_SECONDS = 25
AGAIN = "call await_task again with the same arguments; nothing is lost in between"


class AwaitArguments(Arguments):
    task_id: str
    state: Annotated[str, Field(description="default: ended")] = LEFT_OUT
    timeout_seconds: Annotated[int, Field(ge=0, le=MAX_SECONDS)] = LEFT_OUT


@partial(McpTool, arguments=AwaitArguments, answer=("state",), plays=("await_a_task",), of=FOR_SENDERS, reads=True)
def await_task(call: ToolCall[AwaitArguments]) -> Said:
    """Wait up to 25 s for a task. Not yet: call again."""
    given = call.arguments.given()
    query = {"state": given["state"]} if "state" in given else {}
    seconds = given.get("timeout_seconds", MAX_SECONDS)
    task = call.play_waiting("await_a_task", seconds, params={"task_id": given["task_id"]}, query=query)
    state = f"{task['state']}{tasks_shown.holder(task)}"
    said = f"Not yet; state: {state}" if task["timed_out"] else f"State: {state}"
    lines = [said, *tasks_shown.head_lines(task), *tasks_shown.outcome_lines(task)]
    data = {**tasks_shown.brief(task), "timed_out": task["timed_out"], "output": task["output"]}
    data["failure"] = task.get("failure")
    again = task["timed_out"] and task["state"] != "needs"
    step = tasks_shown.own_claim(call, task) + AGAIN if again else tasks_shown.next_step(call, task)
    return Said(lines, step, data, tasks_shown.OTHERS)
