"""Worker threads, for work that mostly waits for the network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

Thing = TypeVar("Thing")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class WorkerThreads:
    """``at_once``: fewer than the connections that a client keeps, which are ten."""

    at_once: int

    def __call__(self, things: Iterable[Thing], work: Callable[[Thing], Result]) -> list[Result]:
        shared = _OneAtATime(iter(things))
        with ThreadPoolExecutor(self.at_once) as threads:
            running = [threads.submit(lambda: [work(thing) for thing in shared]) for _ in range(self.at_once)]
            return [result for each in running for result in each.result()]


class _OneAtATime(Iterator[Thing]):
    """An iterator that several threads take from: a generator by itself refuses that."""

    def __init__(self, things: Iterator[Thing]) -> None:
        self._things, self._turn = things, Lock()

    def __next__(self) -> Thing:
        with self._turn:
            return next(self._things)
