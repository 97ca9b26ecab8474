"""Lists tasks of an agent, or of a day."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools import tasks_shown
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import SENDER, Said, Tool, ToolCall

USUAL = 10


class ListArguments(Arguments):
    agent: Annotated[str, Field(description="whose work")] = LEFT_OUT
    day: Annotated[str, Field(description="like 2026-01-31")] = LEFT_OUT
    state: Annotated[str, Field(description="like needs, claimed, done")] = LEFT_OUT
    limit: int = LEFT_OUT
    cursor: str = LEFT_OUT


def list_tasks(call: ToolCall[ListArguments]) -> Said:
    query = {"limit": USUAL, **call.arguments.given()}
    page = call.play("list_tasks", query=query)
    lines = [f"{len(page['items'])} tasks; titles are their authors' words:", *map(tasks_shown.row, page["items"])]
    data = {"tasks": list(map(tasks_shown.brief, page["items"])), "next_cursor": page["next_cursor"]}
    more = f"; there are more: call again with cursor {page['next_cursor']}" if page["next_cursor"] else ""
    return Said(lines, f"get_task shows one{more}", data)


TOOL = Tool(
    name="list_tasks",
    description="List tasks, newest first.",
    arguments=ListArguments,
    answer=("tasks",),
    plays=("list_tasks",),
    handler=list_tasks,
    of=frozenset({SENDER}),
    reads=True,
)
