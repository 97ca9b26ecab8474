"""Gives a claim up until something outside of Baton answers."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import NEITHER, McpTool, Said, ToolCall
from mcp_door.tools.tool_call_keys import key_under_claim


class CallbackArguments(Arguments):
    task_id: str
    claim_id: str
    interaction_id: Annotated[str, Field(description="your name for it")]
    until: Annotated[str, Field(description="a time; default: 7 days")] = LEFT_OUT


@partial(McpTool, arguments=CallbackArguments, answer=("callback",), plays=("wait_for_a_callback",), of=NEITHER)
def wait_for_callback(call: ToolCall[CallbackArguments]) -> Said:
    """Let your task wait for an answer from outside, posted to a secret URL."""
    body = call.arguments.given()
    key = key_under_claim("wait_for_callback", body)
    task = call.play("wait_for_a_callback", body, params={"task_id": body.pop("task_id")}, key=key)
    callback = task["callback"]
    lines = [
        f"{task['id']} waits until {callback['until']}. Your claim on it is over.",
        f"callback url, a secret: {callback['url']}",
    ]
    step = (
        "give the url to whoever answers, who posts JSON there once; claim_next for other work, and for this one then"
    )
    return Said(lines, step, {"task_id": task["id"], "state": task["state"], "callback": callback})
