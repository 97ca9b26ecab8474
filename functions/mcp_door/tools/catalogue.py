"""All tools, in the order in which they are shown. A tool is one module, and one line here."""

from __future__ import annotations

from functools import cache

from mcp_door.tools.ask_person import ask_person
from mcp_door.tools.await_task import await_task
from mcp_door.tools.cancel_task import cancel_task
from mcp_door.tools.checkpoint import checkpoint
from mcp_door.tools.claim_next import claim_next
from mcp_door.tools.complete import complete
from mcp_door.tools.create_handoff_marker import create_handoff_marker
from mcp_door.tools.delegate import delegate
from mcp_door.tools.fail import fail
from mcp_door.tools.get_task import get_task
from mcp_door.tools.handoff import handoff
from mcp_door.tools.heartbeat import heartbeat
from mcp_door.tools.list_tasks import list_tasks
from mcp_door.tools.recall import recall
from mcp_door.tools.release import release
from mcp_door.tools.remember import remember
from mcp_door.tools.tool import SENDER, WORKER, McpTool
from mcp_door.tools.twining_handoff import twining_handoff
from mcp_door.tools.wait_for_callback import wait_for_callback
from mcp_door.tools.withdraw_entry import withdraw_entry

USUAL, ALL = "usual", "all"
SETS = frozenset({WORKER, SENDER, USUAL, ALL})
_HANDING_OVER = (handoff, twining_handoff, create_handoff_marker)
_WORKING = (claim_next, heartbeat, checkpoint, ask_person, complete, fail, release, delegate, wait_for_callback)
_WATCHING = (get_task, list_tasks, await_task, cancel_task)
_REMEMBERING = (remember, withdraw_entry, recall)
TOOLS: tuple[McpTool, ...] = (*_HANDING_OVER, *_WORKING, *_WATCHING, *_REMEMBERING)


def tools_of(who: str) -> dict[str, McpTool]:
    """Returns the tools of a set by their names: those of a ``worker``, of a ``sender``, of both (``usual``), or
    ``all``."""
    return {tool.name: tool for tool in TOOLS if who == ALL or who in tool.of or (who == USUAL and tool.of)}


@cache
def missing_in(who: str) -> frozenset[str]:
    """Returns the names of the tools that a set doesn't have."""
    return frozenset(tool.name for tool in TOOLS) - tools_of(who).keys()
