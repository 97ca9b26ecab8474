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
LONGEST_PAUSE_SHARE = 1 / 8  # of a lease
TOO_LARGE = 413
# If another program refuses a request as too large so often, or for any reason for so long, the refusal is about the
# request, and no outage.
LEAST_REFUSALS, REFUSED_SECONDS, REFUSED_SHARE = 3, 40.0, 2 / 3
_MAY_PASS = frozenset({408, 425, 429})  # refusals that ask for another attempt


def is_refusal(foreign: int) -> bool:
    """True for the status of another program that refuses the request, and doesn't ask for another attempt."""
    return 400 <= foreign < 500 and foreign not in _MAY_PASS


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
    """``missed_since``, ``refused_since``: since when the next checkpoint or report has had no answer, and since when
    another program than Baton has refused each attempt; None if it didn't. ``refusals``: the number of these.
    ``too_large``: the number of refusals as too large."""

    lease: Lease
    checkpoints: deque[KeyedRequest] = field(default_factory=lambda: deque(maxlen=MOST_CHECKPOINTS))
    report: ClaimReport | None = None
    not_before: float = 0.0  # of the next checkpoint or report
    misses: int = 0
    refusals: int = 0
    too_large: int = 0
    missed_since: float | None = None
    refused_since: float | None = None

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
        """Notes that a checkpoint or report wasn't answered: it is sent again after a pause.

        ``foreign``: the status that another program than Baton sent. Returns True if a repeat may be in vain: a program
        between refuses it as too large, or for long, or a report waits for long until this checkpoint is sent."""
        longest = min(LONGEST_PAUSE_SECONDS, self.lease.seconds * LONGEST_PAUSE_SHARE)
        pause = min(FIRST_PAUSE_SECONDS * 2 ** min(self.misses, 10), longest)
        self.not_before, self.misses = now + max(pause, retry_after), self.misses + 1
        self.missed_since = now if self.missed_since is None else self.missed_since
        refused_since = now if self.refused_since is None else self.refused_since
        self.refused_since = refused_since if is_refusal(foreign) else None
        self.refusals = self.refusals + 1 if is_refusal(foreign) else 0
        self.too_large += foreign == TOO_LARGE
        is_awaited = self.report is not None and bool(self.checkpoints)
        since = self.missed_since if is_awaited else self.refused_since
        is_long = since is not None and now - since >= min(REFUSED_SECONDS, self.lease.seconds * REFUSED_SHARE)
        return self.too_large >= LEAST_REFUSALS or (is_long and (is_awaited or self.refusals >= LEAST_REFUSALS))

    def answered(self) -> None:
        """Notes that a checkpoint or report was answered: the next one needs no pause."""
        self.not_before, self.misses, self.refusals, self.too_large = 0.0, 0, 0, 0
        self.missed_since = self.refused_since = None
