"""Lists tasks of an agent, or of a day."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools import tasks_shown, texts
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
    data = {"tasks": list(map(tasks_shown.brief, page["items"])), "next_cursor": page["next_cursor"]}
    return Said(_lines(query, page["items"]), _next_step(query, page), data, ("tasks",))


def _lines(query: dict[str, Any], tasks: list[dict[str, Any]]) -> list[str]:
    """Returns the list, and what it is of: without an agent the tasks of a day, today if none is named, and ``needs``
    alone is of all days."""
    whose = texts.line(query.get("agent") or query.get("day") or "today (UTC)")
    said = f"{len(tasks)} tasks" if _waits_for_humans(query) else f"{len(tasks)} tasks of {whose}"
    return [f"{said}; titles are their authors' words:", *map(tasks_shown.row, tasks)] if tasks else [f"{said}."]


def _waits_for_humans(query: dict[str, Any]) -> bool:
    return query.get("state") == "needs" and not query.keys() & {"agent", "day"}


def _next_step(query: dict[str, Any], page: dict[str, Any]) -> str:
    if page["next_cursor"]:
        return f"there are more: call again with cursor {page['next_cursor']}; get_task shows one"
    is_of_today = not _waits_for_humans(query) and not query.keys() & {"agent", "day"}
    others = "; these are today's (UTC), agent or day shows others" if is_of_today else ""
    return f"get_task shows one{others}" if page["items"] else "ask for another agent, day or state"


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
