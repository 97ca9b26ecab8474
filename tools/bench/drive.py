"""Clients that do one operation after the other for some seconds, each in a thread of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from threading import Barrier, BrokenBarrierError, Thread

SECONDS = 7.0
WARM_UPS = 3  # operations of each client before it counts: every function has its workers by then
START_SECONDS = 120.0


@dataclass
class Sample:
    """One operation. ``steps``: how many seconds each part of it took."""

    begun: float = field(default_factory=time.monotonic)
    steps: dict[str, float] = field(default_factory=dict)
    ended: float = 0.0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.steps[name] = time.perf_counter() - begun


Operation = Callable[[Sample], None]


class OutOfWork(Exception):
    """A client has nothing left to do; the others go on."""


@dataclass
class Client:
    """One client in a thread of its own, until its time is over. An operation that fails ends the bench."""

    operation: Operation
    start: Barrier
    seconds: float
    samples: list[Sample] = field(default_factory=list)
    error: Exception | None = None

    def run(self) -> None:
        try:
            for _ in range(WARM_UPS):
                self.operation(Sample())
            self.start.wait(START_SECONDS)
            until = time.monotonic() + self.seconds
            while time.monotonic() < until:
                sample = Sample()
                self.operation(sample)
                sample.ended = time.monotonic()
                self.samples.append(sample)
        except OutOfWork:
            pass
        except Exception as error:  # noqa: BLE001 - raised again where it is seen, in the main thread
            self.error = error
            self.start.abort()


def driven(operations: list[Operation], seconds: float = SECONDS) -> list[Sample]:
    start = Barrier(len(operations))
    clients = [Client(operation, start, seconds) for operation in operations]
    threads = [Thread(target=each.run, daemon=True) for each in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    errors = [client.error for client in clients if client.error is not None]
    if errors:  # the others' only tell that they waited for the one that failed
        raise min(errors, key=lambda error: isinstance(error, BrokenBarrierError))
    samples = list(chain.from_iterable(client.samples for client in clients))
    if len(samples) < 2:
        raise RuntimeError("too slow to be measured: fewer than two operations in the whole time")
    return samples


def per_second(samples: list[Sample]) -> float:
    return len(samples) / (max(sample.ended for sample in samples) - min(sample.begun for sample in samples))
