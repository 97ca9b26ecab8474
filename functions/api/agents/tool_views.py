"""Tools as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from baton.domain.agents.needs_approval import NeedsApproval
from baton.domain.agents.tool import Suspension, Tool, Variable
from baton.services.agents.define_tool import ToolDetails
from rest import answers, pages
from rest.shape import ViewShape

ModeName = Literal["transfer", "delegate"]
HistoryName = Literal["full", "last_message", "none"]


class VariableView(TypedDict):
    """``enum``: its allowed values; empty for any of its type."""

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
    """Why the tool is offered to no model and refused when called: ``by`` changed these ``fields`` of its target, which
    is now at ``target_version``. A human's PUT of the tool resumes it."""

    reason: str
    by: str
    fields: list[str]
    target_version: int


class NeedsApprovalView(TypedDict):
    """``people``, ``group``: who may approve a call; without both any human. ``within_seconds``: how long they have."""

    people: list[str]
    group: str | None
    needed: int
    not_author: bool
    within_seconds: int


class ToolView(TypedDict):
    """``needs_approval``: who approves each call before it is made; null if nobody has to. ``target_version``: the
    version of its target that a human last approved; 0 for tools older than this field. ``approval_giver``: the human
    who approved the tool; empty if a person without the right defined it or edited it since: it is then
    ``suspended``. ``approval_given_at``: null for an approval of an earlier release."""

    name: str
    type: Literal["handoff"]
    description: str
    config: ToolConfigView
    active: bool
    needs_approval: NeedsApprovalView | None
    version: int
    created_at: str
    updated_at: str
    updated_by: str
    target_version: int
    approval_giver: str
    approval_given_at: str | None
    suspended: SuspensionView | None


class ToolSchemaView(TypedDict):
    """The tool's description for a model. ``input_schema``: JSON Schema."""

    name: str
    description: str
    input_schema: dict[str, Any]


class DryRunView(TypedDict):
    """``errors``: all problems of the arguments, or of the tool as it is now. ``would``: the message that the call
    would show to readers; ``context``: the target's context. Both null if the call would be refused."""

    ok: bool
    errors: list[answers.FieldError]
    would: str | None
    mode: ModeName
    target_agent: str
    target_agent_name: str
    history: HistoryName
    context: dict[str, Any] | None


ToolList = pages.of("ToolList", ToolView)
_TOOL = ViewShape(ToolView, Tool, "config suspended needs_approval")
_CONFIG = ViewShape(ToolConfigView, Tool, "context_variables")
_NEEDS_APPROVAL = ViewShape(NeedsApprovalView, NeedsApproval)
_VARIABLE = ViewShape(VariableView, Variable)
_SUSPENSION = ViewShape(SuspensionView, Suspension, "reason")


def tool_view(details: ToolDetails) -> ToolView:
    tool, suspension = details.tool, details.suspension
    config = _CONFIG(tool, context_variables=list(map(_VARIABLE, tool.context_variables)))
    mark = _NEEDS_APPROVAL(tool.needs_approval) if tool.needs_approval else None
    return _TOOL(
        tool, config=config, needs_approval=mark, suspended=_suspension_view(suspension) if suspension else None
    )


def _suspension_view(suspension: Suspension) -> SuspensionView:
    reason = f"{suspension.reason[0].upper()}{suspension.reason[1:]}. PUT the tool with its target to resume it."
    return _SUSPENSION(suspension, reason=reason)
