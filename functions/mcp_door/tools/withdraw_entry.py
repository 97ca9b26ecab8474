"""Takes an entry of one's own back."""

from __future__ import annotations

from functools import partial

from api.handoffs.requests import LEFT_OUT
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.tool import McpTool, Said, ToolCall


class WithdrawArguments(Arguments):
    entry_id: str
    reason: str = LEFT_OUT


@partial(McpTool, arguments=WithdrawArguments, answer=("status",), plays=("withdraw_an_entry",))
def withdraw_entry(call: ToolCall[WithdrawArguments]) -> Said:
    """Take back what you posted, if it is wrong."""
    body = call.arguments.given()
    entry = call.play("withdraw_an_entry", body, params={"entry_id": body.pop("entry_id")})
    lines = [f"{entry['id']} is taken back: nobody finds it any more."]
    return Said(lines, "post what holds with remember", {"entry_id": entry["id"], "status": entry["status"]})
