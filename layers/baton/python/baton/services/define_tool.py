"""A human defines a handoff tool: from then on, whoever is given it may hand work to its target (spec/tools.md §1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.errors import InvalidInput, LimitReached, Unknown, VersionConflict
from baton.domain.guardrails import checked
from baton.domain.handoff import must_fit
from baton.domain.prompt import context_after
from baton.domain.tool import MAX_TOOLS, Tool, ToolMode, check_tool, undefined
from baton.ports import Wanted
from baton.services.retrying import decided_again
from baton.services.who_takes_it import named, slugs_among

if TYPE_CHECKING:
    from baton.domain.principal import Principal
    from baton.ports import Baton


def define_tool(
    baton: Baton, by: Principal, name: str, values: dict[str, Any], expected_version: int | None = None
) -> tuple[Tool, bool]:
    """The tool in its new version, and whether it is new. Fields left out keep their value; a new one needs
    ``target_agent``. Raises ``UnknownAgent``, ``TargetInactive``, ``VersionConflict`` if ``expected_version`` (0: must
    not exist) isn't the present one, ``LimitReached``."""
    by.must_be_human("define a handoff tool")
    check_tool(name, values)

    def attempt() -> tuple[Tool, bool]:
        toolbox, now = baton.store.toolbox(by.workspace), baton.clock.now()
        before = toolbox.get(name) or undefined(name, by, now)
        if expected_version is not None and expected_version != before.version:
            raise VersionConflict("tool", before.version)
        if before.version == 0 and len(toolbox.tools) >= MAX_TOOLS:
            raise LimitReached("tools", MAX_TOOLS)
        after = before.changed(by, now, **{**values, "target_agent": _target(baton, by.workspace, before, values)})
        baton.store.save_tool(after, toolbox)
        return after, before.version == 0

    return decided_again(baton.clock, attempt)


def _target(baton: Baton, workspace: str, before: Tool, values: dict[str, Any]) -> str:
    """The target's slug. It has to be active, unless the tool is only switched off."""
    wanted: str = values.get("target_agent") or before.target_agent
    if not wanted:
        raise InvalidInput("config.target_agent", "is required")
    if "target_agent" not in values and not values.get("active", before.active):
        return wanted
    known = baton.store.handoff_facts(workspace, Wanted(agents=slugs_among(wanted))).agents
    return named(baton, workspace, known, wanted, "config.target_agent").slug


def find_tool(baton: Baton, workspace: str, name: str) -> Tool:
    """Raises ``Unknown``."""
    found = baton.store.tools(workspace, [name])
    if name not in found:
        raise Unknown("tool")
    return found[name]


def dry_run(baton: Baton, workspace: str, name: str, arguments: Any) -> dict[str, Any]:
    """What a call of the tool with these arguments would come to now. Nothing is done. Raises ``Unknown``."""
    tool = find_tool(baton, workspace, name)
    facts = baton.store.handoff_facts(workspace, Wanted(agents=frozenset({tool.target_agent})))
    target = facts.agents.get(tool.target_agent)
    problems = [{"field": each.field, "message": each.message} for each in tool.problems(arguments)]
    if not tool.active:
        problems.append({"field": "name", "message": "is switched off: it is offered to nobody"})
    if target is None or not target.active:
        problems.append({"field": "target_agent", "message": "is not active: the tool isn't offered"})
    if not problems:
        try:
            arguments = checked(arguments, facts.settings.guardrails, "arguments")
            must_fit("arguments", arguments)
        except InvalidInput as refusal:
            problems += refusal.fields["errors"]
    is_transfer = tool.mode is ToolMode.TRANSFER
    shown = target.name if target else tool.target_agent
    would = (f"Routed to {shown}" if is_transfer else f"Asked {shown}") if not problems else None
    return {
        "ok": not problems,
        "errors": problems,
        "would": would,
        "mode": str(tool.mode),
        "target_agent": tool.target_agent,
        "target_agent_name": shown,
        "history": str(tool.history),
        "context": None if problems else context_after({}, "<source agent>", tool, arguments),
    }
