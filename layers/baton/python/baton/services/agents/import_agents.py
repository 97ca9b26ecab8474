"""Imports from a file what agents accept and produce (docs/spec/protocol.md §8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import ChangeSubject
from baton.domain.agents.agent import MAX_AGENTS, MAX_TYPES, Agent, Roster, check_names, distinct, unregistered
from baton.domain.agents.rule_fit import puts_in, takes_out
from baton.domain.idempotency import IdempotencyKey
from baton.domain.ids import is_slug
from baton.domain.settings.settings import Settings
from baton.ports.access import Recorded
from baton.ports.deps import Deps
from baton.steps import idempotency
from baton.steps.access.record_change import plain, recorded_edit

Types = tuple[str, ...]


class ImportOutcome(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class ImportedAgent:
    """The outcome for one agent."""

    slug: str
    status: ImportOutcome
    version: int  # the agent's, afterwards


def import_agents(
    deps: Deps,
    by: Principal,
    declared: Mapping[str, Mapping[str, Types]],
    idempotency_key: IdempotencyKey | None = None,
) -> list[ImportedAgent]:
    """Saves what agents accept and produce. ``declared``: slug → ``accepts`` and ``produces``; a list that isn't given
    stays as it is. Unknown agents are registered with the defaults. Known agents keep everything else, but for a
    standing approval that a service's change ends (invariant 8). Declarations without a difference change nothing. For
    humans, and for services with the scope ``act_as``.

    Everything is checked before the first write; then there is one transaction per agent. An interrupted import may be
    sent again and continues: its finished part is then unchanged.

    Raises:
        InvalidInput: also for an agent that would leave an approval rule, or enter one.
        NameTaken, LimitReached, KeyReused, ScopeNeeded.
    """
    by.must_have(Deed.CHANGE_AGENT)
    by.must_have_act_as("import agents")
    _check(declared)
    written: dict[str, ImportedAgent] = {}

    def replay(response: dict[str, Any]) -> list[ImportedAgent]:
        return [_from_answer(each) for each in response["agents"]]

    def decide() -> list[ImportedAgent]:
        roster, settings = deps.store.agents.roster(by.workspace), deps.store.settings.of(by.workspace)
        changed = _changed_agents(roster, by, declared, deps.clock.now())
        _must_keep_the_rules(by, settings, roster, changed)
        for agent in changed:
            before = None if agent.version == 1 else plain(roster.get(agent.slug))
            change = recorded_edit(deps, by, ChangeSubject.AGENTS, agent.slug, (before, plain(agent)))
            recorded = None if change is None else Recorded((change,))
            deps.store.agents.save_agent(agent, roster, None, recorded, settings.version)
            roster = roster.saved(agent)
            written[agent.slug] = ImportedAgent(agent.slug, _outcome(agent), agent.version)
        imported = [written.get(slug) or _unchanged(roster.get(slug)) for slug in declared]
        if idempotency_key:
            answer = {"agents": [asdict(each) for each in imported]}
            deps.store.commit(by.workspace, *idempotency.save_response(idempotency_key, answer))
        return imported

    return idempotency.run_once(deps, idempotency_key, decide, replay)


def _check(declared: Mapping[str, Mapping[str, Types]]) -> None:
    if len(declared) > MAX_AGENTS:
        raise errors.InvalidInput("agents", f"must be at most {MAX_AGENTS}")
    for slug, types in declared.items():
        if not is_slug(slug):
            raise errors.InvalidInput("agents", "must be named by slugs: 1 to 63 of a-z, 0-9 and hyphens")
        for name, values in types.items():
            field = f"agents.{slug}.{name}"
            check_names(field, values, MAX_TYPES)
            if len(distinct(values)) < len(values):
                raise errors.InvalidInput(field, "must name each type once")


def _changed_agents(
    roster: Roster, by: Principal, declared: Mapping[str, Mapping[str, Types]], now: datetime
) -> list[Agent]:
    """The next versions of the agents that change."""
    known = {agent.slug: agent for agent in roster}
    changed = [
        (known.get(slug) or unregistered(slug, by, now)).changed(by, now, **types)
        for slug, types in declared.items()
        if slug not in known or _differs(known[slug], types)
    ]
    newcomers = [agent for agent in changed if agent.slug not in known]
    roster.must_have_room(len(newcomers))
    for agent in newcomers:
        roster.must_not_clash(agent)
    return changed


def _must_keep_the_rules(by: Principal, settings: Settings, roster: Roster, changed: Iterable[Agent]) -> None:
    """Raises ``InvalidInput``. An import changes several agents, and can't wait for a second administrator with one."""
    rules, known = settings.approval_rules, {agent.slug: agent for agent in roster}
    for agent in changed:
        before = known.get(agent.slug, agent)
        message = f"an administrator changes it with PUT /agents/{agent.slug}"
        if takes_out(rules, before, agent):
            raise errors.InvalidInput(f"agents.{agent.slug}", f"would leave an approval rule: {message}")
        if puts_in(rules, before, agent) and not by.may_do(Deed.ENTER_RULE):
            message = message.replace("administrator", "approver")
            raise errors.InvalidInput(f"agents.{agent.slug}", f"would enter an approval rule: {message}")


def _differs(agent: Agent, types: Mapping[str, Types]) -> bool:
    """True if a list differs. The order of types doesn't count."""
    return any(set(distinct(getattr(agent, name))) != set(distinct(values)) for name, values in types.items())


def _outcome(agent: Agent) -> ImportOutcome:
    return ImportOutcome.CREATED if agent.version == 1 else ImportOutcome.UPDATED


def _unchanged(agent: Agent) -> ImportedAgent:
    return ImportedAgent(agent.slug, ImportOutcome.UNCHANGED, agent.version)


def _from_answer(answer: dict[str, Any]) -> ImportedAgent:
    return ImportedAgent(answer["slug"], ImportOutcome(answer["status"]), answer["version"])
