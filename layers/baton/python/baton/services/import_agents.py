"""What agents accept and produce is taken over from a file (docs/spec/protocol.md §8)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from baton.domain.agent import MAX_AGENTS, MAX_TYPES, Agent, check_names, distinct, unregistered
from baton.domain.errors import InvalidInput
from baton.domain.ids import is_slug
from baton.ports import Remember
from baton.services.retrying import decided_once, recalled

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from baton.domain.agent import Roster
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton

Types = tuple[str, ...]


class Outcome(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class ImportedAgent:
    """``version``: the agent's, afterwards."""

    slug: str
    status: Outcome
    version: int


def import_agents(
    baton: Baton, by: Principal, declared: Mapping[str, Mapping[str, Types]], once: Once | None = None
) -> list[ImportedAgent]:
    """Slug → ``accepts`` and ``produces``, each left as it is where it isn't given. Unknown agents are registered with
    the defaults; known ones keep everything else, but for a standing approval that a service's change ends
    (invariant 8). What says nothing new changes nothing. By humans and services.

    All is checked before the first write; then one transaction per agent. An import that was interrupted may be sent
    again and goes on: what it had done is unchanged by then. Raises ``InvalidInput``, ``NameTaken``, ``LimitReached``,
    ``KeyReused``."""
    by.must_not_be_agent("import agents")
    _check(declared)
    saved: dict[str, ImportedAgent] = {}

    def again(first_answer: dict[str, Any]) -> list[ImportedAgent]:
        return [_from_answer(each) for each in first_answer["agents"]]

    def attempt() -> list[ImportedAgent]:
        earlier = recalled(baton, once)
        if earlier is not None:
            return again(earlier)
        roster = baton.store.roster(by.workspace)
        for agent in _planned(roster, by, declared, baton.clock.now()):
            baton.store.save_agent(agent, roster)
            roster = roster.saved(agent)
            saved[agent.slug] = ImportedAgent(agent.slug, _outcome(agent), agent.version)
        imported = [saved.get(slug) or _unchanged(roster.get(slug)) for slug in declared]
        if once:
            answer = {"agents": [asdict(each) for each in imported]}
            baton.store.commit(by.workspace, None, [Remember(once, answer)])
        return imported

    return decided_once(baton, once, again, attempt)


def _check(declared: Mapping[str, Mapping[str, Types]]) -> None:
    if len(declared) > MAX_AGENTS:
        raise InvalidInput("agents", f"must be at most {MAX_AGENTS}")
    for slug, types in declared.items():
        if not is_slug(slug):
            raise InvalidInput("agents", "must be named by slugs: 1 to 63 of a-z, 0-9 and hyphens")
        for name, values in types.items():
            field = f"agents.{slug}.{name}"
            check_names(field, values, MAX_TYPES)
            if len(distinct(values)) < len(values):
                raise InvalidInput(field, "must name each type once")


def _planned(roster: Roster, by: Principal, declared: Mapping[str, Mapping[str, Types]], now: datetime) -> list[Agent]:
    """The next versions of those that change."""
    known = {agent.slug: agent for agent in roster}
    changed = [
        (known.get(slug) or unregistered(slug, by, now)).changed(by, now, **types)
        for slug, types in declared.items()
        if slug not in known or _is_news(known[slug], types)
    ]
    newcomers = [agent for agent in changed if agent.slug not in known]
    roster.must_have_room(len(newcomers))
    for agent in newcomers:
        roster.must_not_clash(agent)
    return changed


def _is_news(agent: Agent, types: Mapping[str, Types]) -> bool:
    """In which order types are named says nothing."""
    return any(set(distinct(getattr(agent, name))) != set(distinct(values)) for name, values in types.items())


def _outcome(agent: Agent) -> Outcome:
    return Outcome.CREATED if agent.version == 1 else Outcome.UPDATED


def _unchanged(agent: Agent) -> ImportedAgent:
    return ImportedAgent(agent.slug, Outcome.UNCHANGED, agent.version)


def _from_answer(answer: dict[str, Any]) -> ImportedAgent:
    return ImportedAgent(answer["slug"], Outcome(answer["status"]), answer["version"])
