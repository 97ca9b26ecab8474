"""Handoff tools for agents: with one, an agent hands work to the tool's target, and to no other agent."""

from __future__ import annotations

from api.agents.tool_requests import DryRunRequest, ToolRequest
from api.agents.tool_views import DryRunView, ToolList, ToolSchemaView, ToolView, tool_view
from baton.ports.deps import Deps
from baton.services.agents.define_tool import (
    SeenVersions,
    define_tool,
    dry_run,
    find_tool,
    read_tool,
    read_tools,
    tool_details,
)
from rest.answers import Answer, created, ok
from rest.models import PageQuery, query, strict
from rest.pages import cursor_of, fitting
from rest.routing import Call, Routes, human

routes = Routes()


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
    tool, is_new = define_tool(
        deps, call.by, name, body.values(), SeenVersions(body.expected_version, body.seen_target)
    )
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
