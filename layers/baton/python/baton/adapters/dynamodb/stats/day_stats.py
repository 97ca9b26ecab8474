"""The store's counters, and its record of decisions. Updates make both, so that they have no number of a shape."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import partial

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.stats.decision_items import decision_from, told_of
from baton.adapters.dynamodb.table import ConditionFailed, Table
from baton.domain import errors, times
from baton.domain.stats.day_counts import (
    PHASES,
    DayCounts,
    DayPlace,
    histogram_from,
    histogram_text,
    hours_from,
    hours_text,
)
from baton.domain.stats.decision import Decision
from baton.ports.paging import Page

IS_FIRST = "attribute_not_exists(#version)"
FOLLOWS = "#version = :before"
# Counters are of use for a year and a month. The record of decisions is for good.
KEPT = timedelta(days=400)
IS_NEW = "attribute_not_exists(#by)"
_NUMBERS = ("recoveries", "retries", "tokens")


class DayStats:
    def __init__(self, table: Table) -> None:
        self._table = table

    def day_counts(self, place: DayPlace) -> DayCounts:
        key = keys.day_counts(place)
        item = self._table.get_many([key]).get(key)  # the publisher's role has this way to read
        return DayCounts(place=place) if item is None else _counts_from(item)

    def put_counts(self, counts: DayCounts) -> None:
        ends = datetime.combine(counts.place.day, datetime.min.time(), times.EPOCH.tzinfo) + KEPT
        told: Item = {
            "version": counts.version,
            "hours": hours_text(counts.hours),
            "begun": histogram_text(counts.begun),
            **{phase: histogram_text(of) for phase, of in counts.phases.items()},
            **{name: getattr(counts, name) for name in _NUMBERS},
            "failed_id": counts.failed_id,
            "failed_ms": None if counts.failed_at is None else times.to_ms(counts.failed_at),
            "latest": " ".join(each.removeprefix("task_") for each in counts.latest),
            "ttl": times.to_ms(ends) // 1_000,
        }
        values = {f":{name}": value for name, value in told.items() if value is not None}
        before: Item = {":before": counts.version - 1} if counts.version > 1 else {}
        sets = "SET " + ", ".join(f"#{name[1:]} = {name}" for name in values)
        try:
            condition = FOLLOWS if before else IS_FIRST
            self._table.update(keys.day_counts(counts.place), sets, condition, values | before)
        except ConditionFailed:
            raise errors.Conflict("counts") from None

    def of_days(self, workspace: str, days: Iterable[date], most: int) -> dict[date, list[DayCounts]]:
        found: dict[date, list[DayCounts]] = {day: [] for day in days}
        self._table.together([partial(self._read, workspace, day, most, found[day]) for day in found])
        return found

    def _read(self, workspace: str, day: date, most: int, into: list[DayCounts]) -> None:
        into += map(_counts_from, self._table.query(keys.day_of_counts(workspace, day), most))

    def put_decision(self, decision: Decision) -> None:
        values = {f":{name}": value for name, value in told_of(decision).items()}
        sets = "SET " + ", ".join(f"#{name[1:]} = {name}" for name in values)
        with suppress(ConditionFailed):
            self._table.update(keys.decision(decision), sets, IS_NEW, values)

    def decisions(self, workspace: str, day: date, limit: int, cursor: str | None) -> Page:
        partition = keys.day_of_decisions(workspace, day)
        found, has_more = self._table.query_page(partition, limit, newest_first=True, before=cursor)
        page = tuple(map(decision_from, found))
        return Page(page, found[-1]["sk"] if has_more and found else None)


def _counts_from(item: Item) -> DayCounts:
    failed_ms = item.get("failed_ms")
    return DayCounts(
        place=keys.parse_day_counts(keys.Key(item["pk"], item["sk"])),
        version=int(item["version"]),
        hours=hours_from(item["hours"]),
        begun=histogram_from(item.get("begun", "")),
        phases={phase: histogram_from(item.get(phase, "")) for phase in PHASES},
        recoveries=int(item["recoveries"]),
        retries=int(item["retries"]),
        tokens=int(item["tokens"]),
        failed_at=None if failed_ms is None else times.from_ms(int(failed_ms)),
        failed_id=item.get("failed_id"),
        latest=tuple(f"task_{each}" for each in item["latest"].split()),
    )
