"""Names become agents, and an agent is held to what it declares, before there is a task that nobody would take
(docs/spec/protocol.md §2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.agent import canonical
from baton.domain.errors import CapabilityMismatch, NotYourAgent, ScopeNeeded, TargetInactive, Unknown, UnknownAgent
from baton.domain.ids import is_slug
from baton.domain.principal import ACT_AS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from baton.domain.agent import Agent
    from baton.domain.principal import Principal
    from baton.ports import Baton


def slugs_among(*names: str | None) -> frozenset[str]:
    """Names that can be read as they are; the others take the whole roster."""
    return frozenset(name for name in names if name is not None and is_slug(name))


def speaker(baton: Baton, by: Principal, name: str) -> str:
    """Whose handoff it is: the agent that the caller is, or may act for; or the caller, under its own name. Who acts
    for a slug is believed until ``registered`` has looked. Raises ``NotYourAgent``, ``ScopeNeeded``."""
    name = canonical(name)
    if by.kind is Kind.AGENT:
        if name != by.id and by.id not in _slugs_named(baton, by.workspace, name):
            raise NotYourAgent(name)
        return by.id
    if ACT_AS not in by.scopes:
        if name != by.id:
            raise ScopeNeeded(ACT_AS)
        return by.key
    return name


def registered(baton: Baton, by: Principal, known: Mapping[str, Agent], source: str) -> str:
    """``source`` as a slug, or as the caller's key where it speaks for itself. Raises ``UnknownAgent``."""
    if source in known or source == by.key or by.kind is Kind.AGENT:
        return source
    slugs = _slugs_named(baton, by.workspace, source)
    if slugs:
        return slugs[0]
    if source == by.id:
        return by.key
    raise UnknownAgent(source, "source.agent")


def named(baton: Baton, workspace: str, known: Mapping[str, Agent], name: str, field: str) -> Agent:
    """The active agent of that slug, name or alias; ``known``: those read already. Raises ``UnknownAgent`` and
    ``TargetInactive``."""
    name = canonical(name)
    agent = known.get(name)
    if agent is None or not agent.active:
        roster = baton.store.roster(workspace)
        found = roster.active_named(name)
        if found is not None:
            return found
        try:
            agent = roster.get(name)
        except Unknown as exc:
            raise UnknownAgent(name, field) from exc
        raise TargetInactive(agent.slug, field)
    return agent


def must_be_able(baton: Baton, workspace: str, agent: Agent | None, requires: tuple[str, ...], source: str) -> None:
    """``agent``: None for open work, which somebody else than its source has to be able to do. Raises
    ``CapabilityMismatch``, saying who could."""
    if agent is not None and not agent.lacks(requires):
        return
    able = baton.store.roster(workspace).able(requires, source)
    if agent is not None:
        raise CapabilityMismatch(agent.slug, agent.lacks(requires), tuple(each.slug for each in able))
    if not able:
        raise CapabilityMismatch(None, requires, ())


def _slugs_named(baton: Baton, workspace: str, name: str) -> list[str]:
    """Registered agents of that name, active ones first."""
    roster = baton.store.roster(workspace)
    return [each.slug for each in sorted(roster, key=lambda each: not each.active) if name in each.names]
