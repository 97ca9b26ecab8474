"""How it goes: what has ended, and how long it took, from the counters of the stream."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.stats.day_counts import DayCounts
from baton.domain.stats.summary import Breakdown, StatsRow, row_of, rows_of
from baton.ports.deps import Deps

DEFAULT_DAYS = 7
MAX_DAYS = 31
# Of one day; those that sort first, by target.
MAX_DIRECTIONS = 200
MAX_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class StatsAsked:
    """``first``, ``last``: days (UTC), both included; None: the week up to today. ``agent``: who the work is for."""

    first: date | None = None
    last: date | None = None
    by: Breakdown = Breakdown.DAY
    also: Breakdown | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """``is_whole``: False if there were more directions in a day, or rows, than are looked at. ``price``: the setting
    ``cents_per_million_tokens``."""

    first: date
    last: date
    total: StatsRow
    rows: tuple[StatsRow, ...]
    also: tuple[StatsRow, ...]
    is_whole: bool
    price: int = 0


def read_stats(deps: Deps, by: Principal, asked: StatsAsked) -> Stats:
    """Raises ``InvalidInput`` for days that can't be counted together."""
    first, last = _span(deps, asked)
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    counts, is_whole = counts_of(deps, by.workspace, days, asked.agent)
    rows, also = (rows_of(counts, by, first) if by else [] for by in (asked.by, asked.also))
    price = deps.store.settings.of(by.workspace).cents_per_million_tokens
    is_whole = is_whole and max(len(rows), len(also)) <= MAX_ROWS
    return Stats(first, last, row_of(counts, first), tuple(rows[:MAX_ROWS]), tuple(also[:MAX_ROWS]), is_whole, price)


def counts_of(deps: Deps, workspace: str, days: list[date], agent: str | None = None) -> tuple[list[DayCounts], bool]:
    """Returns the counts, and whether these are all."""
    found = deps.store.stats.of_days(workspace, days, MAX_DIRECTIONS + 1)
    is_whole = all(len(of_day) <= MAX_DIRECTIONS for of_day in found.values())
    counts = [each for of_day in found.values() for each in of_day[:MAX_DIRECTIONS]]
    return [each for each in counts if agent is None or each.place.target == agent], is_whole


def _span(deps: Deps, asked: StatsAsked) -> tuple[date, date]:
    last = asked.last or deps.clock.now().date()
    first = asked.first or last - timedelta(days=DEFAULT_DAYS - 1)
    if first > last:
        raise errors.InvalidInput("from", "must not be after the last day, `to`")
    if (last - first).days >= MAX_DAYS:
        raise errors.InvalidInput("from", f"must be at most {MAX_DAYS - 1} days before the last day, `to`")
    return first, last
