"""The circuit between a workspace and its tracker: while it is open, calls are refused. A throttle or an outage
concerns every page of the workspace, so it opens the circuit for all of them, and they aren't tried in vain one after
the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from baton.domain import errors, times
from baton.domain.tracker.page_sync import MAX_MESSAGE, Sync

FIRST_PAUSE_SECONDS = {Sync.PENDING: 5, Sync.ERROR: 5, Sync.DENIED: 30}
LAST_PAUSE_SECONDS = {Sync.PENDING: 300, Sync.ERROR: 300, Sync.DENIED: 900}
MAX_RETRY_AFTER_SECONDS = 3_600
RECONCILE_SECONDS = 600
# When the sweeper checks again while pages are left to send: a dispatch notice can be lost.
BACKLOG_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerCircuit:
    """The circuit's state."""

    workspace: str
    open_until: datetime | None = None  # no calls before then; None while it is closed
    failures: int = 0
    status: Sync = Sync.OK
    message: str = ""
    reconciled_at: datetime | None = None  # every edit of a page before then was handled
    wake_at: datetime | None = None  # when the sweeper sends a notice for this workspace; None without a tracker
    version: int = 0

    def is_open(self, now: datetime) -> bool:
        """Whether calls are refused. Once the pause is over the next call is let through."""
        return self.open_until is not None and now < self.open_until

    def is_reconcile_due(self, now: datetime) -> bool:
        return self.reconciled_at is None or now - self.reconciled_at >= times.seconds(RECONCILE_SECONDS)

    def opened(self, trouble: errors.TrackerTrouble, now: datetime) -> TrackerCircuit:
        """Returns the circuit open: for as long as the tracker asked, else for a pause that doubles each time and is
        longer after a denial."""
        status = Sync(trouble.status)
        pause: float = min(FIRST_PAUSE_SECONDS[status] * 2 ** min(self.failures, 10), LAST_PAUSE_SECONDS[status])
        if trouble.retry_after is not None:
            pause = min(max(trouble.retry_after, 1), MAX_RETRY_AFTER_SECONDS)
        until = now + times.seconds(pause)
        return self._next(
            open_until=until,
            failures=self.failures + 1,
            status=status,
            message=trouble.message[:MAX_MESSAGE],
            wake_at=until,
        )

    def extended(self, trouble: errors.TrackerTrouble, now: datetime) -> TrackerCircuit | None:
        """Returns an open circuit that stays open for longer, or None if the tracker doesn't ask for that."""
        if trouble.retry_after is None:
            return None
        until = now + times.seconds(min(max(trouble.retry_after, 1), MAX_RETRY_AFTER_SECONDS))
        if self.open_until is not None and until <= self.open_until:
            return None
        return self._next(open_until=until, wake_at=until)

    def closed(self, now: datetime) -> TrackerCircuit:
        """Returns the circuit closed and due at once."""
        since = self.reconciled_at or now - times.seconds(RECONCILE_SECONDS)  # the period before a first reconciliation
        return self._next(open_until=None, failures=0, status=Sync.OK, message="", reconciled_at=since, wake_at=now)

    def answered(self) -> TrackerCircuit:
        """Returns the circuit closed after an answer of the tracker."""
        return self._next(open_until=None, failures=0, status=Sync.OK, message="")

    def reconciled(self, up_to: datetime) -> TrackerCircuit:
        return self._next(reconciled_at=up_to, failures=0, status=Sync.OK, message="")

    def waking(self, at: datetime | None) -> TrackerCircuit:
        return self._next(wake_at=at)

    def _next(self, **values: object) -> TrackerCircuit:
        return replace(self, version=self.version + 1, **values)  # type: ignore[arg-type]
