"""Finds what the workspace knows, or why a file is as it is."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.memory_shown import found_lines
from mcp_door.tools.tool import McpTool, Said, ToolCall
from rest.errors import InvalidFields

USUAL = 5


class RecallArguments(Arguments):
    query: Annotated[str, Field(description="words, files, symbols")] = LEFT_OUT
    why: Annotated[str, Field(description="or a file: what decided it")] = LEFT_OUT
    scope: str = LEFT_OUT
    entry_type: Annotated[str, Field(description="as in remember")] = LEFT_OUT
    limit: int = LEFT_OUT


@partial(
    McpTool,
    arguments=RecallArguments,
    answer=("entries",),
    plays=("recall_entries", "explain_path"),
    reads=True,
    renamed={"q": "query", "path": "why"},
)
def recall(call: ToolCall[RecallArguments]) -> Said:
    """Ask what the others know, or why a file is as it is."""
    answer = _answer(call, call.arguments.given())
    found = list(answer["items"])
    left_out = [] if answer["is_whole"] else [f"Only the newest {answer['searched']} entries were searched."]
    if not found:
        lines = ["Nothing is known of it.", *left_out]
        return Said(lines, "find it out, and tell the others with remember", {"entries": []})
    replaced = sum(len(each["replaced"]) for each in found)
    begin = f"{len(found)} entries{f', which replace {replaced}' if replaced else ''}:"
    lines = [begin, *found_lines(found), *left_out]
    return Said(
        lines, "take what holds into account; replace what doesn't with remember", {"entries": found}, ("entries",)
    )


def _answer(call: ToolCall[RecallArguments], given: dict[str, Any]) -> dict[str, Any]:
    """Raises ``InvalidFields`` unless one of the two questions is asked."""
    if ("query" in given) is ("why" in given):
        raise InvalidFields([("query", "is required, or why in its place")])
    limit = {"limit": given.get("limit", USUAL)}
    if "why" in given:
        if others := sorted({"scope", "entry_type"} & given.keys()):
            raise InvalidFields([(name, "isn't for why") for name in others])
        return dict(call.play("explain_path", query={"path": given["why"], **limit}))
    narrowed = {name: given[name] for name in ("scope", "entry_type") if name in given}
    return dict(call.play("recall_entries", query={"q": given["query"], **narrowed, **limit}))
