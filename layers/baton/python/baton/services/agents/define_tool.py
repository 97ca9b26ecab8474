"""A human defines a handoff tool: every agent that has it may hand work to its target (docs/spec/tools.md §1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import ChangeSubject
from baton.domain.agents.agent import Agent
from baton.domain.agents.tool import MAX_TOOLS, Suspension, Tool, Toolbox, check_tool, undefined
from baton.domain.guardrails.guardrails import checked
from baton.domain.handoffs.handoff import must_fit
from baton.domain.runs.prompt import context_after
from baton.ports.deps import Deps
from baton.ports.handoffs import HandoffQuery
from baton.ports.paging import Page
from baton.steps.access.read_rights import ReadRights
from baton.steps.access.record_change import plain, recorded_edit
from baton.steps.agents import resolve_agents
from baton.steps.retrying import retry_on_conflict
from baton.steps.seen_versions import SeenVersions

# In one read, next to the settings.
TARGETS_AT_ONCE = 90


def define_tool(
    deps: Deps,
    by: Principal,
    name: str,
    values: dict[str, Any],
    seen: SeenVersions | None = None,
) -> tuple[Tool, bool]:
    """Returns the tool in its new version, and whether it is new. Fields left out keep their value; a new tool needs
    ``target_agent``. The call approves the target as it is now, and so resumes a tool with a changed target, unless it
    only switches the tool off. Raises ``RightNeeded``, ``UnknownAgent``, ``TargetInactive``, ``LimitReached``, and
    ``VersionConflict`` if a version of ``seen`` isn't the present one, or the tool or its target changes meanwhile."""
    versions = replace(seen or SeenVersions())

    def attempt() -> tuple[Tool, bool]:
        after, toolbox = _defined(deps, by, name, values, versions)
        before = toolbox.get(name)
        edited = (None if before is None else plain(before), plain(after))
        change = recorded_edit(deps, by, ChangeSubject.TOOLS, name, edited)
        deps.store.tools.save_tool(after, toolbox, change)
        return after, before is None

    return retry_on_conflict(deps, attempt)


def preview_tool(
    deps: Deps, by: Principal, name: str, values: dict[str, Any], seen: SeenVersions | None = None
) -> Tool:
    """Returns the tool that ``define_tool`` would save, and raises what it would raise. Writes nothing."""
    return _defined(deps, by, name, values, seen or SeenVersions())[0]


def _defined(deps: Deps, by: Principal, name: str, values: dict[str, Any], seen: SeenVersions) -> tuple[Tool, Toolbox]:
    """Returns the tool in its next version, and the toolbox that it was made from."""
    by.must_have(Deed.DEFINE_TOOL)
    check_tool(name, values)
    if mark := values.get("needs_approval"):
        mark.check(deps.store.settings.of(by.workspace).groups)
    toolbox, now = deps.store.tools.toolbox(by.workspace), deps.clock.now()
    before = toolbox.get(name) or undefined(name, by, now)
    seen.must_be("tool", before.version, is_approved=by.may_do(Deed.GIVE_STANDING_APPROVAL))
    if before.version == 0 and len(toolbox.tools) >= MAX_TOOLS:
        raise errors.LimitReached("tools", MAX_TOOLS)
    toolbox.must_be_readable(before, values.get("context_variables", ()))
    target = _target(deps, by.workspace, before, values)
    if target is None:
        return before.changed(by, now, **values), toolbox
    seen.must_be("target", target.version, is_approved=by.may_do(Deed.GIVE_STANDING_APPROVAL))
    named = {"target_agent": target.slug} if "target_agent" in values else {}
    resumes = before.is_outdated(target)
    return before.changed(by, now, resumes=resumes, **values | named | {"target_version": target.version}), toolbox


def _target(deps: Deps, workspace: str, before: Tool, values: dict[str, Any]) -> Agent | None:
    """The target, which must be active. None if the tool is only switched off: no target is approved then."""
    wanted: str = values.get("target_agent") or before.target_agent
    if not wanted:
        raise errors.InvalidInput("config.target_agent", "is required")
    if "target_agent" not in values and not values.get("active", before.active):
        return None
    known = deps.store.handoffs.handoff_inputs(
        workspace, HandoffQuery(agents=resolve_agents.slugs_among(wanted))
    ).agents
    return resolve_agents.active_agent(deps, workspace, known, wanted, "config.target_agent")


