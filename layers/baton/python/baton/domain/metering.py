"""What one caller may ask for in a minute: a token bucket for requests and one for bytes, for each principal
(docs/decisions/022-what-one-caller-may-cost.md).

The buckets are this process's own. A process that lets a caller do more than the least that any workspace may set
reports a sample of it to a count that all processes share.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING

from baton.domain.errors import RateLimited

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.principal import Principal
    from baton.domain.settings import Settings

# Within this nobody asks what the workspace has set, and nothing is reported.
LEAST_REQUESTS, LEAST_BYTES = 60, 300_000
# Nobody approves or reads that fast, but people import and define things, and mustn't be shut out by what they set.
HUMAN_FACTOR = 5
# One request in so many is reported, for all of them; the larger, the likelier, and each of so many bytes.
SAMPLED, SAMPLED_BYTES = 20, 64_000
SETTINGS_ARE_GOOD_FOR = timedelta(minutes=1)
# Callers that a process remembers: beyond it, all begin anew.
MAX_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """In a minute, and at once after a quiet one."""

    requests: int
    bytes: int


LEAST = Limits(LEAST_REQUESTS, LEAST_BYTES)


def limits_of(by: Principal, settings: Settings) -> Limits:
    factor = HUMAN_FACTOR if by.is_human else 1
    return Limits(settings.requests_per_minute * factor, settings.kept_bytes_per_minute * factor)


@dataclass(slots=True)
class Use:
    """Of one principal. What was used drains away at the rate of the limits. ``shut_until``: the count that all share
    has said so."""

    at: datetime
    requests: float = 0.0
    bytes: float = 0.0
    shut_until: datetime | None = None

    def is_least(self, size: int) -> bool:
        """With one more request of ``size`` bytes."""
        return self.requests + 1 <= LEAST_REQUESTS and self.bytes + size <= LEAST_BYTES

    def drain(self, now: datetime, limits: Limits) -> None:
        minutes = max(0.0, (now - self.at).total_seconds()) / 60
        self.at = now
        self.requests = max(0.0, self.requests - limits.requests * minutes)
        self.bytes = max(0.0, self.bytes - limits.bytes * minutes)

    def must_be_open(self, now: datetime) -> None:
        """Raises ``RateLimited``."""
        if self.shut_until is not None and now < self.shut_until:
            raise RateLimited("all", ceil((self.shut_until - now).total_seconds()))

    def take(self, size: int, limits: Limits) -> None:
        """Raises ``RateLimited``, and has taken nothing then."""
        for name, used, more, most in (
            ("requests_per_minute", self.requests, 1, limits.requests),
            ("kept_bytes_per_minute", self.bytes, size, limits.bytes),
        ):
            if more and used + more > most:
                raise RateLimited(name, ceil((used + more - most) * 60 / most))
        self.requests += 1
        self.bytes += size


@dataclass(slots=True)
class Meter:
    """What a process knows of its callers."""

    uses: dict[tuple[str, str], Use] = field(default_factory=dict)
    settings: dict[str, tuple[datetime, Settings]] = field(default_factory=dict)

    def use_of(self, by: Principal, now: datetime) -> Use:
        if len(self.uses) >= MAX_REMEMBERED:
            self.uses.clear()
        return self.uses.setdefault((by.workspace, by.key), Use(now))


def sampled(size: int) -> int:
    """For how many requests of this size this one is reported: 0 for most of them. On an average that is one each."""
    likelihood = min(1.0, max(1 / SAMPLED, size / SAMPLED_BYTES))
    return round(1 / likelihood) if random.random() < likelihood else 0  # noqa: S311 - a sample, no secret


def minute_of(at: datetime) -> int:
    return int(at.timestamp() // 60)


def end_of_minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0) + timedelta(minutes=1)
