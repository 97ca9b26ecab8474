"""Handoff tools for agents: with one, an agent hands work to the tool's target, and to no other agent."""

from __future__ import annotations

from api.agents.tool_requests import DryRunRequest, ToolRequest
from api.agents.tool_views import DryRunView, ToolList, ToolSchemaView, ToolView, tool_view
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from baton.services.agents.define_tool import (
    define_tool,
    dry_run,
    find_tool,
    preview_tool,
    read_tool,
    read_tools,
    tool_details,
)
from baton.steps.seen_versions import SeenVersions
from rest import answers, models, pages, routing

routes = routing.Routes()


@routes.put(
    "/tools/{name}",
    body=models.strict(ToolRequest),
    answers={200: ToolView, 201: ToolView},
    only=routing.human(Deed.DEFINE_TOOL),
)
def put_tool(deps: Deps, call: routing.Call[ToolRequest, None]) -> answers.Answer:
    """Define a tool, change it, or switch it off. A workspace holds at most 200.

    A handoff tool is a standing approval: a handoff made with it needs no other, while the tool and its target are
    active and the target is as a human has seen it. Once a service or member has changed it, the tool is `suspended`:
    offered to no model, and refused when called, until an approver sends any change of it (also an empty one). A member
    defines tools, and switches an approved tool off. That suspends it until an approver sends `config.target_agent`.
    Other changes of an approved tool are 403 `right_needed`. So is a change of a `needs_approval` that names people or
    a group, needs more than one or has `not_author`, unless an administrator sends it. Agents get tools with
    PUT /agents/{slug}.
    """
    name, body = call.params["name"], call.body
    tool, is_new = define_tool(
        deps, call.by, name, body.values(), SeenVersions(tool=body.expected_version, target=body.seen_target)
    )
    shown = tool_view(tool_details(deps, tool))
    return answers.created(shown, call.path) if is_new else answers.ok(shown)


@routes.get("/tools", query=models.query(models.PageQuery), answers={200: ToolList})
def list_tools(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """The workspace's tools, by name; for an agent, its own.

    A page may be shorter than `limit`, even empty, and still have a `next_cursor`.
    """
    page = read_tools(deps, call.by, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.fitting(call, page, lambda details: str(details.tool.name), tool_view))


@routes.get("/tools/{name}", answers={200: ToolView}, page="/tools/{name}")
def get_tool(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """One tool."""
    return answers.ok(tool_view(read_tool(deps, call.by, call.params["name"])))


@routes.get("/tools/{name}/schema", answers={200: ToolSchemaView})
def get_tool_schema(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """The tool as a model sees it."""
    return answers.ok(find_tool(deps, call.by, call.params["name"]).spec)


@routes.post(
    "/tools/{name}/preview",
    body=models.strict(ToolRequest),
    answers={200: ToolSchemaView},
    only=routing.human(Deed.DEFINE_TOOL),
    is_idempotent=False,
    takes_new_names=True,
    refusals=(409,),
)
def preview_a_tool(deps: Deps, call: routing.Call[ToolRequest, None]) -> answers.Answer:
    """The tool as a model would see it, were this definition saved. Changes nothing.

    Body and refusals are those of PUT /tools/{name}.
    """
    body = call.body
    seen = SeenVersions(tool=body.expected_version, target=body.seen_target)
    return answers.ok(preview_tool(deps, call.by, call.params["name"], body.values(), seen).spec)


@routes.post(
    "/tools/{name}/dry-run",
    body=models.strict(DryRunRequest),
    answers={200: DryRunView},
    is_idempotent=False,
    refusals=(404,),
    deed=Deed.READ,
)
def dry_run_tool(deps: Deps, call: routing.Call[DryRunRequest, None]) -> answers.Answer:
    """The result that a call of the tool with these arguments would have now. Changes nothing."""
    return answers.ok(dry_run(deps, call.by, call.params["name"], call.body.arguments))
