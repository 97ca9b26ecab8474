"""The time by which a request to the outside has to end, whatever the server does."""

from __future__ import annotations

import time
from collections.abc import Callable


class Deadline:
    """The time ``seconds`` from now. ``monotonic`` returns seconds from any start, never going back."""

    def __init__(self, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic, self._until = monotonic, monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds; negative once the time is over."""
        return self._until - self._monotonic()
