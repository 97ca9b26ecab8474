"""Time that moves only when it is told to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

# A Wednesday, so that the next business day is simply tomorrow.
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


class FakeClock:
    """``slept``: the pauses that were asked for. A pause moves the time on, so that retries and polls end.
    ``meanwhile``: is called once, in the next pause. ``stands_still``: a pause takes no time."""

    def __init__(self, now: datetime = NOON) -> None:
        self.time = now
        self.slept: list[float] = []
        self.meanwhile: Callable[[], object] | None = None
        self.stands_still = False

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    def sleep(self, seconds: float) -> None:
        step, self.meanwhile = self.meanwhile, None
        if step is not None:
            step()
        self.slept.append(seconds)
        if not self.stands_still:
            self.advance(seconds)

    def advance(self, seconds: float = 0, *, milliseconds: int = 0) -> None:
        self.time += timedelta(milliseconds=round(seconds * 1000) + milliseconds)
