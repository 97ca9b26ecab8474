"""The lease of a claim: until when it is surely held, and when its next heartbeat is due. Times are those of
``watchdog.now``."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from baton_cli.worker.program import TimeLimits

# The worker learns from its next heartbeat that a task was cancelled.
LONGEST_HEARTBEAT_SECONDS = 20.0
FIRST_PAUSE_SECONDS = 0.5
# The part of a lease that is left to a program after TERM, if the lease can't be extended.
GRACE_SHARE = 0.2


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

    def missed(self, now: float, retry_after: float = 0.0) -> Lease:
        pause = min(FIRST_PAUSE_SECONDS * 2**self.misses, _pause(self.seconds)) * random.uniform(0.5, 1.0)  # noqa: S311
        return replace(self, heartbeat_at=now + max(pause, retry_after), misses=self.misses + 1)

    def is_over(self, now: float) -> bool:
        return now >= self.held_until

    def limits(self, time_limit_at: float, grace_seconds: float) -> TimeLimits:
        """Returns when the program has to end: at its time limit, or before the lease does."""
        warned_at = self.held_until - min(grace_seconds, self.seconds * GRACE_SHARE)
        return TimeLimits(min(time_limit_at, warned_at), min(time_limit_at + grace_seconds, self.held_until))


def _pause(seconds: float) -> float:
    return min(seconds / 3, LONGEST_HEARTBEAT_SECONDS)
