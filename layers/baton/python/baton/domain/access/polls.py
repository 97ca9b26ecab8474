"""The rules of waiting long polls: how many of one principal, and how long one waits where many do. Each occupies a
process and reads the table several times a second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from baton.domain import errors

# So long a poll waits at least, however many wait.
SHORTEST_SECONDS = 2.0
CALLER = "one caller"


def free_slots(held: Mapping[int, datetime], most: int, now: datetime) -> list[int]:
    """Returns the slots that are free, of ``most``. ``held``: slot → when its poll ends. Raises ``TooManyPolls`` if
    none is free."""
    live = {slot: until for slot, until in held.items() if slot < most and until > now}
    free = [slot for slot in range(most) if slot not in live]
    if not free:
        first = min(live.values()) - now
        raise errors.TooManyPolls(CALLER, most, -int(-first.total_seconds() // 1))
    return free


@dataclass(frozen=True, slots=True)
class Room:
    """The executions that a function has for itself, which its polls share (docs/decisions/099-polls-take-turns.md).
    ``reserve``: how many; 0 if none are reserved, and nobody knows how many there are."""

    function: str = ""
    reserve: int = 0

    @property
    def most(self) -> int:
        """How many polls may wait at once: a fifth is left to calls that don't wait."""
        return max(1, self.reserve * 4 // 5)

    def seconds(self, waiting: int, asked_seconds: float) -> float:
        """Returns how long a poll waits, with which ``waiting`` polls wait: as long as it asks while they take at most
        half of the reserve, then the shorter, the fewer places are left. Raises ``TooManyPolls``."""
        if not self.reserve or 2 * waiting <= self.reserve:
            return asked_seconds
        if waiting > self.most:
            raise errors.TooManyPolls("this deployment", self.most, int(SHORTEST_SECONDS))
        left = (self.most - waiting) / (self.most - self.reserve / 2)
        return min(asked_seconds, max(SHORTEST_SECONDS, asked_seconds * left))


NO_RESERVE = Room()
