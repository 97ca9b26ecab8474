"""Lists tasks of an agent, of a day, or what the caller handed off."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from baton.domain.access.principal import PrincipalKind
from mcp_door.tools import tasks_shown, texts
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import McpTool, Said, ToolCall
from rest.errors import InvalidFields

USUAL = 10
# A page may hold nothing that the caller may read, and the next one something.
MOST_PAGES = 5
FREE = "claim_next gets you work; sent shows what you handed off"


class ListArguments(Arguments):
    agent: Annotated[str, Field(description="whose work")] = LEFT_OUT
    sent: Annotated[bool, Field(description="what you handed off")] = LEFT_OUT
    held: Annotated[bool, Field(description="what you hold")] = LEFT_OUT
    day: Annotated[str, Field(description="like 2026-01-31")] = LEFT_OUT
    state: Annotated[str, Field(description="like needs, claimed, done")] = LEFT_OUT
    limit: int = LEFT_OUT
    cursor: str = LEFT_OUT


@partial(
    McpTool,
    arguments=ListArguments,
    answer=("tasks",),
    plays=("list_tasks", "list_all_handoffs", "list_held"),
    reads=True,
)
def list_tasks(call: ToolCall[ListArguments]) -> Said:
    """List tasks, newest first."""
    given = {"limit": USUAL, **call.arguments.given()}
    page = _found(call, *_asked(call, given))
    items = [{"id": each.get("task_id"), **each} for each in page["items"]]
    data = {"tasks": list(map(tasks_shown.brief, items)), "next_cursor": page["next_cursor"]}
    return Said(_lines(given, items), _next_step(given, page), data, ("tasks",))


def _asked(call: ToolCall[ListArguments], given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns the route and its query. Raises ``InvalidFields``."""
    query = {name: value for name, value in given.items() if name not in {"sent", "held"}}
    if given.get("held"):
        if others := sorted({"sent", "day", "state"} & given.keys()):
            raise InvalidFields([(name, "isn't for held") for name in others])
        if call.caller.by.kind is not PrincipalKind.AGENT and "agent" not in given:
            raise InvalidFields([("agent", "is required: this token isn't an agent's")])
        return "list_held", {name: query[name] for name in ("limit", "cursor") if name in query}
    if not given.get("sent"):
        return "list_tasks", query
    if "day" in query:
        raise InvalidFields([("day", "isn't for sent, which lists the last 7 days")])
    target = {"target": query.pop("agent")} if "agent" in query else {}
    source = call.own_name if call.caller.by.kind is PrincipalKind.AGENT else call.caller.by.key
    return "list_all_handoffs", {**query, **target, "source": source}


def _found(call: ToolCall[ListArguments], route: str, query: dict[str, Any]) -> dict[str, Any]:
    """Returns the first page that holds something, or the last one that was looked at."""
    params = {"slug": call.agent} if route == "list_held" else {}
    page = call.play(route, params=params, query=query)
    for _ in range(MOST_PAGES - 1):
        if page["items"] or page["next_cursor"] is None:
            break
        page = call.play(route, params=params, query={**query, "cursor": page["next_cursor"]})
    return dict(page)


def _lines(query: dict[str, Any], tasks: list[dict[str, Any]]) -> list[str]:
    """Returns the list, and what it is of: what was handed off, an agent's work, a day's, or today's; ``needs`` alone
    is of all days."""
    whose = texts.line(query.get("agent") or query.get("day") or "today (UTC)")
    said = f"{len(tasks)} tasks" if _waits_for_humans(query) else f"{len(tasks)} tasks of {whose}"
    if query.get("held"):
        said = f"{len(tasks)} tasks that you hold"
    if query.get("sent"):
        said = f"{len(tasks)} handoffs of yours"
    return [f"{said}; titles are their authors' words:", *map(tasks_shown.row, tasks)] if tasks else [f"{said}."]


def _waits_for_humans(query: dict[str, Any]) -> bool:
    return query.get("state") == "needs" and not query.keys() & {"agent", "day", "sent"}


def _next_step(query: dict[str, Any], page: dict[str, Any]) -> str:
    """A page that is full may be the last one: only its cursor tells."""
    more = f"there may be more: call again with cursor {page['next_cursor']}" if page["next_cursor"] else ""
    if query.get("held"):
        goes_on = (
            "claim_next with task_id and resume_fence goes on with one whose claim_id you lost, unless another session "
            "is at work on it"
        )
        return "; ".join(each for each in (goes_on if page["items"] else FREE, more) if each)
    if not page["items"]:
        return (
            f"nothing so far that you may read; {more}" if more else "ask for another agent, day or state; or for sent"
        )
    is_of_today = not _waits_for_humans(query) and not query.keys() & {"agent", "day", "sent"}
    others = "these are today's (UTC): agent, day or sent shows others" if is_of_today else ""
    return "; ".join(each for each in ("get_task shows one", more, others) if each)
