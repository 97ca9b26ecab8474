"""The backoff of waiting requests where too many wait: the caller looks once without waiting, and stays away for a
while, the longer, the more often it was refused."""

from __future__ import annotations

import random
from dataclasses import dataclass

FIRST_PAUSE_SECONDS = 0.5
# With its jitter, at most 20 s between two looks of a caller that always finds all places taken.
LONGEST_PAUSE_SECONDS = 16.0
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
        self.refusals = min(self.refusals + 1, 10)
        pause = min(FIRST_PAUSE_SECONDS * 2 ** (self.refusals - 1), LONGEST_PAUSE_SECONDS)
        return max(retry_after, pause) * random.uniform(1.0, 1.25)  # noqa: S311

    def waited(self) -> None:
        """Whoever had its turn gives way to others the next time as well, if many wait."""
        self.refusals = max(0, self.refusals - 1)
