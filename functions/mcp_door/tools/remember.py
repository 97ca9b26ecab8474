"""Posts to the blackboard what the others should know."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from baton.domain.memory.entry import MAX_TAGS, EntryType
from mcp_door.tools import texts
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import McpTool, Said, ToolCall
from mcp_door.tools.tool_call_keys import key_of
from rest import models


class RememberArguments(Arguments):
    entry_type: EntryType
    summary: Annotated[str, Field(description="up to 200 characters")]
    detail: str = LEFT_OUT
    scope: Annotated[str, Field(description="like src/auth; default: project")] = LEFT_OUT
    tags: Annotated[list[str], models.few(MAX_TAGS)] = LEFT_OUT
    relates_to: Annotated[list[str], models.few(100), Field(description="ids, files")] = LEFT_OUT
    rationale: Annotated[str, Field(description="of a decision")] = LEFT_OUT
    supersedes: Annotated[str, Field(description="the decision it replaces")] = LEFT_OUT
    request_id: str = LEFT_OUT


@partial(McpTool, arguments=RememberArguments, answer=("entry_id",), plays=("create_entry",))
def remember(call: ToolCall[RememberArguments]) -> Said:
    """Tell all agents what you found, decided or need."""
    body = call.arguments.given()
    key = key_of("remember", body.pop("request_id", None))
    entry = call.play("create_entry", body, key=key)
    lines = [f"Posted as {entry['id']}: {entry['entry_type']} in {texts.line(entry['scope'])}."]
    if entry["supersedes"]:
        lines.append(f"It replaces {entry['supersedes']}.")
    step = "everybody in the workspace can read it; to replace a decision, post one with supersedes"
    return Said(lines, step, {"entry_id": entry["id"], "scope": entry["scope"], "status": entry["status"]})
