"""The schedule of a job's requests: which heartbeat, checkpoint or report is next, and when. It sends nothing
itself."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from baton_cli.worker.report import ClaimReport
from baton_client.lease import FIRST_PAUSE_SECONDS, Lease

# The next attempt goes on from the last one, so the oldest are dropped while Baton doesn't answer.
MOST_CHECKPOINTS = 100
LONGEST_PAUSE_SECONDS = 15.0
TOO_LARGE = 413
MOST_TOO_LARGE = 3


class RequestKind(Enum):
    WAIT = "wait"
    HEARTBEAT = "heartbeat"
    CHECKPOINT = "checkpoint"
    REPORT = "report"


class NextRequest(NamedTuple):
    """``seconds``: the longest time to wait, unless something happens before."""

    kind: RequestKind
    seconds: float = 0.0


class KeyedRequest(NamedTuple):
    """A request's body with its Idempotency-Key."""

    body: dict[str, Any]
    key: str


@dataclass(slots=True)
class RequestSchedule:
    """``too_large``: how often another program than Baton has refused the next checkpoint or report as too large."""

    lease: Lease
    checkpoints: deque[KeyedRequest] = field(default_factory=lambda: deque(maxlen=MOST_CHECKPOINTS))
    report: ClaimReport | None = None
    not_before: float = 0.0  # of the next checkpoint or report
    misses: int = 0
    too_large: int = 0

    def next(self, now: float) -> NextRequest:
        """Returns the next request. Checkpoints are sent in order, before the report, and with heartbeats between them.
        Once the report is next there are no more heartbeats: the report may have ended the claim already, so it is
        repeated until it is answered."""
        is_last = self.report is not None and not self.checkpoints
        if now >= self.lease.heartbeat_at and not is_last:
            return NextRequest(RequestKind.HEARTBEAT)
        if (self.checkpoints or is_last) and now >= self.not_before:
            return NextRequest(RequestKind.REPORT if is_last else RequestKind.CHECKPOINT)
        moments = [each for each in (self.not_before, self.lease.heartbeat_at) if each > now]
        return NextRequest(RequestKind.WAIT, min(moments, default=now) - now)

    def missed(self, now: float, retry_after: float, foreign: int = 0) -> bool:
        """Notes that a checkpoint or report wasn't answered: it is sent again after a pause. Returns True if that is in
        vain: it is too large for a program between. ``foreign``: the status that another program than Baton sent."""
        pause = min(FIRST_PAUSE_SECONDS * 2**self.misses, LONGEST_PAUSE_SECONDS)
        self.not_before, self.misses = now + max(pause, retry_after), self.misses + 1
        self.too_large += foreign == TOO_LARGE
        return self.too_large >= MOST_TOO_LARGE

    def answered(self) -> None:
        """Notes that a checkpoint or report was answered: the next one needs no pause."""
        self.not_before, self.misses, self.too_large = 0.0, 0, 0
