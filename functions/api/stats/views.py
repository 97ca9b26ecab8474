"""Counters, agents' health and decisions as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from baton.domain.stats.decision import Decision
from baton.domain.stats.summary import StatsRow, Waits
from baton.services.stats.agent_health import AgentHealth, LastFailure
from baton.services.stats.read_stats import Stats
from rest import pages
from rest.shape import ViewShape


class WaitsView(TypedDict):
    """Seconds. ``tasks``: how many went through this; ``p50``, ``p95``: null if none did."""

    tasks: int
    p50: float | None
    p95: float | None


class StatsRowView(TypedDict):
    """``at``: the beginning of the day or hour, null of other rows. ``source``, ``target``: null where rows aren't by
    it; ``target`` is null also of open work that nobody took. ``begun``: how many began in that time, of the tasks that
    have ended by ``to``, at most two days (UTC) after the day of their beginning. ``recoveries``: leases that were
    lost; ``retries``: attempts that failed, and were followed by another; ``tokens``: of tasks that Baton runs.
    ``person``: how long tasks waited for people; ``worker``: for a worker; ``work``: were at work. By the hour, only
    beginnings and ends are known."""

    at: str | None
    source: str | None
    target: str | None
    begun: int
    done: int
    failed: int
    rejected: int
    cancelled: int
    recoveries: int
    retries: int
    tokens: int
    person: WaitsView
    worker: WaitsView
    work: WaitsView


_Span = TypedDict("_Span", {"from": str, "to": str})


class StatsView(_Span):
    """``from``, ``to``: the days (UTC). ``items``: those with the most ends first, or by time; ``also``: the second
    breakdown, empty if none was asked for. ``is_whole``: false if a day has more than 200 directions, or there are more
    than 1,000 rows. ``cents_per_million_tokens``: as the settings have it now; 0 if nobody has said what tokens
    cost."""

    total: StatsRowView
    items: list[StatsRowView]
    also: list[StatsRowView]
    is_whole: bool
    cents_per_million_tokens: int


class LastFailureView(TypedDict):
    task_id: str
    at: str
    type: str | None
    description: str | None


class AgentHealthView(TypedDict):
    """``waiting``: ready tasks that nobody has claimed, ``has_more`` if there are more; ``oldest_at``: since when one
    of these waits longest. ``limit``: of claims at a time. ``last_week``: what ended within seven days (UTC).
    ``last_failure``: of these, null in a list."""

    slug: str
    active: bool
    waiting: int
    has_more: bool
    oldest_at: str | None
    running: int
    limit: int | None
    last_contact_at: str | None
    last_week: StatsRowView
    last_failure: LastFailureView | None


class DecisionItem(TypedDict):
    """``seq``: of the entry in the task's trail. Of a manual review ``task_id`` is null, ``review_id`` names it,
    ``seq`` is its version after the decision, and ``priority`` is empty if the request has none. ``detail``:
    ``counted`` for an approval that others have to join, ``own`` for a handoff that its maker needn't have approved,
    else what came of an answer. ``reason`` and ``title`` are cut at 180 bytes."""

    at: str
    by: str
    verb: str
    detail: str | None
    reason: str | None
    task_id: str | None
    review_id: str | None
    seq: int
    title: str
    source_agent: str
    target_agent: str | None
    priority: str


AgentHealthPage = pages.of("AgentHealthPage", AgentHealthView)
DecisionPage = pages.of("DecisionPage", DecisionItem)

decision_view = ViewShape(DecisionItem, Decision)
_waits = ViewShape(WaitsView, Waits)
_row = ViewShape(StatsRowView, StatsRow, "person worker work")
_failure = ViewShape(LastFailureView, LastFailure)
_health = ViewShape(AgentHealthView, AgentHealth, "slug active limit last_week last_failure")


def row_view(row: StatsRow) -> StatsRowView:
    return _row(row, person=_waits(row.person), worker=_waits(row.worker), work=_waits(row.work))


def stats_view(found: Stats) -> StatsView:
    shown: Any = {
        "from": found.first.isoformat(),
        "to": found.last.isoformat(),
        "total": row_view(found.total),
        "items": list(map(row_view, found.rows)),
        "also": list(map(row_view, found.also)),
        "is_whole": found.is_whole,
        "cents_per_million_tokens": found.price,
    }
    view: StatsView = shown
    return view


def health_view(health: AgentHealth) -> AgentHealthView:
    return _health(
        health,
        slug=health.agent.slug,
        active=health.agent.active,
        limit=health.agent.max_concurrent,
        last_week=row_view(health.row),
        last_failure=None if health.failure is None else _failure(health.failure),
    )
