"""A workspace's settings: every one with its default and its bounds."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from baton.domain.errors import InvalidInput
from baton.domain.tracker import TrackerSettings

MAX_WINDOW_DAYS = 30
MAX_CAP = 20
# A bell can be delayed by at most 900 s (SQS), and the undo window is rung for with one.
MAX_DISPATCH_DELAY_SECONDS = 900
MAX_ALERT_SECONDS = 7 * 86_400
MAX_HOLIDAYS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    time_zone: str = "UTC"
    holidays: frozenset[date] = field(default_factory=frozenset)
    handoff_window_days: int = 7
    escalation_cap: int = 2
    breaker_scope: str = "open"
    dispatch_delay_seconds: int = 3
    unclaimed_alert_seconds: int = 3_600
    tracker: TrackerSettings | None = None
    version: int = 0

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)

    @property
    def window(self) -> timedelta:
        return timedelta(days=self.handoff_window_days)

    @property
    def undo_window(self) -> timedelta:
        return timedelta(seconds=self.dispatch_delay_seconds)

    def changed(self, **values: Any) -> Settings:
        """A copy with the given fields; raises ``InvalidInput`` naming the first field that is out of bounds. Of
        ``tracker`` too only the given fields are changed; None switches it off."""
        if values.get("tracker") is not None:
            values["tracker"] = (self.tracker or TrackerSettings()).changed(values["tracker"])
        after = replace(self, **values)
        _within("handoff_window_days", after.handoff_window_days, 1, MAX_WINDOW_DAYS)
        _within("escalation_cap", after.escalation_cap, 1, MAX_CAP)
        _within("dispatch_delay_seconds", after.dispatch_delay_seconds, 0, MAX_DISPATCH_DELAY_SECONDS)
        _within("unclaimed_alert_seconds", after.unclaimed_alert_seconds, 60, MAX_ALERT_SECONDS)
        if after.breaker_scope not in {"open", "any"}:
            raise InvalidInput("breaker_scope", "must be 'open' or 'any'")
        if len(after.holidays) > MAX_HOLIDAYS:
            raise InvalidInput("holidays", f"must be at most {MAX_HOLIDAYS} dates")
        _check_zone(after.time_zone)
        return after


SETTING_NAMES = tuple(f.name for f in fields(Settings) if f.name != "version")


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InvalidInput(name, f"must be from {low} to {high}")


def _check_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as exc:  # OSError: a name that is a folder of the database, such as "Europe"
        raise InvalidInput("time_zone", "must be an IANA time zone such as 'America/Chicago'") from exc
