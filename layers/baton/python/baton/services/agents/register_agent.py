"""Registers an agent, changes it, or switches it off."""

from __future__ import annotations

from itertools import islice
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Agent, check_agent, unregistered
from baton.domain.agents.built_in_tools import BUILT_IN
from baton.domain.runs.run_profile import NAMES, RunProfile, check_profile
from baton.ports.deps import Deps
from baton.steps.retrying import retry_on_conflict

MAX_NOTICES = 10


def register_agent(
    deps: Deps, by: Principal, slug: str, values: dict[str, Any], expected_version: int | None = None
) -> tuple[Agent, bool]:
    """Returns the agent in its new version, and whether it is new. Fields left out keep their value, so ``active:
    false`` is a kill switch. For humans and services; only a human's change can carry a standing approval. Raises
    ``NameTaken``, ``LimitReached``, and ``VersionConflict`` if ``expected_version`` (0: must not exist) isn't the
    present one."""
    by.must_not_be_agent("register an agent")
    own = {name: value for name, value in values.items() if name not in NAMES}
    run_values = {name: value for name, value in values.items() if name in NAMES}
    check_agent(own)
    check_profile(run_values)

    def attempt() -> tuple[Agent, bool]:
        roster = deps.store.agents.roster(by.workspace)
        now = deps.clock.now()
        try:
            before = roster.get(slug)
        except errors.Unknown:
            before = unregistered(slug, by, now)
        if expected_version is not None and expected_version != before.version:
            raise errors.VersionConflict("agent", before.version)
        if before.version == 0:
            roster.must_have_room(1)
        profile, changes = _profile(deps, by, slug, run_values) if run_values else (None, ())
        after = before.changed(by, now, changes, **own)
        roster.must_not_clash(after)
        _must_not_begin_to_run(deps, by, before, after)
        deps.store.agents.save_agent(after, roster, profile)
        if after.is_run and after.active and not (before.is_run and before.active):
            _notify_backlog(deps, after)
        return after, before.version == 0

    return retry_on_conflict(deps, attempt)


def _must_not_begin_to_run(deps: Deps, by: Principal, before: Agent, after: Agent) -> None:
    """Raises ``HumanNeeded`` if a service makes Baton run an agent with handoff tools that worked by itself before."""
    if (
        not by.is_human
        and after.runtime is not before.runtime
        and deps.store.runs.profile(by.workspace, after.slug).hands_on
    ):
        raise errors.HumanNeeded("change the runtime of an agent that may hand work on")


def _profile(deps: Deps, by: Principal, slug: str, values: dict[str, Any]) -> tuple[RunProfile, tuple[str, ...]]:
    """The new profile, and the names of its changes. Raises ``HumanNeeded``, and ``InvalidInput`` for a tool that
    doesn't exist."""
    before = deps.store.runs.profile(by.workspace, slug)
    after = before.changed(by, **values)
    tool_names = [name for name in after.tools if name not in BUILT_IN]
    unknown = sorted(set(tool_names) - set(deps.store.tools.named(by.workspace, tool_names))) if tool_names else []
    if unknown:
        raise errors.InvalidInput("tools", f"has no tool named {unknown[0]}: define it with PUT /tools/{unknown[0]}")
    return after, before.differs(after)


def _notify_backlog(deps: Deps, agent: Agent) -> None:
    """Sends notices for the tasks that waited for the agent to be switched on; process-task continues from there. The
    agent is saved: an error here only costs time."""
    try:
        _, ready = deps.store.queues.ready(agent.workspace, agent.slug, deps.clock.now())
        waiting = list(islice(ready, MAX_NOTICES))
    except errors.Busy:
        waiting = []
    for each in waiting:
        deps.dispatch_queue.notify(agent.workspace, agent.slug, each.task_id)
