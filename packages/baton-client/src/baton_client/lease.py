"""The lease of a claim: until when it is surely held, and when its next heartbeat is due, by the clock of ``now``."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace

from baton_client.core import Answer

# A worker learns from its next heartbeat that a task was cancelled.
LONGEST_HEARTBEAT_SECONDS = 20.0
FIRST_PAUSE_SECONDS = 0.5
# One heartbeat's answer, and a pause between two attempts, take at most these parts of a lease. So an outage of half a
# lease loses no claim.
LONGEST_ANSWER_SHARE, LONGEST_PAUSE_SHARE = 1 / 6, 1 / 30
SHORTEST_ANSWER_SECONDS, LONGEST_ANSWER_SECONDS = 2.0, 10.0
# This clock goes on while the machine sleeps.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", None) or getattr(time, "CLOCK_MONOTONIC", None)


def now() -> float:
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


@dataclass(frozen=True, slots=True)
class Lease:
    """``held_until``: until then no other worker can hold the task. It is counted from the sending of the last
    heartbeat that was answered. ``misses``: the heartbeats in a row without an answer."""

    seconds: float
    held_until: float
    heartbeat_at: float
    misses: int = 0

    @classmethod
    def taken(cls, seconds: float, asked_at: float) -> Lease:
        """``asked_at``: when the claim was requested; the lease began later."""
        return cls(seconds, asked_at + seconds, asked_at + _pause(seconds))

    def renewed(self, sent_at: float) -> Lease:
        return Lease.taken(self.seconds, sent_at)

    def missed(self, at: float, retry_after: float = 0.0, foreign: int = 0) -> Lease:
        """``retry_after``: kept to, unless heartbeats would become rarer than usual: that would lose the claim.
        ``foreign``: the status of another program's answer, whose ``retry_after`` doesn't count."""
        usual, soon = _pause(self.seconds), max(FIRST_PAUSE_SECONDS, self.seconds * LONGEST_PAUSE_SHARE)
        longest = usual if self.is_over(at) else min(soon, usual)  # a lease that is over isn't saved by haste
        pause = min(FIRST_PAUSE_SECONDS * 2 ** min(self.misses, 10), longest) * random.uniform(0.5, 1.0)  # noqa: S311
        asked = 0.0 if foreign else min(retry_after, usual)
        return replace(self, heartbeat_at=at + max(pause, asked), misses=self.misses + 1)

    @property
    def answer_seconds(self) -> float:
        """The time for one heartbeat's answer. Another attempt is better than a long wait."""
        return min(max(SHORTEST_ANSWER_SECONDS, self.seconds * LONGEST_ANSWER_SHARE), LONGEST_ANSWER_SECONDS)

    @property
    def next_at(self) -> float:
        """The next heartbeat, or after one in vain the end of the lease, if that comes first."""
        return min(self.heartbeat_at, self.held_until) if self.misses else self.heartbeat_at

    def is_over(self, at: float) -> bool:
        return at >= self.held_until


def _pause(seconds: float) -> float:
    return min(seconds / 3, LONGEST_HEARTBEAT_SECONDS)


def ends_claim(answer: Answer) -> bool:
    """True if Baton refuses a heartbeat for good."""
    return answer.is_settled and answer.status >= 400
