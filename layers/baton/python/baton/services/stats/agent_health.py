"""How agents are: what waits for them, what they hold, how long it takes, and what failed last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Agent
from baton.domain.stats.day_counts import DayCounts
from baton.domain.stats.summary import StatsRow, row_of
from baton.ports.deps import Deps
from baton.services.stats.read_stats import counts_of
from baton.steps.agents.resolve_agents import no_such_agent

DAYS = 7
# Of the waiting tasks of one agent, in a list and alone. More are told as more.
MAX_LISTED, MAX_ALONE = 25, 100
MAX_ERROR = 1_000


@dataclass(frozen=True, slots=True)
class LastFailure:
    task_id: str
    at: datetime
    type: str | None
    description: str | None  # cut at ``MAX_ERROR`` characters


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentHealth:
    """``waiting``: ready tasks that nobody has claimed, ``has_more`` if there are more; ``oldest_at``: since when the
    longest of them waits. ``row``: of what ended within the last seven days (UTC)."""

    agent: Agent
    waiting: int
    has_more: bool
    oldest_at: datetime | None
    running: int
    last_contact_at: datetime | None
    row: StatsRow
    failure: LastFailure | None


def agents_health(deps: Deps, by: Principal, after: str | None, limit: int) -> list[AgentHealth]:
    """Returns the agents by slug, one more than ``limit`` if there are more."""
    roster = sorted(deps.store.agents.roster(by.workspace), key=lambda agent: agent.slug)
    agents = [agent for agent in roster if after is None or agent.slug > after][: limit + 1]
    counts, contacts = _last_days(deps, by.workspace), deps.store.contacts.last_contacts(by.workspace)
    return [_health(deps, agent, counts, contacts.get(agent.slug), MAX_LISTED) for agent in agents]


def agent_health(deps: Deps, by: Principal, slug: str) -> AgentHealth:
    """Raises ``Unknown``."""
    agent = deps.store.agents.agent(by.workspace, slug)
    if agent is None:
        raise no_such_agent(deps, by.workspace, slug)
    contact = deps.store.contacts.last_contact(by.workspace, slug)
    return _health(deps, agent, _last_days(deps, by.workspace), contact, MAX_ALONE)


def _last_days(deps: Deps, workspace: str) -> list[DayCounts]:
    today = deps.clock.now().date()
    return counts_of(deps, workspace, [today - timedelta(days=number) for number in range(DAYS)])[0]


def _health(deps: Deps, agent: Agent, counts: list[DayCounts], contact: datetime | None, most: int) -> AgentHealth:
    workspace, own = agent.workspace, [each for each in counts if each.place.target == agent.slug]
    _, queue = deps.store.queues.ready(workspace, agent.slug, deps.clock.now())
    ready = [each.ready_at for each in islice(queue, most + 1) if each.lapsed_claim is None]
    return AgentHealth(
        agent=agent,
        waiting=min(len(ready), most),
        has_more=len(ready) > most,
        oldest_at=min(ready, default=None),
        running=len(deps.store.claims.held(workspace, agent.slug)),
        last_contact_at=contact,
        row=row_of(own, deps.clock.now().date() - timedelta(days=DAYS - 1)),
        failure=_last_failure(deps, workspace, own) if most == MAX_ALONE else None,
    )


def _last_failure(deps: Deps, workspace: str, counts: list[DayCounts]) -> LastFailure | None:
    failures = [(each.failed_at, each.failed_id) for each in counts if each.failed_at and each.failed_id]
    if not failures:
        return None
    at, task_id = max(failures)
    outcome = deps.store.tasks.outcomes(workspace, [task_id]).get(task_id)
    failure = (outcome.why if outcome is not None else None) or {}
    return LastFailure(task_id, at, _text(failure.get("type")), _text(failure.get("description")))


def _text(value: object) -> str | None:
    return value[:MAX_ERROR] if isinstance(value, str) else None
