"""Virtual time, and what programs use of threads and clocks, in one thread: actors run in turns, by a clock that moves
only while all of them wait."""

from __future__ import annotations

import heapq
import selectors
from collections import deque
from collections.abc import Callable
from itertools import count
from types import SimpleNamespace
from typing import Any, Self

from greenlet import getcurrent, greenlet

FOREVER = float("inf")
LOOK_SECONDS = 0.25  # between two looks at real pipes


class Actor:
    def __init__(self, name: str, act: Callable[[], object], hub: greenlet) -> None:
        self.name, self.ticket = name, 0
        self.greenlet = greenlet(act, hub)

    @property
    def is_over(self) -> bool:
        return bool(self.greenlet.dead)


class Hub:
    """``raised``: what actors raised, with their names."""

    def __init__(self) -> None:
        self.now = 0.0
        self.raised: list[tuple[str, BaseException]] = []
        self._queue: list[tuple[float, int, Actor, int]] = []
        self._order, self._hub = count(), getcurrent()
        self.current: Actor | None = None

    def spawn(self, name: str, act: Callable[[], object]) -> Actor:
        def run() -> None:
            try:
                act()
            except BaseException as exc:  # noqa: BLE001 - the day reports it
                self.raised.append((name, exc))

        actor = Actor(name, run, self._hub)
        self.wake(actor)
        return actor

    def wake(self, actor: Actor, at: float | None = None) -> None:
        """Has the actor resume then, and no longer when it wanted to."""
        actor.ticket += 1
        at = self.now if at is None else at
        if at < FOREVER:
            heapq.heappush(self._queue, (at, next(self._order), actor, actor.ticket))

    def park(self, until: float) -> None:
        """Lets the others run until then, or until somebody wakes the current actor."""
        assert self.current is not None
        self.wake(self.current, until)
        self._hub.switch()

    def sleep(self, seconds: float) -> None:
        self.park(self.now + max(0.0, seconds))

    def run(self, is_over: Callable[[], bool], most: float) -> None:
        """Returns once it is over, or at the time ``most``."""
        while self._queue and not is_over() and self._queue[0][0] <= most:
            at, _, actor, ticket = heapq.heappop(self._queue)
            if ticket == actor.ticket and not actor.is_over:
                self.now, self.current = max(self.now, at), actor
                actor.greenlet.switch()
        self.current = None


class _Waited:
    """Something that actors wait for."""

    def __init__(self, hub: Hub) -> None:
        self._hub, self._waiting = hub, deque[Actor]()

    def _wait(self, until: float = FOREVER) -> bool:
        """Returns False if the time is over."""
        actor = self._hub.current
        assert actor is not None
        self._waiting.append(actor)
        self._hub.park(until)
        if actor in self._waiting:
            self._waiting.remove(actor)
            return False
        return True

    def _wake(self, most: int | None = None) -> None:
        while self._waiting and most != 0:
            self._hub.wake(self._waiting.popleft())
            most = None if most is None else most - 1


class Lock(_Waited):
    _places = 1

    def acquire(self) -> bool:
        while not self._places:
            self._wait()
        self._places -= 1
        return True

    def release(self) -> None:
        self._places += 1
        self._wake(1)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class Semaphore(Lock):
    def __init__(self, hub: Hub, places: int) -> None:
        super().__init__(hub)
        self._places = places


class Condition(_Waited):
    """No turn ends within it but by a wait, so it needs no lock."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def wait(self, timeout: float | None = None) -> bool:
        return self._wait(FOREVER if timeout is None else self._hub.now + timeout)

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None = None) -> bool:
        until = FOREVER if timeout is None else self._hub.now + timeout
        while not predicate():
            if not self._wait(until):
                return predicate()
        return True

    def notify(self, most: int = 1) -> None:
        self._wake(most)

    def notify_all(self) -> None:
        self._wake()


class Event(_Waited):
    _is_set = False

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        self._wake()

    def wait(self, timeout: float | None = None) -> bool:
        return self._is_set or self._wait(FOREVER if timeout is None else self._hub.now + timeout)


class Thread:
    def __init__(
        self, hub: Hub, target: Callable[..., object], args: tuple[Any, ...] = (), name: str = "", **_: object
    ) -> None:
        self._hub, self._act, self._name, self._over = hub, lambda: target(*args), name, Event(hub)

    def start(self) -> None:
        self._hub.spawn(self._name, self._run)

    def join(self) -> None:
        self._over.wait()

    def _run(self) -> None:
        try:
            self._act()  # type: ignore[no-untyped-call]
        finally:
            self._over.set()


class Selector(selectors.DefaultSelector):
    """Real pipes, in virtual time."""

    def __init__(self, hub: Hub) -> None:
        super().__init__()
        self._hub = hub

    def select(self, timeout: float | None = None) -> Any:
        until = FOREVER if timeout is None else self._hub.now + max(0.0, timeout)
        while not (ready := super().select(0)) and self._hub.now < until:
            self._hub.park(min(until, self._hub.now + LOOK_SECONDS))
        return ready


def clocks(hub: Hub) -> SimpleNamespace:
    """The standard library's ``time``, as the programs use it."""
    return SimpleNamespace(
        CLOCK_BOOTTIME=7,
        CLOCK_MONOTONIC=1,
        clock_gettime=lambda _clock: hub.now,
        monotonic=lambda: hub.now,
        sleep=hub.sleep,
    )
