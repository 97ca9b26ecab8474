"""Registers an agent, changes it, or switches it off."""

from __future__ import annotations

from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.agents.agent import Agent, Approval, check_agent, unregistered
from baton.domain.agents.built_in_tools import BUILT_IN
from baton.domain.runs.run_profile import NAMES, RunProfile, check_profile
from baton.ports.deps import Deps
from baton.steps.access.agent_edits import AgentEdit, save_edit
from baton.steps.retrying import retry_on_conflict
from baton.steps.seen_versions import SeenVersions


def register_agent(
    deps: Deps, by: Principal, slug: str, values: dict[str, Any], expected_version: int | None = None
) -> tuple[Agent, bool]:
    """Returns the agent in its new version, and whether it is new. Fields left out keep their value, so ``active:
    false`` is a kill switch. For humans, and for services with the scope ``act_as``; only a human's change can carry a
    standing approval.

    Raises:
        NameTaken, LimitReached, ScopeNeeded.
        VersionConflict: ``expected_version`` (0: must not exist) isn't the present one; or the request gives a standing
            approval or a tool, and the agent changes meanwhile.
        HumanNeeded, RightNeeded: the edit takes the agent out of an approval rule, which an administrator may do.
        ChangePending: such an edit waits for another administrator.
    """
    by.must_have(Deed.CHANGE_AGENT)
    by.must_have_act_as("register an agent")
    own = {name: value for name, value in values.items() if name not in NAMES}
    run_values = {name: value for name, value in values.items() if name in NAMES}
    check_agent(own)
    check_profile(run_values)
    seen, gives = SeenVersions(agent=expected_version), own.get("approval") is Approval.AUTO or "tools" in run_values

    def attempt() -> tuple[Agent, bool]:
        roster = deps.store.agents.roster(by.workspace)
        now = deps.clock.now()
        try:
            before = roster.get(slug)
        except errors.Unknown:
            before = unregistered(slug, by, now)
        seen.must_be("agent", before.version, is_approved=gives)
        if before.version == 0:
            roster.must_have_room(1)
        profiles = _profiles(deps, by, slug, run_values) if run_values else ()
        changes = profiles[0].differs(profiles[1]) if profiles else ()
        after = before.changed(by, now, changes, **own)
        roster.must_not_clash(after)
        _must_not_begin_to_run(deps, by, before, after)
        save_edit(deps, by, AgentEdit(before=before, after=after, roster=roster, profiles=profiles))
        return after, before.version == 0

    return retry_on_conflict(deps, attempt)


def _must_not_begin_to_run(deps: Deps, by: Principal, before: Agent, after: Agent) -> None:
    """Raises ``HumanNeeded`` or ``RightNeeded`` if a service, or a person who may give no standing approval, makes
    Baton run an agent with handoff tools that worked by itself before."""
    if (
        not by.may_do(Deed.RUN_AGENT)
        and after.runtime is not before.runtime
        and deps.store.runs.profile(by.workspace, after.slug).hands_on
    ):
        by.must_have(Deed.RUN_AGENT)


def _profiles(deps: Deps, by: Principal, slug: str, values: dict[str, Any]) -> tuple[RunProfile, RunProfile]:
    """Returns the current and the new profile. Raises ``HumanNeeded``, ``RightNeeded``, and ``InvalidInput`` for a
    tool that doesn't exist."""
    before = deps.store.runs.profile(by.workspace, slug)
    after = before.changed(by, **values)
    tool_names = [name for name in after.tools if name not in BUILT_IN]
    unknown = sorted(set(tool_names) - set(deps.store.tools.named(by.workspace, tool_names))) if tool_names else []
    if unknown:
        raise errors.InvalidInput("tools", f"has no tool named {unknown[0]}: define it with PUT /tools/{unknown[0]}")
    return before, after
