"""Resolves names to agents, and checks an agent's declared capabilities before a task is made that no agent could take
(docs/spec/protocol.md §2)."""

from __future__ import annotations

from collections.abc import Mapping

from baton.domain import errors
from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind
from baton.domain.agents.agent import Agent, canonical
from baton.domain.ids import is_slug
from baton.ports.deps import Deps


def slugs_among(*names: str | None) -> frozenset[str]:
    """The names that can be read as slugs; other names need the whole roster."""
    return frozenset(name for name in names if name is not None and is_slug(name))


def source_of(deps: Deps, by: Principal, name: str) -> str:
    """Returns the source of the caller's handoff: the agent that the caller is, or may act for; else the caller, under
    its own name. A slug that the caller acts for isn't checked before ``canonical_source``. Raises ``NotYourAgent`` and
    ``ScopeNeeded``."""
    name = canonical(name)
    if by.kind is PrincipalKind.AGENT:
        if name != by.id and by.id not in _slugs_named(deps, by.workspace, name):
            raise errors.NotYourAgent(name)
        return by.id
    if ACT_AS not in by.scopes:
        if name != by.id:
            raise errors.ScopeNeeded(ACT_AS)
        return by.key
    return name


def canonical_source(deps: Deps, by: Principal, known: Mapping[str, Agent], source: str) -> str:
    """Returns ``source`` as a slug, or as the caller's key if it acts for itself. Raises ``UnknownAgent``."""
    if source in known or source == by.key or by.kind is PrincipalKind.AGENT:
        return source
    slugs = _slugs_named(deps, by.workspace, source)
    if slugs:
        return slugs[0]
    if source == by.id:
        return by.key
    raise errors.UnknownAgent(source, "source.agent", deps.store.agents.roster(by.workspace).some_active())


def active_agent(deps: Deps, workspace: str, known: Mapping[str, Agent], name: str, field: str) -> Agent:
    """Returns the active agent of that slug, name or alias. ``known``: the agents that were read already. Raises
    ``UnknownAgent`` and ``TargetInactive``."""
    name = canonical(name)
    agent = known.get(name)
    if agent is None or not agent.active:
        roster = deps.store.agents.roster(workspace)
        found = roster.active_named(name)
        if found is not None:
            return found
        try:
            agent = roster.get(name)
        except errors.Unknown as exc:
            raise errors.UnknownAgent(name, field, roster.some_active()) from exc
        raise errors.TargetInactive(agent.slug, field)
    return agent


def no_such_agent(deps: Deps, workspace: str, slug: str) -> errors.NoSuchAgent:
    """Returns the refusal of a request whose path names no agent."""
    return errors.NoSuchAgent(slug, deps.store.agents.roster(workspace).some_active())


def active_target(deps: Deps, workspace: str, known: Mapping[str, Agent], name: str | None, field: str) -> Agent | None:
    """Returns the same for a handoff's target; None for open work, whose target isn't named."""
    return None if name is None else active_agent(deps, workspace, known, name, field)


def must_be_able(deps: Deps, workspace: str, agent: Agent | None, requires: tuple[str, ...], source: str) -> None:
    """Checks that the agent declares every required capability. ``agent``: None for open work, which an agent other
    than its source must be able to do. Raises ``CapabilityMismatch``, which names the able agents."""
    if agent is not None and not agent.lacks(requires):
        return
    able = deps.store.agents.roster(workspace).able(requires, source)
    if agent is not None:
        raise errors.CapabilityMismatch(agent.slug, agent.lacks(requires), tuple(each.slug for each in able))
    if not able:
        raise errors.CapabilityMismatch(None, requires, ())


def _slugs_named(deps: Deps, workspace: str, name: str) -> list[str]:
    """The slugs of the agents of that name, active ones first."""
    roster = deps.store.agents.roster(workspace)
    return [each.slug for each in sorted(roster, key=lambda each: not each.active) if name in each.names]
