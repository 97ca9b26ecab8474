"""Long polling. A poll waits under a permit: each principal has a few, counted in the store, as one process answers one
request at a time and doesn't know the others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from baton.domain import times
from baton.domain.access.principal import Principal
from baton.ports.deps import Deps
from baton.ports.system import Clock

POLL_SECONDS = 0.5
# A poll answers this long after its wait at the latest; then its permit is free, even if the poll died.
PERMIT_MARGIN_SECONDS = 5

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Poll(Generic[Value]):
    """What is looked at again and again, and until when."""

    again: Callable[[], Value]
    is_enough: Callable[[Value], bool]
    timeout_seconds: float
    jittered: bool = False


def poll_until(deps: Deps, by: Principal, value: Value, poll: Poll[Value]) -> Value:
    """Returns ``value`` at once if it is enough, else the first value of ``poll`` that is, or the last one when time
    is up. Waiting takes one of the permits of ``by``. Raises ``TooManyPolls``."""
    if poll.is_enough(value) or poll.timeout_seconds <= 0:
        return value
    with _permit(deps, by, poll.timeout_seconds):
        for _ in polls(deps.clock, poll.timeout_seconds, jittered=poll.jittered):
            value = poll.again()
            if poll.is_enough(value):
                break
    return value


def polls(clock: Clock, timeout_seconds: float, *, jittered: bool = False) -> Iterator[None]:
    """Yields every half second, and once more at the end of ``timeout_seconds``. ``jittered``: every first of two
    pauses has a random length, the second makes up for it."""
    deadline = clock.now() + times.seconds(timeout_seconds)
    offset = 0.0
    # Counted as well as timed: a clock that is set back must not make a function wait until it is killed.
    for number in range(int(timeout_seconds / POLL_SECONDS) + 1):
        seconds_left = (deadline - clock.now()).total_seconds()
        if seconds_left <= 0:
            return
        if jittered:
            offset = -offset if number % 2 else random.uniform(-0.5, 0.5) * POLL_SECONDS  # noqa: S311 - no secret
        clock.sleep(min(round(POLL_SECONDS + offset, 3), seconds_left))
        yield


@contextmanager
def _permit(deps: Deps, by: Principal, timeout_seconds: float) -> Iterator[None]:
    now = deps.clock.now()
    until = now + times.seconds(timeout_seconds + PERMIT_MARGIN_SECONDS)
    permit = deps.store.begin_poll(by, deps.ids.new("poll", now), now, until)
    try:
        yield
    finally:
        try:
            deps.store.end_poll(permit)
        except Exception as exc:  # noqa: BLE001 - any error of a store; the result of the poll stands
            deps.log("permit could not be freed", action="permit_not_given_back", error=type(exc).__name__)
