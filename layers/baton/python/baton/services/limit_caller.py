"""The rate limit: a caller above its workspace's limits is refused before its request is looked at
(docs/decisions/022-what-one-caller-may-cost.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.metering import (
    LEAST,
    SETTINGS_ARE_GOOD_FOR,
    Limits,
    end_of_minute,
    limits_of,
    minute_of,
    sampled,
)

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.metering import Use
    from baton.domain.principal import Principal
    from baton.ports import Baton


def caller_must_have_room(baton: Baton, by: Principal, size: int) -> None:
    """Counts one more request that sends ``size`` bytes to be stored. Raises ``RateLimited``, which costs nothing. A
    caller with few requests to this process costs no read and no write; else it is one read a minute, and one write for
    each twentieth request or each 64 KB."""
    now = baton.clock.now()
    use = baton.meter.use_of(by, now)
    use.must_be_open(now)
    use.drain(now, LEAST if use.is_least(0) else _limits(baton, by, now))
    if use.is_least(size):
        use.take(size, LEAST)
        return
    limits = _limits(baton, by, now)
    use.take(size, limits)
    _report(baton, by, use, size, limits, now)


def _limits(baton: Baton, by: Principal, now: datetime) -> Limits:
    """The workspace's limits, at most a minute old."""
    known = baton.meter.settings.get(by.workspace)
    if known is None or not now - SETTINGS_ARE_GOOD_FOR < known[0] <= now:
        known = now, baton.store.settings(by.workspace)
        baton.meter.settings[by.workspace] = known
    return limits_of(by, known[1])


def _report(baton: Baton, by: Principal, use: Use, size: int, limits: Limits, now: datetime) -> None:
    """Adds to the count of this minute, which all processes share. The process that finds it above the limit refuses
    the caller until the minute ends. Raises ``RateLimited``. A count that can't be written hinders nobody."""
    number = sampled(size)
    if not number:
        return
    try:
        requests, in_all = baton.store.count_use(by, minute_of(now), number, number * size)
    except Exception as exc:  # noqa: BLE001 - any error of a store; this process has its own buckets
        baton.log("use could not be counted", action="use_not_counted", error=type(exc).__name__)
        return
    if requests > limits.requests or in_all > limits.bytes:
        use.shut_until = end_of_minute(now)
        use.must_be_open(now)
