"""The items of tools."""

from __future__ import annotations

from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.agents.tool import History, Tool, ToolMode, ToolType, Variable, VariableType
from baton.domain.canonical_json import canonical_json
from baton.domain.newer import member
from baton.domain.numbers import loads

_KINDS: dict[str, type[StrEnum]] = {"type": ToolType, "mode": ToolMode, "history": History}


def tool_item(tool: Tool) -> Item:
    """Variables are kept as JSON text, as their values may be of any type: 1 isn't 1.0, nor true."""
    values = {f.name: getattr(tool, f.name) for f in fields(Tool)}
    written = {
        "context_variables": canonical_json([asdict(each) for each in tool.context_variables]),
        "created_at": times.rfc3339(tool.created_at),
        "updated_at": times.rfc3339(tool.updated_at),
    }
    return {**keys.tool(tool.workspace, tool.name)._asdict(), **values, **written}


def tool_from(item: Item) -> Tool:
    """Ignores fields that this version no longer knows; new ones get their defaults."""
    values: dict[str, Any] = {f.name: item[f.name] for f in fields(Tool) if f.name in item}
    values |= {name: member(kind, values[name]) for name, kind in _KINDS.items()}
    values |= {name: times.parse_rfc3339(values[name]) for name in ("created_at", "updated_at")}
    values |= {name: int(values.get(name, 0)) for name in ("version", "target_version")}
    return Tool(**{**values, "context_variables": tuple(map(_variable_from, loads(values["context_variables"])))})


def _variable_from(written: dict[str, Any]) -> Variable:
    return Variable(**{**written, "type": member(VariableType, written["type"]), "enum": tuple(written["enum"])})
