"""A workspace's settings, each with its default and its bounds."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from baton.domain import errors
from baton.domain.guardrails.guardrails import Guardrails
from baton.domain.settings.approval_rule import MAX_GROUPS, MAX_MEMBERS, MAX_RULES, ApprovalRule
from baton.domain.settings.tracker_settings import TrackerSettings

MAX_WINDOW_DAYS = 30
MAX_CAP = 20
# The end of the undo window is one delayed dispatch notice, and SQS delays a message by at most 900 s.
MAX_DISPATCH_DELAY_SECONDS = 900
MAX_ALERT_SECONDS = 7 * 86_400
MAX_HOLIDAYS = 200

# The lowest and the highest value of every number. The depth of a chain and the size of a workflow bound the cost of
# one task, one listing and one cascade.
BOUNDS = {
    "handoff_window_days": (1, MAX_WINDOW_DAYS),
    "escalation_cap": (1, MAX_CAP),
    "dispatch_delay_seconds": (0, MAX_DISPATCH_DELAY_SECONDS),
    "unclaimed_alert_seconds": (60, MAX_ALERT_SECONDS),
    "waiting_alert_seconds": (60, MAX_ALERT_SECONDS),
    "max_attempts": (1, 20),
    "max_depth": (1, 50),
    "max_handoffs_per_workflow": (1, 500),
    "max_same_direction": (1, 20),
    "ping_pong_window": (4, 20),
    "root_handoffs_per_hour": (1, 300),
    "listeners_per_principal": (1, 2_000),
    "requests_per_minute": (60, 60_000),
    "kept_bytes_per_minute": (300_000, 1_000_000_000),
    "kept_bytes_per_claim": (1_000_000, 1_000_000_000),
    "polls_at_once": (1, 25),
    "cents_per_million_tokens": (0, 1_000_000),
}


class AgentsRead(StrEnum):
    """A workspace's setting: whether its agents read one another's work."""

    OWN = "own"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A workspace's settings."""

    time_zone: str = "UTC"
    holidays: frozenset[date] = field(default_factory=frozenset)
    handoff_window_days: int = 7
    escalation_cap: int = 2
    breaker_scope: str = "open"
    dispatch_delay_seconds: int = 3
    unclaimed_alert_seconds: int = 3_600
    waiting_alert_seconds: int = 86_400
    max_attempts: int = 3
    loop_guard: bool = True  # False skips the loop guard's rules (docs/spec/protocol.md §3)
    max_depth: int = 10
    max_handoffs_per_workflow: int = 50
    max_same_direction: int = 3
    ping_pong_window: int = 6
    root_handoffs_per_hour: int = 30
    agents_read: AgentsRead = AgentsRead.OWN  # docs/reading-rights.md
    listeners_per_principal: int = 50
    requests_per_minute: int = 1_200
    kept_bytes_per_minute: int = 6_000_000
    kept_bytes_per_claim: int = 30_000_000
    polls_at_once: int = 5
    cents_per_million_tokens: int = 0  # of a model's, read and written alike; 0: nobody has said
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of humans, by name: who may decide
    approval_rules: tuple[ApprovalRule, ...] = ()  # of handoffs and actions; all that fit apply
    guardrails: Guardrails = field(default_factory=Guardrails)
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

    @property
    def has_handoff_rules(self) -> bool:
        return any(rule.tool is None for rule in self.approval_rules)

    def changed(self, **values: Any) -> Settings:
        """Returns a copy with the given fields, also within ``guardrails`` and ``tracker``; ``tracker`` None turns the
        tracker off. Raises ``InvalidInput`` for the first field that is out of bounds."""
        if "guardrails" in values:
            values["guardrails"] = self.guardrails.changed(values["guardrails"])
        if values.get("tracker") is not None:
            values["tracker"] = (self.tracker or TrackerSettings()).changed(values["tracker"])
        after = replace(self, **values)
        for name, (low, high) in BOUNDS.items():
            _within(name, getattr(after, name), low, high)
        if after.agents_read not in set(AgentsRead):
            raise errors.InvalidInput("agents_read", "must be 'own' or 'workspace'")
        if after.breaker_scope not in {"open", "any"}:
            raise errors.InvalidInput("breaker_scope", "must be 'open' or 'any'")
        if len(after.holidays) > MAX_HOLIDAYS:
            raise errors.InvalidInput("holidays", f"must be at most {MAX_HOLIDAYS} dates")
        if len(after.groups) > MAX_GROUPS or any(len(each) > MAX_MEMBERS for each in after.groups.values()):
            raise errors.InvalidInput("groups", f"must be at most {MAX_GROUPS} groups of at most {MAX_MEMBERS} humans")
        if len(after.approval_rules) > MAX_RULES:
            raise errors.InvalidInput("approval_rules", f"must be at most {MAX_RULES} rules")
        _check_zone(after.time_zone)
        return after


SETTING_NAMES = tuple(f.name for f in fields(Settings) if f.name != "version")


# Files of the zone database that mean what the machine's administrator chose, or clocks with leap seconds.
_NO_ZONES, _OTHER_CLOCKS = {"localtime", "posixrules", "Factory"}, ("right/", "posix/")


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise errors.InvalidInput(name, f"must be from {low} to {high}")


def _check_zone(name: str) -> None:
    if name in _NO_ZONES or name.startswith(_OTHER_CLOCKS):
        raise errors.InvalidInput("time_zone", f"must be an IANA time zone such as 'America/Chicago', not {name!r}")
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as exc:  # OSError: a folder of the zone database, such as "Europe"
        raise errors.InvalidInput("time_zone", "must be an IANA time zone such as 'America/Chicago'") from exc
