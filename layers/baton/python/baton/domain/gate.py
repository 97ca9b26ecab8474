"""Whether a workspace's tracker may be asked at all. It answers for all of a workspace's pages or for none of them: a
throttle or an outage closes the gate for all, so that they aren't tried in vain one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from baton.domain.mirror import MAX_MESSAGE, Sync
from baton.domain.times import seconds

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.errors import TrackerTrouble

FIRST_PAUSE_SECONDS = {Sync.PENDING: 5, Sync.ERROR: 5, Sync.DENIED: 30}
LAST_PAUSE_SECONDS = {Sync.PENDING: 300, Sync.ERROR: 300, Sync.DENIED: 900}
MAX_RETRY_AFTER_SECONDS = 3_600
RECONCILE_SECONDS = 600
# The next look when something is left to send: should its own bell be lost.
BACKLOG_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """``wake_at``: when the sweeper rings for this workspace; None while it has no tracker. ``reconciled_at``: what was
    edited before then was seen to."""

    workspace: str
    closed_until: datetime | None = None
    failures: int = 0
    status: Sync = Sync.OK
    message: str = ""
    reconciled_at: datetime | None = None
    wake_at: datetime | None = None
    version: int = 0

    def is_open(self, now: datetime) -> bool:
        return self.closed_until is None or self.closed_until <= now

    def is_reconcile_due(self, now: datetime) -> bool:
        return self.reconciled_at is None or now - self.reconciled_at >= seconds(RECONCILE_SECONDS)

    def closed(self, trouble: TrackerTrouble, now: datetime) -> Gate:
        """For as long as the tracker asked for, else longer each time; a denial is asked about less often."""
        status = Sync(trouble.status)
        pause: float = min(FIRST_PAUSE_SECONDS[status] * 2 ** min(self.failures, 10), LAST_PAUSE_SECONDS[status])
        if trouble.retry_after is not None:
            pause = min(max(trouble.retry_after, 1), MAX_RETRY_AFTER_SECONDS)
        until = now + seconds(pause)
        return self._next(
            closed_until=until,
            failures=self.failures + 1,
            status=status,
            message=trouble.message[:MAX_MESSAGE],
            wake_at=until,
        )

    def extended(self, trouble: TrackerTrouble, now: datetime) -> Gate | None:
        """Closed already; for longer if the tracker asks for that. None if it doesn't."""
        if trouble.retry_after is None:
            return None
        until = now + seconds(min(max(trouble.retry_after, 1), MAX_RETRY_AFTER_SECONDS))
        if self.closed_until is not None and until <= self.closed_until:
            return None
        return self._next(closed_until=until, wake_at=until)

    def opened(self, now: datetime) -> Gate:
        """Whatever it was, it may be tried now."""
        since = self.reconciled_at or now - seconds(RECONCILE_SECONDS)  # whatever happens until the first time succeeds
        return self._next(closed_until=None, failures=0, status=Sync.OK, message="", reconciled_at=since, wake_at=now)

    def answered(self) -> Gate:
        """The tracker answers: its trouble is over."""
        return self._next(closed_until=None, failures=0, status=Sync.OK, message="")

    def reconciled(self, up_to: datetime) -> Gate:
        return self._next(reconciled_at=up_to, failures=0, status=Sync.OK, message="")

    def waking(self, at: datetime | None) -> Gate:
        return self._next(wake_at=at)

    def _next(self, **values: object) -> Gate:
        return replace(self, version=self.version + 1, **values)  # type: ignore[arg-type]
