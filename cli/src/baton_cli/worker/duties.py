"""What a worker owes Baton next for one claim: a pure choice."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from baton_cli.worker.lease import FIRST_PAUSE_SECONDS, Lease
from baton_cli.worker.report import Report

# Only the last one is gone on from, so that the oldest may be dropped while Baton is away.
MOST_CHECKPOINTS = 100
LONGEST_PAUSE_SECONDS = 15.0


class Duty(Enum):
    WAIT = "wait"
    BEAT = "beat"
    SAVE = "save"
    REPORT = "report"


class Next(NamedTuple):
    """``seconds``: how long to wait at most, unless something happens."""

    duty: Duty
    seconds: float = 0.0


class Keyed(NamedTuple):
    """A request's body with its Idempotency-Key."""

    body: dict[str, Any]
    key: str


@dataclass(slots=True)
class Duties:
    lease: Lease
    checkpoints: deque[Keyed] = field(default_factory=lambda: deque(maxlen=MOST_CHECKPOINTS))
    report: Report | None = None
    not_before: float = 0.0  # of the next checkpoint or report
    misses: int = 0

    def next(self, now: float) -> Next:
        """Checkpoints are saved in order and before the report, under heartbeats. A report that was sent once may have
        ended the claim, whatever a heartbeat would be told: it is repeated until it is answered."""
        is_last = self.report is not None and not self.checkpoints
        if now >= self.lease.beat_at and not is_last:
            return Next(Duty.BEAT)
        if (self.checkpoints or is_last) and now >= self.not_before:
            return Next(Duty.REPORT if is_last else Duty.SAVE)
        moments = [each for each in (self.not_before, self.lease.beat_at) if each > now]
        return Next(Duty.WAIT, min(moments, default=now) - now)

    def missed(self, now: float, retry_after: float) -> None:
        """No answer to a checkpoint or report."""
        pause = min(FIRST_PAUSE_SECONDS * 2**self.misses, LONGEST_PAUSE_SECONDS)
        self.not_before, self.misses = now + max(pause, retry_after), self.misses + 1

    def answered(self) -> None:
        self.not_before, self.misses = 0.0, 0
