"""The store of counters, and of the record of decisions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Protocol

from baton.domain.stats.day_counts import DayCounts, DayPlace
from baton.domain.stats.decision import Decision
from baton.ports.paging import Page


class StatsStore(Protocol):
    def day_counts(self, place: DayPlace) -> DayCounts:
        """Returns what was counted; counts without anything if nothing was."""

    def put_counts(self, counts: DayCounts) -> None:
        """Puts the counts on condition that nobody has put them since they were read, in the version before. If the
        answer was lost, it raises ``Conflict`` though they were put: who reads again finds them. Raises ``Busy``."""

    def of_days(self, workspace: str, days: Iterable[date], most: int) -> dict[date, list[DayCounts]]:
        """Returns what was counted on each of the days, of at most so many directions, by target and source. One read a
        day, together."""

    def put_decision(self, decision: Decision) -> None:
        """Puts a decision into the record. Putting it again changes nothing. Raises ``Busy``."""

    def decisions(self, workspace: str, day: date, limit: int, cursor: str | None) -> Page:
        """Returns the decisions of a day (UTC), the newest first."""
