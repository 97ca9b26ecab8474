"""Long polling. A poll waits under a permit: each principal has a few, counted in the store, as one process answers one
request at a time and doesn't know the others. So are all polls of a function with a reserve: they end the sooner, the
more they are, and take turns."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
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
    pause_seconds: float = POLL_SECONDS
    jitter: float = 0.0  # the largest part of its length by which a pause is shorter or longer
    known_moment: Callable[[], datetime | None] = lambda: None  # when something is going to happen, as far as is known


def poll_until(deps: Deps, by: Principal, value: Value, poll: Poll[Value]) -> Value:
    """Returns ``value`` at once if it is enough, else the first value of ``poll`` that is, or the last one when time
    is up: sooner than asked where many wait. Waiting takes one of the permits of ``by``, and a place in the function.
    Raises ``TooManyPolls``."""
    if poll.is_enough(value) or poll.timeout_seconds <= 0:
        return value
    with _permit(deps, by, poll.timeout_seconds), _place(deps, poll.timeout_seconds) as seconds:
        for _ in polls(deps.clock, replace(poll, timeout_seconds=seconds)):
            deps.store.read_anew()
            value = poll.again()
            if poll.is_enough(value):
                break
        deps.store.read_anew()
    return value


def polls(clock: Clock, poll: Poll[Value]) -> Iterator[None]:
    """Yields after each pause, at a known moment within a pause, and once more at the end of the poll's time. With
    ``jitter``, every first of two pauses has a random length, and the second makes up for it."""
    deadline, pause_seconds, jitter = clock.now() + times.seconds(poll.timeout_seconds), poll.pause_seconds, poll.jitter
    offset = 0.0
    # Counted as well as timed: a clock that is set back must not make a function wait until it is killed.
    # The last of an odd number of pauses may be a short one, and one more follows.
    for number in range(int(poll.timeout_seconds / pause_seconds) + (2 if jitter else 1)):
        seconds_left = (deadline - clock.now()).total_seconds()
        if seconds_left <= 0:
            return
        if jitter:
            offset = -offset if number % 2 else random.uniform(-jitter, jitter) * pause_seconds  # noqa: S311 - no secret
        pause = min(round(pause_seconds + offset, 3), seconds_left)
        moment = poll.known_moment()
        first = 0.0 if moment is None else (moment - clock.now()).total_seconds()
        if 0 < first < pause:
            clock.sleep(first)
            yield
            pause -= first
        clock.sleep(round(pause, 3))
        yield


@contextmanager
def _permit(deps: Deps, by: Principal, timeout_seconds: float) -> Iterator[None]:
    now = deps.clock.now()
    until = now + times.seconds(timeout_seconds + PERMIT_MARGIN_SECONDS)
    most = deps.store.settings.of(by.workspace).polls_at_once
    permit = deps.store.uses.begin_poll(by, most, deps.ids.new("poll", now), now, until)
    try:
        yield
    finally:
        with _logged(deps, "permit_not_given_back"):
            deps.store.uses.end_poll(permit)


@contextmanager
def _place(deps: Deps, asked_seconds: float) -> Iterator[float]:
    """Yields how long the poll waits. Without a reserve nothing is counted."""
    room, now = deps.room, deps.clock.now()
    if not room.reserve:
        yield asked_seconds
        return
    waiting = deps.store.uses.enter_room(room.function, now)
    try:
        yield room.seconds(waiting, asked_seconds)
    finally:
        with _logged(deps, "place_not_given_back"):
            deps.store.uses.leave_room(room.function, now)


@contextmanager
def _logged(deps: Deps, action: str) -> Iterator[None]:
    try:
        yield
    except Exception as exc:  # noqa: BLE001 - any error of a store; the result of the poll stands
        deps.log("the end of a poll could not be noted", action=action, error=type(exc).__name__)
