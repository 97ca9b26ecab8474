"""The items of tools."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.agents.tool import History, Tool, ToolMode, ToolType, Variable, VariableType
from baton.domain.newer import member
from baton.domain.numbers import loads
from baton.domain.tasks import trail


def tool_item(tool: Tool) -> Item:
    """Variables are kept as JSON text, as their values may be of any type: 1 isn't 1.0, nor true."""
    values = {f.name: getattr(tool, f.name) for f in fields(Tool)}
    written = {
        "context_variables": trail.canonical_json([asdict(each) for each in tool.context_variables]),
        "created_at": times.rfc3339(tool.created_at),
        "updated_at": times.rfc3339(tool.updated_at),
    }
    return {**keys.tool(tool.workspace, tool.name)._asdict(), **values, **written}


def tool_from(item: Item) -> Tool:
    return Tool(
        workspace=item["workspace"],
        name=item["name"],
        type=member(ToolType, item["type"]),
        description=item["description"],
        target_agent=item["target_agent"],
        mode=member(ToolMode, item["mode"]),
        context_variables=tuple(map(_variable_from, loads(item["context_variables"]))),
        handoff_instructions=item["handoff_instructions"],
        history=member(History, item["history"]),
        active=item["active"],
        version=int(item["version"]),
        created_at=times.parse_rfc3339(item["created_at"]),
        updated_at=times.parse_rfc3339(item["updated_at"]),
        updated_by=item["updated_by"],
        target_version=int(item.get("target_version", 0)),
    )


def _variable_from(written: dict[str, Any]) -> Variable:
    return Variable(**{**written, "type": member(VariableType, written["type"]), "enum": tuple(written["enum"])})
