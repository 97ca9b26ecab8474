"""The rate limit: a caller above its workspace's limits is refused before its request is looked at
(docs/decisions/022-what-one-caller-may-cost.md, 111-the-bell-counts-every-poll.md)."""

from __future__ import annotations

from datetime import datetime

from baton.domain.access.metering import (
    BELL_PAUSE,
    BELL_POLLS_PER_MINUTE,
    LEAST,
    SETTINGS_ARE_GOOD_FOR,
    BellUse,
    end_of_minute,
    limits_of,
    minute_of,
    sampled,
)
from baton.domain.access.principal import Principal
from baton.domain.settings.settings import Settings
from baton.ports.deps import Deps


def caller_must_have_room(deps: Deps, by: Principal, size: int) -> None:
    """Counts one more request that sends ``size`` bytes to be stored. Raises ``RateLimited``, which costs nothing. A
    caller with few requests to this process costs no read and no write; else it is one read a minute, and one write for
    each twentieth request or each 64 KB."""
    now = deps.clock.now()
    use = deps.meter.use_of(by, now)
    use.must_be_open(now)
    use.drain(now, LEAST if use.is_least(0) else limits_of(by, _settings(deps, by, now)))
    if use.is_least(size):
        use.count(size)
        return
    limits = limits_of(by, _settings(deps, by, now))
    use.take(size, limits)
    counted = _counted(deps, by, size, now)
    if counted is not None and (counted[0] > limits.requests or counted[1] > limits.bytes):
        use.shut_until = end_of_minute(now)
        use.must_be_open(now)


def bell_must_have_room(deps: Deps, by: Principal, connection_id: str) -> None:
    """Counts an opening or a poll of a connection to the bell as a request of its caller. All processes share this
    count, and it is exact: one write each. Raises ``RateLimited``

    - if the connection exceeds its rate, which also pauses the token: two writes more;
    - while the token is paused;
    - if the caller exceeds its limits. At the bell a person has the limit of an agent.
    """
    now = deps.clock.now()
    deps.meter.bell_must_be_open(by, now)
    use, settings = deps.meter.use_of(by, now), _settings(deps, by, now)
    limits = limits_of(by, settings)
    use.must_be_open(now)
    use.drain(now, limits)
    use.take(0, limits)
    counted = _counted_at_bell(deps, by, connection_id, now)
    if counted.connection > BELL_POLLS_PER_MINUTE:
        deps.store.uses.pause_bell(by, minute_of(now), now + BELL_PAUSE)
        deps.meter.pause(by, now + BELL_PAUSE)
    elif counted.paused_until is not None:
        deps.meter.pause(by, counted.paused_until)
    elif counted.bell > settings.requests_per_minute:
        deps.meter.pause(by, end_of_minute(now))
    elif counted.requests > limits.requests:
        use.shut_until = end_of_minute(now)
        use.must_be_open(now)
    deps.meter.bell_must_be_open(by, now)


def _counted_at_bell(deps: Deps, by: Principal, connection_id: str, now: datetime) -> BellUse:
    """Returns no use if it can't be counted: that stops no caller."""
    try:
        return deps.store.uses.count_bell_use(by, minute_of(now), connection_id)
    except Exception as exc:  # noqa: BLE001 - any error of a store; this process has its own buckets
        deps.log("use could not be counted", action="use_not_counted", error=type(exc).__name__)
        return BellUse(0, 0, 0, None)


def _settings(deps: Deps, by: Principal, now: datetime) -> Settings:
    """The workspace's settings, at most a minute old."""
    known = deps.meter.settings.get(by.workspace)
    if known is None or not now - SETTINGS_ARE_GOOD_FOR < known[0] <= now:
        known = now, deps.store.settings.of(by.workspace)
        deps.meter.settings[by.workspace] = known
    return known[1]


def _counted(deps: Deps, by: Principal, size: int, now: datetime) -> tuple[int, int] | None:
    """Adds to the count of this minute, which all processes share: the process that finds it above the limit refuses
    the caller until the minute ends. Returns the minute's requests and bytes; None if this request is no sample. A
    count that can't be written hinders nobody."""
    number = sampled(size)
    if not number:
        return None
    try:
        requests, in_all = deps.store.uses.count_use(by, minute_of(now), number, number * size)
    except Exception as exc:  # noqa: BLE001 - any error of a store; this process has its own buckets
        deps.log("use could not be counted", action="use_not_counted", error=type(exc).__name__)
        return None
    return requests, in_all
