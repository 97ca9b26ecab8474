"""Rate limits per caller: a token bucket for requests and one for bytes, for each principal
(docs/decisions/022-what-one-caller-may-cost.md).

Each process has buckets of its own. For a caller above the lowest limits that a workspace can set, the process reports
a sample of the requests to a counter that all processes share.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.settings.settings import Settings

# Up to these the workspace's settings aren't read and nothing is reported.
LEAST_REQUESTS, LEAST_BYTES = 60, 300_000
# Humans rarely reach a limit, but bulk imports do, and a human must not be locked out by a limit that a human set.
HUMAN_FACTOR = 5
# One request in ``SAMPLED`` is reported and counts for all of them. A larger request is likelier to be reported, one of
# ``SAMPLED_BYTES`` always is.
SAMPLED, SAMPLED_BYTES = 20, 64_000
SETTINGS_ARE_GOOD_FOR = timedelta(minutes=1)
# Openings and polls of one connection to the bell in a minute. A client polls twice after it has opened, then every
# nine minutes; a page polls also when its person returns, at most every ten seconds.
BELL_POLLS_PER_MINUTE = 12
# The bell refuses a token for this time after its connection exceeded that rate.
BELL_PAUSE = timedelta(minutes=1)
# Callers that a process remembers. At this number it forgets all of them.
MAX_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class CallerLimits:
    """The limits per minute, and the size of a burst after a quiet minute."""

    requests: int
    bytes: int


LEAST = CallerLimits(LEAST_REQUESTS, LEAST_BYTES)


def limits_of(by: Principal, settings: Settings) -> CallerLimits:
    factor = HUMAN_FACTOR if by.is_human else 1
    return CallerLimits(settings.requests_per_minute * factor, settings.kept_bytes_per_minute * factor)


@dataclass(slots=True)
class CallerUse:
    """One principal's token buckets. They drain at the rate of the limits."""

    at: datetime
    requests: float = 0.0
    bytes: float = 0.0
    shut_until: datetime | None = None  # refused until then, by the shared counter

    def is_least(self, size: int) -> bool:
        """True if one more request of ``size`` bytes stays within the lowest limits."""
        return self.requests + 1 <= LEAST_REQUESTS and self.bytes + size <= LEAST_BYTES

    def drain(self, now: datetime, limits: CallerLimits) -> None:
        minutes = max(0.0, (now - self.at).total_seconds()) / 60
        self.at = now
        self.requests = max(0.0, self.requests - limits.requests * minutes)
        self.bytes = max(0.0, self.bytes - limits.bytes * minutes)

    def must_be_open(self, now: datetime) -> None:
        """Raises ``RateLimited`` while the shared counter refuses the caller."""
        if self.shut_until is not None and now < self.shut_until:
            raise errors.RateLimited("all", ceil((self.shut_until - now).total_seconds()))

    def take(self, size: int, limits: CallerLimits) -> None:
        """Counts a request of ``size`` bytes. Raises ``RateLimited`` and counts nothing if that exceeds a limit."""
        for name, used, more, most in (
            ("requests_per_minute", self.requests, 1, limits.requests),
            ("kept_bytes_per_minute", self.bytes, size, limits.bytes),
        ):
            if more and used + more > most:
                raise errors.RateLimited(name, ceil((used + more - most) * 60 / most))
        self.count(size)

    def count(self, size: int) -> None:
        """Counts a request of ``size`` bytes that is known to stay within the limits."""
        self.requests += 1
        self.bytes += size


@dataclass(frozen=True, slots=True)
class BellUse:
    """A principal's use in one minute, as all processes have counted it. ``requests`` includes ``bell``: its openings
    and polls of the bell. ``connection`` counts them for one connection. ``paused_until`` belongs to the token."""

    requests: int
    bell: int
    connection: int
    paused_until: datetime | None


@dataclass(slots=True)
class Meter:
    """The state of one process: its callers' use, tokens that the bell refuses, and the settings that it has read."""

    uses: dict[tuple[str, str], CallerUse] = field(default_factory=dict)
    paused: dict[str, datetime] = field(default_factory=dict)
    settings: dict[str, tuple[datetime, Settings]] = field(default_factory=dict)

    def use_of(self, by: Principal, now: datetime) -> CallerUse:
        if len(self.uses) >= MAX_REMEMBERED:
            self.uses.clear()
        return self.uses.setdefault((by.workspace, by.key), CallerUse(now))

    def pause(self, by: Principal, until: datetime) -> None:
        """Has this process refuse the token at the bell until then, without asking the table."""
        if len(self.paused) >= MAX_REMEMBERED:
            self.paused.clear()
        self.paused[by.token_id] = until

    def bell_must_be_open(self, by: Principal, now: datetime) -> None:
        """Raises ``RateLimited`` while the bell refuses the token."""
        until = self.paused.get(by.token_id, now)
        if now < until:
            raise errors.RateLimited("bell", ceil((until - now).total_seconds()))


def sampled(size: int) -> int:
    """Returns how many requests of this size a report of this one counts for: 0, no report, for most; 1 on average."""
    likelihood = min(1.0, max(1 / SAMPLED, size / SAMPLED_BYTES))
    return round(1 / likelihood) if random.random() < likelihood else 0  # noqa: S311 - a sample, no secret


def minute_of(at: datetime) -> int:
    return int(at.timestamp() // 60)


def end_of_minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0) + timedelta(minutes=1)
