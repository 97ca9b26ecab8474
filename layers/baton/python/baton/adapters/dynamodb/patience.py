"""How long a call of the table is tried: by time, as the throttles of AWS last for seconds
(docs/decisions/093-the-table-is-asked-again-for-seconds.md)."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Protocol

# A call is tried so often even if its time is over: one that times out takes 6 s, and a lost reply is worth a repeat.
LEAST_TRIES = 3
MOST_TRIES = 10
FIRST_PAUSE_SECONDS = 0.05
# For a call that somebody waits for.
SECONDS = 3.0


class Pauses(Protocol):
    def monotonic(self) -> float:
        """Returns seconds, which the setting of a clock doesn't change."""

    def sleep(self, seconds: float) -> None: ...


class Patience:
    """``seconds``: how long one call is tried."""

    def __init__(self, pauses: Pauses, seconds: float = SECONDS) -> None:
        self._pauses = pauses
        self.begin(seconds, math.inf)

    def begin(self, seconds: float, time_left: float) -> None:
        """Begins an invocation of the function, of which a process has one at a time: no call is tried for longer than
        its ``time_left`` seconds."""
        self._seconds, self._until = seconds, self._pauses.monotonic() + time_left
        self._spent_until = -math.inf

    def tries(self) -> Iterator[None]:
        """Yields before each try of one call, three to ten times. Before each try but the first it pauses for a random
        time; the longest possible pause doubles, up to a third of the call's time. The last try is at the end of the
        time, so that a throttle which ends within it is never noticed.

        A use case that is told of a busy table may go on with its next task. So an invocation waits once: after a call
        that was tried in vain, other calls are tried three times, until none was in vain for as long as a call is
        tried."""
        now = self._pauses.monotonic()
        until = min(now + self._seconds, self._until) if now >= self._spent_until else now
        yield
        for number in range(1, MOST_TRIES):
            left = max(0.0, until - self._pauses.monotonic())
            if not left and number >= LEAST_TRIES:
                break
            longest = min(FIRST_PAUSE_SECONDS * 2 ** (number - 1), self._seconds / 3)
            pause = random.uniform(0, longest)  # noqa: S311 - spreads retries, keeps no secret
            if left:
                pause = left if number == MOST_TRIES - 1 else min(pause, left)
            self._pauses.sleep(pause)
            yield
        self._spent_until = self._pauses.monotonic() + self._seconds
