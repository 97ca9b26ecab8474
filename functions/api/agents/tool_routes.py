"""Handoff tools for agents: with one, an agent hands work to the tool's target, and to no other agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from api.agents.tool_views import DryRunView, ToolList, ToolSchemaView, ToolView, tool_view
from api.handoffs.requests import Name
from baton.domain.agents.tool import (
    MAX_CHOICES,
    MAX_INSTRUCTIONS,
    MAX_TOOL_DESCRIPTION,
    MAX_VARIABLE_DESCRIPTION,
    MAX_VARIABLES,
    VARIABLE_PATTERN,
    History,
    ToolMode,
    ToolType,
    Variable,
    VariableType,
)
from baton.services.agents.define_tool import define_tool, dry_run, find_tool, read_tool, read_tools, tool_details
from rest.answers import Answer, created, ok
from rest.models import Body, Changes, PageQuery, Part, few, query, strict
from rest.pages import cursor_of, fitting
from rest.routing import Call, Routes, human

if TYPE_CHECKING:
    from baton.ports import Deps

routes = Routes()


class VariableRequest(Body):
    """An argument for the target. ``enum``: its allowed values, each of its type; empty for any."""

    name: Annotated[str, StringConstraints(pattern=VARIABLE_PATTERN)]
    type: VariableType = VariableType.STRING
    required: bool = False
    description: Annotated[str, StringConstraints(max_length=MAX_VARIABLE_DESCRIPTION)] = ""
    enum: Annotated[tuple[Any, ...], few(MAX_CHOICES)] = ()

    def variable(self) -> Variable:
        return Variable(
            name=self.name, type=self.type, required=self.required, description=self.description, enum=self.enum
        )


class ToolConfigRequest(Part):
    """``target_agent``: a slug, name or alias; required at first. ``mode``: ``transfer`` hands the conversation to the
    target, ``delegate`` returns with the target's result. ``history``: the part of the conversation that the target
    sees."""

    target_agent: Name = ""
    mode: ToolMode = ToolMode.TRANSFER
    context_variables: Annotated[tuple[VariableRequest, ...], few(MAX_VARIABLES)] = ()
    handoff_instructions: Annotated[str, StringConstraints(max_length=MAX_INSTRUCTIONS)] = ""
    history: History = History.FULL


class ToolRequest(Changes):
    """Fields left out keep their value, those of ``config`` too. ``active``: a tool that is switched off is offered to
    no model. ``version``: the version that the change is based on (0: must not exist yet); any other current version
    refuses it. ``target_version``: the same for its target."""

    type: ToolType = ToolType.HANDOFF
    description: Annotated[str, StringConstraints(max_length=MAX_TOOL_DESCRIPTION)] = ""
    config: ToolConfigRequest = ToolConfigRequest()
    active: bool = True
    target_version: Annotated[int, Field(ge=1, lt=2**53)] = 1

    @property
    def seen_target(self) -> int | None:
        return self.target_version if "target_version" in self.model_fields_set else None

    def values(self) -> dict[str, Any]:
        """Returns the fields of the tool itself, those of ``config`` included."""
        given = {**self.given(), **self.config.given()}
        given.pop("config", None)
        given.pop("target_version", None)
        if "context_variables" in given:
            given["context_variables"] = tuple(each.variable() for each in self.config.context_variables)
        return given


class DryRunRequest(Body):
    """``arguments``: as a model would give them."""

    arguments: Any = Field(default_factory=dict)


@routes.put(
    "/tools/{name}",
    body=strict(ToolRequest),
    answers={200: ToolView, 201: ToolView},
    only=human("define a handoff tool"),
)
def put_tool(deps: Deps, call: Call[ToolRequest, None]) -> Answer:
    """Define a tool, change it, or switch it off. A workspace holds at most 200.

    A handoff tool is a standing approval: a handoff made with it needs no other, while the tool and its target are
    active and the target is as a human has seen it. Once a service has changed the target, the tool is `suspended`:
    offered to no model, and refused when called, until a human sends any change of it (also an empty one). Agents get
    tools with PUT /agents/{slug}.
    """
    name, body = call.params["name"], call.body
    tool, is_new = define_tool(deps, call.by, name, body.values(), body.expected_version, body.seen_target)
    shown = tool_view(tool_details(deps, tool))
    return created(shown, call.path) if is_new else ok(shown)


@routes.get("/tools", query=query(PageQuery), answers={200: ToolList})
def list_tools(deps: Deps, call: Call[None, PageQuery]) -> Answer:
    """The workspace's tools, by name; for an agent, its own.

    A page may be shorter than `limit`, even empty, and still have a `next_cursor`.
    """
    page = read_tools(deps, call.by, call.query.limit, cursor_of(call))
    return ok(fitting(call, page, lambda details: str(details.tool.name), tool_view))


@routes.get("/tools/{name}", answers={200: ToolView})
def get_tool(deps: Deps, call: Call[None, None]) -> Answer:
    """One tool."""
    return ok(tool_view(read_tool(deps, call.by, call.params["name"])))


@routes.get("/tools/{name}/schema", answers={200: ToolSchemaView})
def get_tool_schema(deps: Deps, call: Call[None, None]) -> Answer:
    """The tool as a model sees it."""
    return ok(find_tool(deps, call.by, call.params["name"]).spec)


@routes.post(
    "/tools/{name}/dry-run", body=strict(DryRunRequest), answers={200: DryRunView}, is_idempotent=False, refusals=(404,)
)
def dry_run_tool(deps: Deps, call: Call[DryRunRequest, None]) -> Answer:
    """The result that a call of the tool with these arguments would have now. Changes nothing."""
    return ok(dry_run(deps, call.by, call.params["name"], call.body.arguments))
