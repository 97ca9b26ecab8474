"""Alerts: raised by the system or by a caller, acknowledged and resolved by humans (docs/spec/lifecycle.md §7)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.ids import is_slug
from baton.domain.newer import member
from baton.domain.tasks import trail
from baton.domain.tasks.task import Flag, Task

MAX_MESSAGE = 2_000
# Per caller and hour of the clock: one agent out of control must not bury the alerts of others.
MAX_PER_HOUR = 60
_HOUR_MS = 3_600_000
MAX_SNOOZE_DAYS = 30


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class AlertState(StrEnum):
    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alert, raised by the system or by a caller."""

    workspace: str
    id: str
    kind: str  # a flag's name for the system's alerts, the caller's own word for others
    severity: Severity
    message: str
    task_id: str | None = None
    raised_by: str  # for the system's alerts the principal of the change that raised it
    raised_at: datetime
    acknowledged_at: datetime | None = None
    acknowledged_by: str | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    snoozed_until: datetime | None = None  # once that is over it is there again: nothing is written for that
    snoozed_at: datetime | None = None
    snoozed_by: str | None = None
    note: str | None = None  # of the last human who acknowledged or resolved it
    change_id: str | None = None  # the change of the workspace that it is about
    version: int = 1

    @property
    def state(self) -> AlertState:
        if self.resolved_at is not None:
            return AlertState.RESOLVED
        return AlertState.OPEN if self.acknowledged_at is None else AlertState.ACKNOWLEDGED

    def acknowledged(self, by: Principal, at: datetime, note: str | None = None) -> Alert:
        """Returns the alert acknowledged, or as it is if it isn't open any more. Raises ``HumanNeeded``."""
        by.must_have(Deed.ACKNOWLEDGE_ALERT)
        if self.state is not AlertState.OPEN:
            return self
        return self._next(note, acknowledged_at=at, acknowledged_by=by.key)

    def is_snoozed(self, now: datetime) -> bool:
        return self.snoozed_until is not None and now < self.snoozed_until

    def snoozed(self, by: Principal, at: datetime, until: datetime | None) -> Alert:
        """Returns the alert put off until a time, or with None no longer; one that is resolved as it is. Raises
        ``HumanNeeded``, and ``InvalidInput`` for a time that is over or too far off."""
        by.must_have(Deed.SNOOZE_ALERT)
        if until is not None and not at < until <= at + timedelta(days=MAX_SNOOZE_DAYS):
            raise errors.InvalidInput("until", f"must be ahead, by {MAX_SNOOZE_DAYS} days at most")
        if self.state is AlertState.RESOLVED:
            return self
        return self._next(None, snoozed_until=until, snoozed_at=at, snoozed_by=by.key)

    def resolved(self, by: Principal, at: datetime, note: str | None = None) -> Alert:
        """Returns the alert resolved, or as it is if it was resolved before. Raises ``HumanNeeded``."""
        by.must_have(Deed.RESOLVE_ALERT)
        if self.state is AlertState.RESOLVED:
            return self
        return self._next(note, resolved_at=at, resolved_by=by.key)

    def _next(self, note: str | None, **values: Any) -> Alert:
        return replace(self, **values, note=self.note if note is None else note, version=self.version + 1)


def check_kind(kind: str) -> None:
    """Raises ``InvalidInput`` for a kind that isn't a slug, or that only the system may raise."""
    if not is_slug(kind):
        raise errors.InvalidInput("kind", "must be 1 to 63 of a-z, 0-9 and hyphens, and not begin or end with a hyphen")
    if kind in set(Flag):
        raise errors.InvalidInput("kind", f"{kind!r} is what Baton itself raises; use a word of your own")


# The severity and the text of the system's alerts.
_SYSTEM_ALERTS: dict[Flag, tuple[Severity, str]] = {
    Flag.UNDELIVERABLE: (Severity.CRITICAL, "No active agent is there to take the task; it is for {agent}."),
    Flag.UNCLAIMED: (Severity.WARNING, "The task has waited too long to be taken; it is for {agent}."),
    Flag.NEXT_STALE: (Severity.INFO, "The task was approved for next, and nobody has taken it for a day."),
    Flag.DEADLINE_PASSED: (Severity.CRITICAL, "The task's deadline passed before it was done."),
    Flag.ATTEMPTS_EXHAUSTED: (Severity.CRITICAL, "All attempts are used up; a human has to say how the task goes on."),
    Flag.RELEASED_TOO_OFTEN: (Severity.WARNING, "The task was given back again and again without any progress."),
    Flag.CLOSED_BY_BOT: (
        Severity.WARNING,
        "A bot, or an unknown person, closed the task's page in the tracker; the task itself goes on.",
    ),
    Flag.WAITING: (Severity.WARNING, "The task has waited too long for what others are to bring it."),
    Flag.APPROVAL_OVERDUE: (Severity.WARNING, "The handoff waits for the people who have to approve it."),
    Flag.CALLBACK_MISSED: (Severity.WARNING, "The callback that the task waited for never came; it goes on without."),
}


def system_alert(task: Task, event: trail.Event, id_: str) -> Alert:
    """Returns the alert of an event ``alert_raised``. Its text is the flag's own: no text of an agent is in it."""
    flag = Flag(event.data["flag"])
    severity, sentence = _SYSTEM_ALERTS[flag]
    return Alert(
        workspace=task.workspace,
        id=id_,
        kind=str(flag),
        severity=severity,
        message=sentence.format(agent=task.target_agent or "any agent"),
        task_id=task.id,
        raised_by=f"{event.principal_kind}:{event.principal_id}",
        raised_at=event.at,
    )


def hour_of(at: datetime) -> int:
    """Returns the hours since the epoch. In each of them a caller raises at most ``MAX_PER_HOUR`` alerts."""
    return times.to_ms(at) // _HOUR_MS


def too_many_alerts(at: datetime) -> errors.TooManyAlerts:
    return errors.TooManyAlerts(MAX_PER_HOUR, -(-((hour_of(at) + 1) * _HOUR_MS - times.to_ms(at)) // 1_000))


_TIMES = {"raised_at", "acknowledged_at", "resolved_at", "snoozed_until", "snoozed_at"}


def snapshot(alert: Alert) -> dict[str, Any]:
    """Returns the alert in JSON's types, for the store and for a saved response."""
    values = {f.name: getattr(alert, f.name) for f in fields(alert)} | {"severity": str(alert.severity)}
    return {name: times.rfc3339(each) if name in _TIMES else each for name, each in values.items() if each is not None}


def from_snapshot(kept: dict[str, Any]) -> Alert:
    """The inverse of ``snapshot``. Unknown fields are left out."""
    known = {f.name for f in fields(Alert)}
    values = {name: each for name, each in kept.items() if name in known}
    instants = {name: times.parse_rfc3339(values[name]) for name in _TIMES & values.keys()}
    parsed: dict[str, Any] = {"severity": member(Severity, values["severity"]), "version": int(values["version"])}
    return Alert(**{**values, **instants, **parsed})


@dataclass(frozen=True, slots=True)
class AlertCount:
    """The counter of a caller's alerts in the hour of ``at``."""

    by: str  # the caller's principal key
    at: datetime
