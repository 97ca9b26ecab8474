"""The schedule of a claim's requests: heartbeats, checkpoints and the report, and which of them is next. It sends
nothing itself."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from baton_cli.worker.lease import FIRST_PAUSE_SECONDS, Lease
from baton_cli.worker.report import ClaimReport

# Only the last one is gone on from, so that the oldest may be dropped while Baton is away.
MOST_CHECKPOINTS = 100
LONGEST_PAUSE_SECONDS = 15.0


class RequestKind(Enum):
    WAIT = "wait"
    HEARTBEAT = "heartbeat"
    CHECKPOINT = "checkpoint"
    REPORT = "report"


class NextRequest(NamedTuple):
    """``seconds``: how long to wait at most, unless something happens."""

    kind: RequestKind
    seconds: float = 0.0


class KeyedRequest(NamedTuple):
    """A request's body with its Idempotency-Key."""

    body: dict[str, Any]
    key: str


@dataclass(slots=True)
class RequestSchedule:
    lease: Lease
    checkpoints: deque[KeyedRequest] = field(default_factory=lambda: deque(maxlen=MOST_CHECKPOINTS))
    report: ClaimReport | None = None
    not_before: float = 0.0  # of the next checkpoint or report
    misses: int = 0

    def next(self, now: float) -> NextRequest:
        """Checkpoints are saved in order and before the report, under heartbeats. A report that was sent once may have
        ended the claim, whatever a heartbeat would be told: it is repeated until it is answered."""
        is_last = self.report is not None and not self.checkpoints
        if now >= self.lease.heartbeat_at and not is_last:
            return NextRequest(RequestKind.HEARTBEAT)
        if (self.checkpoints or is_last) and now >= self.not_before:
            return NextRequest(RequestKind.REPORT if is_last else RequestKind.CHECKPOINT)
        moments = [each for each in (self.not_before, self.lease.heartbeat_at) if each > now]
        return NextRequest(RequestKind.WAIT, min(moments, default=now) - now)

    def missed(self, now: float, retry_after: float) -> None:
        """No answer to a checkpoint or report."""
        pause = min(FIRST_PAUSE_SECONDS * 2**self.misses, LONGEST_PAUSE_SECONDS)
        self.not_before, self.misses = now + max(pause, retry_after), self.misses + 1

    def answered(self) -> None:
        self.not_before, self.misses = 0.0, 0
