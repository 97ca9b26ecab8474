"""Threads that begin each step at the same moment. A race is proven by counting its winners."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import Barrier, Thread
from typing import TypeVar

from support.clock import NOON

Result = TypeVar("Result")
# Shorter ones take twice the time and find no more double winners (test_races.py: 64 runners, or two).
SWITCH_INTERVAL_SECONDS = 1e-4


class StillClock:
    """A clock for threads: time stands still, and a pause takes none."""

    def __init__(self, at: datetime = NOON) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        """No time passes."""


def at_once(size: int, step: Callable[[], Result]) -> list[Result | Exception]:
    """Returns what each of ``size`` threads answered or raised that took the same step at once."""
    return all_at_once([step] * size)


def all_at_once(steps: Sequence[Callable[[], Result]]) -> list[Result | Exception]:
    """Returns what each step answered or raised, each in a thread of its own, all at once."""
    (answers,) = race(len(steps), 1, lambda _number, runner: steps[runner]())
    return answers


@contextmanager
def eager_switching() -> Iterator[None]:
    """Within it Python switches threads every 100 µs. At its usual pace threads hardly race."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def race(size: int, rounds: int, step: Callable[[int, int], Result]) -> list[list[Result | Exception]]:
    """All ``size`` runners take ``step(round, runner)`` at once, round after round. Returns what each answered or
    raised, by rounds."""
    answers: list[list[Result | Exception]] = [[] for _ in range(rounds)]
    start = Barrier(size)

    def run(runner: int) -> None:
        for number in range(rounds):
            start.wait(timeout=60)
            try:
                answer: Result | Exception = step(number, runner)
            except Exception as exc:  # noqa: BLE001 - what a runner meets is its answer
                answer = exc
            answers[number].append(answer)

    with eager_switching():
        crew = [Thread(target=run, args=(runner,)) for runner in range(size)]
        for member in crew:
            member.start()
        for member in crew:
            member.join()
    assert all(len(each) == size for each in answers)
    return answers
