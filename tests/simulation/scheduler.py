"""One thread in which many actors run in turns, by a clock that only moves when everybody waits."""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING

from greenlet import GreenletExit, getcurrent, greenlet

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.oracle.bell import Ringing
    from simulation.requests import Request

FOREVER = 10**15


class Crash(BaseException):  # not an error: the process is gone, and no handler of the product's may catch it
    """The process died here."""


class Process:
    """Something that can die: a request's function, an invocation. ``request``: whose it serves, at which ``attempt``;
    ``claim_id``: under which claim it works; ``failing``: how many of its next calls fail; ``meets_itself``: its next
    write meets an earlier one of its own that is still on its way; ``has_lost``: a write of its own met another one;
    ``container``: in which it runs; ``failing_watch``: it couldn't tell a watch of a change; ``began_at`` and
    ``began_ms``: at which step, and when; ``ringing``: what it does at the bell."""

    def __init__(self, skew_ms: int = 0, deadline_ms: int = FOREVER, request: Request | None = None) -> None:
        self.skew_ms, self.deadline_ms, self.request = skew_ms, deadline_ms, request
        self.attempt = 0
        self.is_dead = False
        self.failing = 0
        self.meets_itself = False
        self.has_lost = False
        self.claim_id: str | None = None
        self.container: int | None = None
        self.began_at = 0
        self.began_ms = 0
        self.failing_watch = False
        self.ringing: Ringing | None = None


class Actor:
    def __init__(self, name: str, process: Process) -> None:
        self.name, self.process = name, process
        self.ticket = 0
        self.greenlet: greenlet | None = None

    @property
    def is_over(self) -> bool:
        return self.greenlet is None or self.greenlet.dead


class Scheduler:
    """``raised`` hears of what an actor raised that it never may; ``steps`` are counted by whoever makes calls."""

    def __init__(self, raised: Callable[[str, BaseException], object]) -> None:
        self._raised = raised
        self._queue: list[tuple[int, int, Actor, int]] = []
        self._order = count(1)
        self._actors: list[Actor] = []
        self._hub = getcurrent()
        self._outside = Actor("outside", Process())
        self._is_dying = False
        self.current = self._outside
        self.now_ms = 0
        self.steps = 0
        self.is_stopped = False

    def spawn(self, name: str, act: Callable[[], object], process: Process, at_ms: int | None = None) -> None:
        actor = Actor(name, process)

        def run() -> None:
            try:
                act()
            except (Crash, GreenletExit):
                pass
            except BaseException as exc:  # noqa: BLE001 - the oracle judges it
                self._raised(name, exc)

        actor.greenlet = greenlet(run, self._hub)
        self._actors.append(actor)
        self._queue_up(actor, at_ms)

    def wake(self, actor: Actor, at_ms: int | None = None) -> None:
        """At that time, instead of when it wanted to be woken."""
        actor.ticket += 1
        self._queue_up(actor, at_ms)

    def park(self, at_ms: int) -> None:
        """The others' turn, until then. Raises ``Crash`` if the process has died meanwhile."""
        actor = self.current
        self.wake(actor, at_ms)
        self._hub.switch()
        if actor.process.is_dead or self._is_dying or self.now_ms > actor.process.deadline_ms:
            raise Crash

    def run(self, steps: int) -> None:
        """Until that many steps are done, or nobody has anything to do."""
        while self._queue and self.steps < steps and not self.is_stopped:
            at_ms, _, actor, ticket = heapq.heappop(self._queue)
            if ticket == actor.ticket and actor.greenlet is not None and not actor.greenlet.dead:
                self.now_ms, self.current = max(self.now_ms, at_ms), actor
                actor.greenlet.switch()
        self.current = self._outside

    def kill_all(self) -> None:
        """What was on its way is lost."""
        left, self._queue, self._is_dying = self._queue, [], True
        for _, _, actor, _ in left:
            if actor.greenlet:  # it has begun, and is not over
                self.current = actor
                actor.greenlet.throw(Crash)
        self._queue, self.current, self._is_dying = [], self._outside, False

    def let_go(self) -> None:
        """When nothing counts any more. What a crash left waiting would stay in memory, with all that it knows."""
        for actor in self._actors:
            while actor.greenlet:
                self.current = actor
                actor.greenlet.throw(GreenletExit)
        self._actors, self._queue, self.current = [], [], self._outside

    @property
    def is_dying(self) -> bool:
        return self._is_dying

    def _queue_up(self, actor: Actor, at_ms: int | None) -> None:
        heapq.heappush(self._queue, (self.now_ms if at_ms is None else at_ms, next(self._order), actor, actor.ticket))
