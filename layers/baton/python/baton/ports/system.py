"""What the process itself has: time, ids, a secret."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Protocol, TypeVar

Thing = TypeVar("Thing")
Result = TypeVar("Result")


class Clock(Protocol):
    def now(self) -> datetime:
        """Returns the time: aware, UTC, whole milliseconds. May be wrong by minutes: versions and fences decide, not
        clocks."""

    def sleep(self, seconds: float) -> None:
        """Only for jittered retries and long polls."""


class Workers(Protocol):
    """Does the same work with many things: in turn, or several at once."""

    def __call__(self, things: Iterable[Thing], work: Callable[[Thing], Result]) -> list[Result]:
        """Calls ``work`` with each thing, and returns the results in any order. A thing is taken when a worker is free.
        Raises what ``things`` or ``work`` raise."""


def in_turn(things: Iterable[Thing], work: Callable[[Thing], Result]) -> list[Result]:
    """The ``Workers`` that do one thing after the other, in this thread."""
    return [work(thing) for thing in things]


class Ids(Protocol):
    def new(self, prefix: str, at: datetime) -> str:
        """Returns a new sortable id (``deps.domain.ids``)."""

    def secret(self) -> str:
        """Returns 64 hexadecimal characters from the operating system's random source."""


class CallbackKey(Protocol):
    def get(self) -> bytes:
        """Returns the deployment's secret, from which the addresses of callbacks are derived. Raises ``Busy``."""
