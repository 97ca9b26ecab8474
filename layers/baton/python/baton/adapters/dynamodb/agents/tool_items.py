"""The items of tools."""

from __future__ import annotations

from dataclasses import asdict

from baton.adapters.dynamodb import keys, records
from baton.adapters.dynamodb.item_writes import Item
from baton.domain.agents.tool import Tool, Variable
from baton.domain.canonical_json import canonical_json
from baton.domain.numbers import loads


def tool_item(tool: Tool) -> Item:
    """Variables are kept as JSON text, as their values may be of any type: 1 isn't 1.0, nor true."""
    variables = canonical_json([asdict(each) for each in tool.context_variables])
    return {**keys.tool(tool.workspace, tool.name)._asdict(), **records.written(tool), "context_variables": variables}


def tool_from(item: Item) -> Tool:
    """Ignores fields that this version no longer knows; new ones get their defaults."""
    variables = (records.read(Variable, each) for each in loads(item["context_variables"]))
    return records.read(Tool, item, context_variables=tuple(variables))
