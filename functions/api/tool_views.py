"""Tools as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import TypedDict

from baton.domain.times import rfc3339
from rest.answers import FieldError

if TYPE_CHECKING:
    from baton.domain.tool import Suspension, Tool, Variable

ModeName = Literal["transfer", "delegate"]
HistoryName = Literal["full", "last_message", "none"]


class VariableView(TypedDict):
    """``enum``: the values that it may have; empty for any of its type."""

    name: str
    type: Literal["string", "number", "boolean", "object", "array"]
    required: bool
    description: str
    enum: list[Any]


class ToolConfigView(TypedDict):
    target_agent: str
    mode: ModeName
    context_variables: list[VariableView]
    handoff_instructions: str
    history: HistoryName


class SuspensionView(TypedDict):
    """Why no model is offered the tool, and a call of it is refused: ``by`` changed these ``fields`` of its target,
    which is at ``target_version`` now. A human's PUT of the tool resumes it."""

    reason: str
    by: str
    fields: list[str]
    target_version: int


class ToolView(TypedDict):
    """``target_version``: that of its target as a human last approved it; 0 where that wasn't kept yet."""

    name: str
    type: Literal["handoff"]
    description: str
    config: ToolConfigView
    active: bool
    version: int
    created_at: str
    updated_at: str
    updated_by: str
    target_version: int
    suspended: SuspensionView | None


class ToolList(TypedDict):
    items: list[ToolView]
    next_cursor: str | None


class ToolSchemaView(TypedDict):
    """What a model is told of the tool. ``input_schema``: JSON Schema."""

    name: str
    description: str
    input_schema: dict[str, Any]


class DryRunView(TypedDict):
    """``errors``: everything that is wrong, with the arguments or with the tool as it is now. ``would``: what whoever
    watches would be told, ``context``: what the target would know; null where the call would be refused."""

    ok: bool
    errors: list[FieldError]
    would: str | None
    mode: ModeName
    target_agent: str
    target_agent_name: str
    history: HistoryName
    context: dict[str, Any] | None


def tool_view(tool: Tool, suspension: Suspension | None) -> ToolView:
    return {
        "name": tool.name,
        "type": tool.type.value,
        "description": tool.description,
        "config": {
            "target_agent": tool.target_agent,
            "mode": tool.mode.value,
            "context_variables": [_variable_view(each) for each in tool.context_variables],
            "handoff_instructions": tool.handoff_instructions,
            "history": tool.history.value,
        },
        "active": tool.active,
        "version": tool.version,
        "created_at": rfc3339(tool.created_at),
        "updated_at": rfc3339(tool.updated_at),
        "updated_by": tool.updated_by,
        "target_version": tool.target_version,
        "suspended": _suspension_view(suspension) if suspension else None,
    }


def _suspension_view(suspension: Suspension) -> SuspensionView:
    return {
        "reason": f"{suspension.reason[0].upper()}{suspension.reason[1:]}. PUT the tool to resume it.",
        "by": suspension.by,
        "fields": list(suspension.fields),
        "target_version": suspension.target_version,
    }


def _variable_view(variable: Variable) -> VariableView:
    return {
        "name": variable.name,
        "type": variable.type.value,
        "required": variable.required,
        "description": variable.description,
        "enum": list(variable.enum),
    }
