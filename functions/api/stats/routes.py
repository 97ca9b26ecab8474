"""How it goes, how agents are, and who decided what: for those who read everything."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from api.stats import views
from baton.domain.stats.decision import DecisionVerb
from baton.domain.stats.summary import Breakdown
from baton.ports.deps import Deps
from baton.services.stats.agent_health import AgentHealth, agent_health, agents_health
from baton.services.stats.list_decisions import DecisionFilter, list_decisions
from baton.services.stats.read_stats import StatsAsked, read_stats
from rest import answers, models, pages, routing

routes = routing.Routes()


class StatsQuery(models.Query):
    """Days of UTC, both included. ``also``: a second breakdown of the same reading. ``agent``: who the work is for."""

    first: Annotated[models.Day | None, Field(alias="from")] = None
    last: Annotated[models.Day | None, Field(alias="to")] = None
    by: Breakdown = Breakdown.DAY
    also: Breakdown | None = None
    agent: models.Slug | None = None


class DecisionQuery(models.PageQuery):
    """``day``: of UTC. ``by``: a human's name."""

    day: models.Day | None = None
    by: Annotated[str | None, StringConstraints(min_length=1, max_length=200)] = None
    verb: DecisionVerb | None = None


@routes.get(
    "/stats",
    query=models.query(StatsQuery),
    answers={200: views.StatsView},
    only=routing.with_act_as("read how it goes"),
)
def get_stats(deps: Deps, call: routing.Call[None, StatsQuery]) -> answers.Answer:
    """What ended, and how long it waited and was worked on, in at most 31 days.

    Each task counts on the day and in the hour of its end, once. `p50` and `p95` are within 23 %. Counted from the
    release on that brought it.
    """
    query = call.query
    found = read_stats(deps, call.by, StatsAsked(query.first, query.last, query.by, query.also, query.agent))
    return answers.ok(views.stats_view(found))


@routes.get(
    "/stats/agents",
    query=models.query(models.PageQuery),
    answers={200: views.AgentHealthPage},
    only=routing.with_act_as("read how agents are"),
)
def list_agents_health(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """How agents are, by slug: what waits for them (up to 25), what they hold, and what ended in the last week."""
    found = agents_health(deps, call.by, pages.cursor_of(call), call.query.limit)
    page = pages.listed(call, found, _slug)
    return answers.ok(pages.listing(call, page, views.health_view))


@routes.get(
    "/agents/{slug}/health",
    answers={200: views.AgentHealthView},
    only=routing.with_act_as("read how an agent is"),
)
def get_agent_health(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """How an agent is: what waits for it (up to 100), what it holds, and the last of its tasks that failed."""
    return answers.ok(views.health_view(agent_health(deps, call.by, call.slug)))


@routes.get(
    "/decisions",
    query=models.query(DecisionQuery),
    answers={200: views.DecisionPage},
    only=routing.with_act_as("read who decided what"),
)
def list_all_decisions(deps: Deps, call: routing.Call[None, DecisionQuery]) -> answers.Answer:
    """What people decided on a day, today unless it says another, newest first.

    A page may be shorter than `limit`, or empty, and still have a next one. Recorded from the release on that brought
    it, within seconds; what was decided before is in the trails alone.
    """
    query = call.query
    asked = DecisionFilter(query.day, query.by, query.verb)
    page = list_decisions(deps, call.by, asked, query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, views.decision_view))


def _slug(health: AgentHealth) -> str:
    return health.agent.slug
