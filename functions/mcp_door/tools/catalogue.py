"""All tools, in the order in which they are shown. A tool is one module, and one line here."""

from __future__ import annotations

from functools import cache

from mcp_door.tools import (
    await_task,
    cancel_task,
    checkpoint,
    claim_next,
    complete,
    create_handoff_marker,
    delegate,
    fail,
    get_task,
    handoff,
    heartbeat,
    list_tasks,
    recall,
    release,
    remember,
    twining_handoff,
    wait_for_callback,
    withdraw_entry,
)
from mcp_door.tools.tool import SENDER, WORKER, McpTool

USUAL, ALL = "usual", "all"
SETS = frozenset({WORKER, SENDER, USUAL, ALL})
TOOLS: tuple[McpTool, ...] = (
    handoff.TOOL,
    twining_handoff.TOOL,
    create_handoff_marker.TOOL,
    claim_next.TOOL,
    heartbeat.TOOL,
    checkpoint.TOOL,
    complete.TOOL,
    fail.TOOL,
    release.TOOL,
    delegate.TOOL,
    wait_for_callback.TOOL,
    get_task.TOOL,
    list_tasks.TOOL,
    await_task.TOOL,
    cancel_task.TOOL,
    remember.TOOL,
    withdraw_entry.TOOL,
    recall.TOOL,
)


def tools_of(who: str) -> dict[str, McpTool]:
    """Returns the tools of a set by their names: those of a ``worker``, of a ``sender``, of both (``usual``), or
    ``all``."""
    return {tool.name: tool for tool in TOOLS if who == ALL or who in tool.of or (who == USUAL and tool.of)}


@cache
def missing_in(who: str) -> frozenset[str]:
    """Returns the names of the tools that a set doesn't have."""
    return frozenset(tool.name for tool in TOOLS) - tools_of(who).keys()
