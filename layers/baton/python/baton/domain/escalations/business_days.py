"""Due dates (docs/spec/marker.md §3)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime, timedelta, tzinfo

_SATURDAY = 5


def next_business_day(now: datetime, zone: tzinfo, holidays: Collection[date] = ()) -> date:
    """Returns the first day after today in ``zone`` that is neither Saturday, Sunday nor a holiday."""
    day = now.astimezone(zone).date() + timedelta(days=1)
    while day.weekday() >= _SATURDAY or day in holidays:
        day += timedelta(days=1)
    return day
