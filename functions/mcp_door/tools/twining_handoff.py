"""Hands results over as Twining's tool does, with its input and its output (docs/spec/memory.md §5)."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from api.handoffs.requests import LEFT_OUT, MAX_LIST, Piece
from mcp_door.tools import texts
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import NEITHER, McpTool, Said, ToolCall
from mcp_door.tools.tool_call_keys import key_of
from rest import models


class ResultArguments(Piece):
    description: str
    status: Literal["completed", "partial", "blocked", "failed"]
    artifacts: Annotated[list[str], models.few(MAX_LIST)] = LEFT_OUT
    notes: str = LEFT_OUT


class TwiningArguments(Arguments):
    source_agent: str
    target_agent: Annotated[str, Field(description="left out: any")] = LEFT_OUT
    scope: str = LEFT_OUT
    summary: str
    results: Annotated[tuple[ResultArguments, ...], models.few(MAX_LIST)]
    auto_snapshot: bool = LEFT_OUT
    request_id: Annotated[str, Field(description="same id: same handoff")] = LEFT_OUT


@partial(
    McpTool, arguments=TwiningArguments, answer=("id",), plays=("create_twining_handoff",), of=NEITHER, is_twinings=True
)
def twining_handoff(call: ToolCall[TwiningArguments]) -> Said:
    """Hand over results with what their scope knows, and post a status."""
    given = call.arguments.given()
    key = key_of("twining_handoff", given.pop("request_id", None))
    made = call.play("create_twining_handoff", given | call.named, key=key)
    size = made["context_snapshot_size"]
    target = texts.line(made["target_agent"] or "any able agent")
    lines = [
        f"Handed over as {made['id']} from {texts.line(made['source_agent'])} to {target}.",
        f"{made['result_count']} results; scope {texts.line(made['scope'])}",
        f"known of it: {size['decisions']} decisions, {size['warnings']} warnings, {size['findings']} findings",
    ]
    return Said(lines, "its target takes it with claim_next; list_tasks shows its state", made)
