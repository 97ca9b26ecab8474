"""What the counts of some days say together: by agent, direction, day or hour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

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
    """``at``: the beginning of the day or hour; None of other rows. What isn't known by the hour is empty there.
    ``begun``: in that time, of the tasks that are counted."""

    at: datetime | None
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
    person: Waits
    worker: Waits
    work: Waits


Group = tuple[datetime | None, str | None, str | None]
_GROUPS: Mapping[Breakdown, Callable[[DayCounts], Group]] = {
    Breakdown.AGENT: lambda of: (None, None, of.place.target),
    Breakdown.DIRECTION: lambda of: (None, of.place.source, of.place.target),
    Breakdown.DAY: lambda of: (datetime.combine(of.place.day, time(), UTC), None, None),
}


def rows_of(counts: Sequence[DayCounts], by: Breakdown, first: date) -> list[StatsRow]:
    """Returns the rows in the order of their time, else those with the most ends first. ``first``: the first day."""
    if by is Breakdown.HOUR:
        return _by_hour(counts, first)
    groups: dict[Group, list[DayCounts]] = {}
    for each in counts:
        groups.setdefault(_GROUPS[by](each), []).append(each)
    if by is Breakdown.DAY:
        begun = _begun(counts, lambda at: at.replace(hour=0), first)
        at_all = {(at, None, None) for at in begun}
        rows = [row_of(groups.get(group, ()), first, group, begun.get(group[0], 0)) for group in groups.keys() | at_all]
    else:
        rows = [row_of(found, first, group) for group, found in groups.items()]
    return sorted(rows, key=lambda row: (row.at or times.EPOCH, -_ends(row), row.source or "", row.target or ""))


def row_of(
    counts: Sequence[DayCounts], first: date, group: Group = (None, None, None), begun: int | None = None
) -> StatsRow:
    """``begun``: None for all that began from the first day on."""
    found = list(counts)
    ends = _sums(hour for each in found for hour in each.hours.values())
    phases = {phase: _waits(added(*(each.phases.get(phase, {}) for each in found))) for phase in PHASES}
    counted = {name: sum(getattr(each, name) for each in found) for name in ("recoveries", "retries", "tokens")}
    counted["begun"] = sum(_begun_by_hour(found, first).values()) if begun is None else begun
    return _row(group, ends, counted, phases)


def _begun(counts: Iterable[DayCounts], of: Callable[[datetime], datetime], first: date) -> dict[Any, int]:
    """Returns how many began, by what ``of`` makes of the hour, none of the days before the first."""
    total: Counter[Any] = Counter()
    for number, count in _begun_by_hour(counts, first).items():
        total[of(_hour(first, number))] += count
    return total


def _begun_by_hour(counts: Iterable[DayCounts], first: date) -> dict[int, int]:
    """By numbers of hours from the first day on: of a month there are some thirty thousand."""
    found: dict[int, int] = {}
    for each in counts:
        before = 24 * (each.place.day - first).days
        for hour, count in each.begun.items():
            if before + hour >= 0:
                found[before + hour] = found.get(before + hour, 0) + count
    return found


def _hour(day: date, number: int) -> datetime:
    return datetime.combine(day, time(), UTC) + timedelta(hours=number)


def _sums(ends: Iterable[Sequence[int]]) -> list[int]:
    return [sum(each) for each in zip(*ends, strict=True)] or [0] * len(OUTCOMES)


def _row(
    group: Group, ends: list[int], counted: Mapping[str, int] | None = None, phases: Mapping[str, Waits] | None = None
) -> StatsRow:
    at, source, target = group
    told, waits = counted or {}, phases or {}
    return StatsRow(
        at=at,
        source=source,
        target=None if target == OPEN_WORK else target,
        begun=told.get("begun", 0),
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


def _by_hour(counts: Sequence[DayCounts], first: date) -> list[StatsRow]:
    begun = _begun(counts, lambda at: at, first)
    ends: dict[datetime, list[int]] = {at: [0] * len(OUTCOMES) for at in begun}
    for each in counts:
        for hour, ended in each.hours.items():
            total = ends.setdefault(_hour(each.place.day, hour), [0] * len(OUTCOMES))
            total[:] = [a + b for a, b in zip(total, ended, strict=True)]
    return [_row((at, None, None), ends[at], {"begun": begun.get(at, 0)}) for at in sorted(ends)]


def _waits(of: Histogram) -> Waits:
    return Waits(sum(of.values()), quantile(of, 0.5), quantile(of, 0.95))


def _ends(row: StatsRow) -> int:
    return row.done + row.failed + row.rejected + row.cancelled
