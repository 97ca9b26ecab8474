"""The backoff of waiting requests where too many wait: the caller looks once without waiting, and stays away for a
while, the longer, the more often it was refused."""

from __future__ import annotations

import random
from dataclasses import dataclass

FIRST_PAUSE_SECONDS = 0.5
# With its jitter, a caller that always finds all places taken looks each 10 s.
LONGEST_PAUSE_SECONDS = 8.0
MOST_REFUSALS = 5
# A wait that took less than this part of its time was cut short.
WHOLE_SHARE = 0.9
_THROTTLED = {429, 503}


def is_refused(status: int, code: str) -> bool:
    """True for a wait that didn't begin: refused by Baton for its number, or by AWS, whose answers have no code."""
    return code == "too_many_polls" or (status in _THROTTLED and not code)


@dataclass(slots=True)
class WaitBackoff:
    """``refusals``: how often waits were refused, less the waits since."""

    refusals: int = 0

    def pause_after_refusal(self, retry_after: float) -> float:
        """Returns the seconds until the next wait."""
        self.refusals = min(self.refusals + 1, MOST_REFUSALS)
        return self._pause(retry_after)

    def pause_after_wait(self, asked_seconds: float, seconds: float) -> float:
        """Returns the seconds until the next wait, after one in vain: none if it was as long as asked. One that was cut
        short gives way to others."""
        self.refusals = max(0, self.refusals - 1)
        return self._pause() if seconds < asked_seconds * WHOLE_SHARE else 0.0

    def _pause(self, at_least: float = 0.0) -> float:
        pause: float = min(FIRST_PAUSE_SECONDS * 2**self.refusals, LONGEST_PAUSE_SECONDS)
        return max(at_least, pause) * random.uniform(1.0, 1.25)  # noqa: S311
