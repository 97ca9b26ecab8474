"""What the product's process-task starts a thread with, as an actor of the simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.scheduler import Actor
    from simulation.simulation import Simulation


class ActorThread:
    """Of the process that starts it; at once where it is calm."""

    def __init__(self, sim: Simulation, target: Callable[[], object]) -> None:
        self._sim, self._target = sim, target

    def start(self) -> None:
        if self._sim.fault_source.is_calm:
            self._target()
        else:
            self._sim.spawn("runner", self._target, process=self._sim.current.process)


class ActorFuture:
    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._done: tuple[Any, BaseException | None] | None = None
        self._waiter: Actor | None = None

    def set_result(self, value: Any) -> None:
        self._set(value, None)

    def set_exception(self, exc: BaseException) -> None:
        self._set(None, exc)

    def result(self, timeout: float) -> Any:
        until_ms = self._sim.now_ms + int(timeout * 1000)
        while self._done is None:
            if self._sim.now_ms >= until_ms:
                raise TimeoutError
            self._waiter = self._sim.current
            self._sim.scheduler.park(until_ms)
        self._waiter = None
        value, exc = self._done
        if exc:
            raise exc
        return value

    def _set(self, value: Any, exc: BaseException | None) -> None:
        self._done = (value, exc)
        if self._waiter is not None and not self._waiter.is_over and self._waiter is not self._sim.current:
            self._sim.scheduler.wake(self._waiter)
