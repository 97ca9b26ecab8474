"""Long polling."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from baton.domain.times import seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from baton.ports import Clock

POLL_SECONDS = 0.5

Value = TypeVar("Value")


def polled(
    clock: Clock, timeout_seconds: float, value: Value, again: Callable[[], Value], is_enough: Callable[[Value], bool]
) -> Value:
    """``value`` at once if it is enough, else the first of ``again``'s that is, or the last one when time is up."""
    if is_enough(value):
        return value
    for _ in polls(clock, timeout_seconds):
        value = again()
        if is_enough(value):
            break
    return value


def polls(clock: Clock, timeout_seconds: float) -> Iterator[None]:
    """Yields every half second, and once more at the end of ``timeout_seconds``."""
    deadline = clock.now() + seconds(timeout_seconds)
    # Counted as well as timed: a clock that is set back must not make a function wait until it is killed.
    for _ in range(int(timeout_seconds / POLL_SECONDS) + 1):
        left = (deadline - clock.now()).total_seconds()
        if left <= 0:
            return
        clock.sleep(min(POLL_SECONDS, left))
        yield
