"""What the counts of some days say together: by agent, direction, day or hour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum

from baton.domain import times
from baton.domain.stats.day_counts import OPEN_WORK, OUTCOMES, PHASES, DayCounts
from baton.domain.stats.histogram import Histogram, added, quantile


class Breakdown(StrEnum):
    AGENT = "agent"
    DIRECTION = "direction"
    DAY = "day"
    HOUR = "hour"


@dataclass(frozen=True, slots=True)
class Waits:
    """Lengths of time, in seconds. ``p50``, ``p95``: None where ``tasks`` is 0."""

    tasks: int
    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsRow:
    """``at``: the beginning of the day or hour; None of other rows. What isn't known by the hour is empty there."""

    at: datetime | None
    source: str | None
    target: str | None
    done: int
    failed: int
    rejected: int
    cancelled: int
    recoveries: int
    retries: int
    tokens: int
    person: Waits
    worker: Waits
    work: Waits


Group = tuple[datetime | None, str | None, str | None]
_GROUPS: Mapping[Breakdown, Callable[[DayCounts], Group]] = {
    Breakdown.AGENT: lambda of: (None, None, of.place.target),
    Breakdown.DIRECTION: lambda of: (None, of.place.source, of.place.target),
    Breakdown.DAY: lambda of: (datetime.combine(of.place.day, time(), UTC), None, None),
}


def rows_of(counts: Iterable[DayCounts], by: Breakdown) -> list[StatsRow]:
    """Returns the rows in the order of their time, else those with the most ends first."""
    if by is Breakdown.HOUR:
        return _by_hour(counts)
    groups: dict[Group, list[DayCounts]] = {}
    for each in counts:
        groups.setdefault(_GROUPS[by](each), []).append(each)
    rows = [row_of(found, group) for group, found in groups.items()]
    return sorted(rows, key=lambda row: (row.at or times.EPOCH, -_ends(row), row.source or "", row.target or ""))


def row_of(counts: Iterable[DayCounts], group: Group = (None, None, None)) -> StatsRow:
    found = list(counts)
    ends = [sum(hour[place] for each in found for hour in each.hours.values()) for place in range(len(OUTCOMES))]
    phases = {phase: _waits(added(*(each.phases.get(phase, {}) for each in found))) for phase in PHASES}
    counted = {name: sum(getattr(each, name) for each in found) for name in ("recoveries", "retries", "tokens")}
    return _row(group, ends, counted, phases)


def _row(
    group: Group, ends: list[int], counted: Mapping[str, int] | None = None, phases: Mapping[str, Waits] | None = None
) -> StatsRow:
    at, source, target = group
    told, waits = counted or {}, phases or {}
    return StatsRow(
        at=at,
        source=source,
        target=None if target == OPEN_WORK else target,
        done=ends[0],
        failed=ends[1],
        rejected=ends[2],
        cancelled=ends[3],
        recoveries=told.get("recoveries", 0),
        retries=told.get("retries", 0),
        tokens=told.get("tokens", 0),
        person=waits.get("person", NOTHING),
        worker=waits.get("worker", NOTHING),
        work=waits.get("work", NOTHING),
    )


NOTHING = Waits(0, None, None)


def _by_hour(counts: Iterable[DayCounts]) -> list[StatsRow]:
    ends: dict[datetime, list[int]] = {}
    for each in counts:
        for hour, ended in each.hours.items():
            at = datetime.combine(each.place.day, time(), UTC) + timedelta(hours=hour)
            total = ends.setdefault(at, [0] * len(OUTCOMES))
            ends[at] = [a + b for a, b in zip(total, ended, strict=True)]
    return [_row((at, None, None), ends[at]) for at in sorted(ends)]


def _waits(of: Histogram) -> Waits:
    return Waits(sum(of.values()), quantile(of, 0.5), quantile(of, 0.95))


def _ends(row: StatsRow) -> int:
    return row.done + row.failed + row.rejected + row.cancelled
