"""Virtual time for real programs: their threads take turns, and a pause takes no time.

One thread runs at a time. If each thread waits, the clock moves to the earliest end of a wait. So a program of threads,
or an event loop, runs the same way each time, without the machine's clock."""

from __future__ import annotations

import asyncio
import selectors
import threading
import time
from _thread import allocate_lock
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

_current = threading.local()
_wait, _start, _join = threading.Condition.wait, threading.Thread.start, threading.Thread.join
NEVER = float("inf")


class Over(BaseException):
    """Ends a thread that still waits when the time is over."""


class Stuck(Exception):
    """Every thread waits for another one, without an end."""


@dataclass(eq=False)
class _Actor:
    """A thread. ``gate``: is open while it runs. ``turn``: its number in the order of equal waits."""

    name: str
    gate: Any = field(default_factory=allocate_lock)
    wake_at: float = NEVER
    turn: int = 0
    thread: threading.Thread | None = None
    joining: list[_Waiter] = field(default_factory=list)
    is_over: bool = False

    def __post_init__(self) -> None:
        self.gate.acquire()


class _Waiter:
    """One wait of a thread, in the form of the locks of ``threading.Condition``."""

    def __init__(self, time: VirtualTime, actor: _Actor) -> None:
        self.time, self.actor, self.is_woken = time, actor, False

    def release(self) -> None:
        if not self.is_woken:
            self.is_woken = True
            self.time.ready.append(self.actor)


class VirtualTime:
    """``seconds``: since the beginning."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.ready: deque[_Actor] = deque()
        self._waiting: list[_Actor] = []
        self._actors: list[_Actor] = []
        self._turns, self._is_over = 0, False
        self.failure: BaseException | None = None

    def now(self) -> float:
        return 1_000.0 + self.seconds

    def sleep(self, seconds: float) -> None:
        self.block(_Waiter(self, self.actor), max(0.0, seconds))

    @property
    def actor(self) -> _Actor:
        found: _Actor = _current.actor
        return found

    def block(self, waiter: _Waiter, seconds: float | None) -> bool:
        """Waits until the waiter is released, or for so many seconds. Returns True if it was released."""
        if self._is_over:
            raise Over
        if waiter.is_woken:
            self.ready.remove(waiter.actor)
            return True
        me = waiter.actor
        self._turns += 1
        me.wake_at, me.turn = NEVER if seconds is None else self.seconds + seconds, self._turns
        self._waiting.append(me)
        self._pass_on(me)
        return waiter.is_woken

    def _next(self) -> _Actor:
        if self.ready:
            following = self.ready.popleft()
        else:
            following = min(self._waiting, key=lambda each: (each.wake_at, each.turn))
            if following.wake_at == NEVER:
                raise Stuck(", ".join(each.name for each in self._waiting))
            self.seconds = max(self.seconds, following.wake_at)
        if following in self._waiting:
            self._waiting.remove(following)
        return following

    def _pass_on(self, me: _Actor) -> None:
        following = self._next()
        if following is me:
            return
        following.gate.release()
        me.gate.acquire()
        if self._is_over:
            raise Over

    def started(self, thread: threading.Thread) -> None:
        """Starts a thread, which runs when it is its turn."""
        actor, run = _Actor(thread.name, thread=thread), thread.run
        self._actors.append(actor)
        self.ready.append(actor)

        def in_turn() -> None:
            _current.actor = actor
            actor.gate.acquire()
            try:
                if not self._is_over:
                    run()
            except Over:
                pass
            finally:
                self._ended(actor)

        thread.run = in_turn  # type: ignore[method-assign]
        with self.apart():
            _start(thread)

    def _ended(self, actor: _Actor) -> None:
        actor.is_over = True
        if self._is_over:
            return
        for each in actor.joining:
            each.release()
        self._next().gate.release()

    def joined(self, thread: threading.Thread, seconds: float | None) -> None:
        actor = next((each for each in self._actors if each.thread is thread), None)
        if actor is None or actor.is_over:
            return
        waiter = _Waiter(self, self.actor)
        actor.joining.append(waiter)
        self.block(waiter, seconds)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Within it, this thread waits in real time, as the server's code does."""
        actor, _current.actor = _current.actor, None
        try:
            yield
        finally:
            _current.actor = actor

    @contextmanager
    def running(self, patch: pytest.MonkeyPatch) -> Iterator[None]:
        """Within it, this thread and those that it starts are in this time."""
        _current.actor = _Actor("main")
        patch.setattr(threading.Condition, "wait", _waited(self))
        patch.setattr(threading.Thread, "start", _started(self))
        patch.setattr(threading.Thread, "join", _joined(self))
        patch.setattr(threading, "_time", self.now)
        patch.setattr(time, "monotonic", self.now)
        patch.setattr(time, "sleep", self.sleep)
        patch.setattr(time, "clock_gettime", lambda _clock: self.now())
        try:
            yield
        finally:
            self._is_over, _current.actor = True, None
            for each in self._actors:
                if not each.is_over:
                    each.gate.release()
            for each in self._actors:
                if each.thread is not None:
                    _join(each.thread, 10)
                    assert not each.thread.is_alive(), each.name

    def loop(self) -> asyncio.AbstractEventLoop:
        return VirtualLoop(self)


def _acting() -> _Actor | None:
    return getattr(_current, "actor", None)


def _waited(time: VirtualTime) -> Callable[..., bool]:
    def wait(self: Any, timeout: float | None = None) -> bool:
        actor = _acting()
        if actor is None:
            return _wait(self, timeout)
        waiter = _Waiter(time, actor)
        self._waiters.append(waiter)
        state = self._release_save()
        try:
            is_woken = time.block(waiter, timeout)
        finally:
            self._acquire_restore(state)
            if not waiter.is_woken and waiter in self._waiters:
                self._waiters.remove(waiter)
        return is_woken

    return wait


def _started(time: VirtualTime) -> Callable[..., None]:
    def start(self: threading.Thread) -> None:
        _start(self) if _acting() is None else time.started(self)

    return start


def _joined(time: VirtualTime) -> Callable[..., None]:
    def join(self: threading.Thread, timeout: float | None = None) -> None:
        _join(self, timeout) if _acting() is None else time.joined(self, timeout)

    return join


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time."""

    def __init__(self, time: VirtualTime) -> None:
        self._time = time
        self._waiter: _Waiter | None = None
        super().__init__(_Selector(self))

    def time(self) -> float:
        return self._time.now()

    def _write_to_self(self) -> None:
        if self._waiter is not None:
            self._waiter.release()
        super()._write_to_self()  # type: ignore[misc]

    def wait(self, seconds: float | None) -> None:
        self._waiter = _Waiter(self._time, self._time.actor)
        self._time.block(self._waiter, seconds)


class _Selector(selectors.BaseSelector):
    """Waits in virtual time. Nothing but the loop's own pipe is read."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop, self._real = loop, selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> Any:
        found = self._real.select(0)
        if found or (timeout is not None and timeout <= 0):
            return found
        self._loop.wait(timeout)
        return self._real.select(0)

    def register(self, fileobj: Any, events: int, data: Any = None) -> Any:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> Any:
        return self._real.unregister(fileobj)

    def get_map(self) -> Mapping[Any, Any]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()
