"""The items of tools."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from baton.adapters.dynamodb import keys, records
from baton.adapters.dynamodb.item_writes import Item
from baton.domain.agents.needs_approval import NeedsApproval
from baton.domain.agents.tool import Tool, ToolType, Variable
from baton.domain.canonical_json import canonical_json
from baton.domain.newer import member
from baton.domain.numbers import loads

# The type of a tool whose calls need an approval, in its item: a version that doesn't know the mark offers it to no
# model, and one that has lost the mark's fields asks any human.
ON_APPROVAL = "handoff_on_approval"


def tool_item(tool: Tool) -> Item:
    """Variables are kept as JSON text, as their values may be of any type: 1 isn't 1.0, nor true."""
    variables = canonical_json([asdict(each) for each in tool.context_variables])
    item = {**keys.tool(tool.workspace, tool.name)._asdict(), **records.written(tool), "context_variables": variables}
    if tool.needs_approval is None:
        return item
    return {**item, "type": ON_APPROVAL, "needs_approval": canonical_json(asdict(tool.needs_approval))}


def tool_from(item: Item) -> Tool:
    """Ignores fields that this version no longer knows; new ones get their defaults."""
    variables = (records.read(Variable, each) for each in loads(item["context_variables"]))
    return records.read(Tool, item, context_variables=tuple(variables), **_mark(item))


def _mark(item: Item) -> dict[str, Any]:
    if item["type"] != ON_APPROVAL:
        return {"type": member(ToolType, item["type"]), "needs_approval": None}
    found = loads(item.get("needs_approval") or "{}")
    mark = NeedsApproval(**{**found, "people": tuple(found.get("people", ()))})
    return {"type": ToolType.HANDOFF, "needs_approval": mark}
