"""All tools, in the order in which they are shown. A tool is one module, and one line here."""

from __future__ import annotations

from mcp_door.tools import (
    await_task,
    checkpoint,
    claim_next,
    complete,
    create_handoff_marker,
    fail,
    get_task,
    handoff,
    heartbeat,
    list_tasks,
    recall,
    remember,
    twining_handoff,
)
from mcp_door.tools.tool import SENDER, WORKER, Tool

ALL = "all"
WHO = (WORKER, SENDER, ALL)
TOOLS: tuple[Tool, ...] = (
    handoff.TOOL,
    twining_handoff.TOOL,
    create_handoff_marker.TOOL,
    claim_next.TOOL,
    heartbeat.TOOL,
    checkpoint.TOOL,
    complete.TOOL,
    fail.TOOL,
    get_task.TOOL,
    list_tasks.TOOL,
    await_task.TOOL,
    remember.TOOL,
    recall.TOOL,
)


def tools_of(who: str) -> dict[str, Tool]:
    """Returns the tools for ``worker``, ``sender`` or ``all``, by their names."""
    return {tool.name: tool for tool in TOOLS if who == ALL or who in tool.of}