@dataclass(frozen=True, slots=True)
class ToolDetails:
    """A tool, and why it is suspended, if it is."""

    tool: Tool
    suspension: Suspension | None


def read_tools(deps: Deps, by: Principal, limit: int, cursor: str | None) -> Page:
    """Returns the details of the tools that the caller may read, by name. A page may be shorter than ``limit``."""
    page = _readable_tools(deps, by, limit, cursor)
    suspended = suspensions(deps, by.workspace, page.items)
    return Page(tuple(ToolDetails(tool, suspended.get(tool.name)) for tool in page.items), page.cursor)


def read_tool(deps: Deps, by: Principal, name: str) -> ToolDetails:
    """Raises ``Unknown``."""
    return tool_details(deps, find_tool(deps, by, name))


def tool_details(deps: Deps, tool: Tool) -> ToolDetails:
    return ToolDetails(tool, suspensions(deps, tool.workspace, [tool]).get(tool.name))


def suspensions(deps: Deps, workspace: str, tools: Iterable[Tool]) -> dict[str, Suspension]:
    """Returns the suspensions of the tools that are suspended, by name."""
    shown = list(tools)
    targets = sorted({tool.target_agent for tool in shown})
    agents: dict[str, Agent] = {}
    for start in range(0, len(targets), TARGETS_AT_ONCE):
        wanted = HandoffQuery(agents=frozenset(targets[start : start + TARGETS_AT_ONCE]))
        agents |= deps.store.handoffs.handoff_inputs(workspace, wanted).agents
    found = ((tool.name, tool.suspended_by(agents.get(tool.target_agent))) for tool in shown)
    return {name: suspension for name, suspension in found if suspension is not None}


def find_tool(deps: Deps, by: Principal, name: str) -> Tool:
    """Returns the tool. Raises ``Unknown``."""
    found = deps.store.tools.named(by.workspace, [name])
    if name not in found or not ReadRights(deps, by).may_read_tool(name):
        raise errors.Unknown("tool")
    return found[name]


def _readable_tools(deps: Deps, by: Principal, limit: int, cursor: str | None) -> Page:
    rights, page = ReadRights(deps, by), deps.store.tools.listed_tools(by.workspace, limit, cursor)
    return Page(tuple(tool for tool in page.items if rights.may_read_tool(tool.name)), page.cursor)


def dry_run(deps: Deps, by: Principal, name: str, arguments: Any) -> dict[str, Any]:
    """Returns the outcome that a call of the tool with these arguments would have now. Changes nothing. Raises
    ``Unknown``."""
    tool = find_tool(deps, by, name)
    inputs = deps.store.handoffs.handoff_inputs(by.workspace, HandoffQuery(agents=frozenset({tool.target_agent})))
    target = inputs.agents.get(tool.target_agent)
    problems = [{"field": each.field, "message": each.message} for each in tool.problems(arguments)]
    if not tool.active:
        problems.append({"field": "name", "message": "is switched off: it is offered to nobody"})
    if target is None or not target.active:
        problems.append({"field": "target_agent", "message": "is not active: the tool isn't offered"})
    if suspension := tool.suspended_by(target):
        problems.append({"field": "name", "message": suspension.reason})
    if not problems:
        try:
            arguments = checked(arguments, inputs.settings.guardrails, "arguments")
            must_fit("arguments", arguments)
        except errors.InvalidInput as refusal:
            problems += refusal.fields["errors"]
    is_transfer = tool.is_transfer
    shown = target.name if target else tool.target_agent
    preview = (f"Routed to {shown}" if is_transfer else f"Asked {shown}") if not problems else None
    if preview and tool.needs_approval:
        preview += ", once people have approved it"
    return {
        "ok": not problems,
        "errors": problems,
        "would": preview,
        "mode": str(tool.mode),
        "target_agent": tool.target_agent,
        "target_agent_name": shown,
        "history": str(tool.history),
        "context": None if problems else context_after({}, "<source agent>", tool, arguments),
    }
