"""How much one poster may put on the blackboard in an hour. Every search reads all of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import ceil

from baton.domain import errors
from baton.domain.access.metering import HUMAN_FACTOR
from baton.domain.access.principal import Principal, PrincipalKind

# The limits of an agent. An entry of 70 words has half a kilobyte.
ENTRIES_PER_HOUR, BYTES_PER_HOUR = 2_400, 4_000_000
_HOUR_SECONDS = 3_600


@dataclass(slots=True)
class PosterUse:
    """One poster's use, in one process: two leaky buckets, of entries and of bytes. A full one drains within an
    hour."""

    at: datetime
    entries: float = 0.0
    bytes: float = 0.0

    def take(self, by: Principal, size: int, now: datetime) -> None:
        """Counts an entry of ``size`` bytes. If that is too much, raises ``BoardRateLimited``, and counts nothing."""
        # People import what they know, and services what a tracker knows.
        factor = 1 if by.kind is PrincipalKind.AGENT else HUMAN_FACTOR
        passed, self.at = max(0.0, (now - self.at).total_seconds()) / _HOUR_SECONDS, now
        most_entries, most_bytes = ENTRIES_PER_HOUR * factor, BYTES_PER_HOUR * factor
        self.entries = max(0.0, self.entries - most_entries * passed)
        self.bytes = max(0.0, self.bytes - most_bytes * passed)
        for limit, used, more, most in (
            ("entries_per_hour", self.entries, 1, most_entries),
            ("entry_bytes_per_hour", self.bytes, size, most_bytes),
        ):
            if used + more > most:
                raise errors.BoardRateLimited(limit, most, ceil((used + more - most) * _HOUR_SECONDS / most))
        self.entries += 1
        self.bytes += size
