"""The bell's connections, as API Gateway and their clients see them: rings get lost, doubled, late and out of order,
and a connection may be dead without anybody knowing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from baton.ports.bell import Heard
from simulation.habits import NoticeFate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulation.scheduler import Actor
    from simulation.simulation import Simulation

LATE_MS = 60_000


@dataclass(eq=False)
class Line:
    """A connection. ``is_open``: its handshake was answered, and the gateway holds it; ``is_dead``: its client is gone,
    and the gateway doesn't know."""

    id: str
    topic: str
    token_id: str
    is_open: bool = False
    is_dead: bool = False
    heard: list[Mapping[str, Any]] = field(default_factory=list)
    waiter: Actor | None = None


class SimulatedConnections:
    """``lines``: all that there ever were, by their ids."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.lines: dict[str, Line] = {}

    def line(self, topic: str, token_id: str) -> Line:
        """A new connection that isn't open yet."""
        line = Line(f"conn{len(self.lines) + 1:04d}=", topic, token_id)
        self.lines[line.id] = line
        return line

    def send(self, connection_id: str, message: Mapping[str, Any]) -> Heard:
        self._sim.fault_source.call("post", connection_id, may_fail=False)
        line = self.lines[connection_id]
        self._sim.oracle.bell.is_sent(line, message)
        heard = self._heard(line, message)
        self._sim.oracle.bell.is_heard(line, message, heard)
        return heard

    def close(self, connection_id: str) -> None:
        self._sim.fault_source.call("close", connection_id, may_fail=False)
        self.end(self.lines[connection_id])

    def end(self, line: Line) -> None:
        line.is_open = False
        self._wake(line)

    def wait(self, line: Line, until_ms: int) -> Mapping[str, Any] | None:
        """Returns the next message that its client hears until then; None if there is none, or the connection is
        over."""
        sim = self._sim
        while not line.heard and line.is_open and sim.now_ms < until_ms:
            line.waiter = sim.current
            try:
                sim.scheduler.park(until_ms)
            finally:
                line.waiter = None
        return line.heard.pop(0) if line.heard else None

    def _heard(self, line: Line, message: Mapping[str, Any]) -> Heard:
        sim = self._sim
        if not line.is_open:
            return Heard.GONE
        if line.is_dead:
            line.is_open = sim.draw(3) < 2
            return sim.pick([Heard.YES, Heard.UNKNOWN]) if line.is_open else Heard.GONE
        fate = self._fate() if "ring" in message else "kept"
        if fate != "kept":
            sim.fault_source.happened(f"ring {fate}")
        if fate == "doubled":
            self._deliver(line, message, sim.draw(LATE_MS))
        if fate not in ("lost", "unclear"):
            self._deliver(line, message, sim.draw(LATE_MS if fate == "late" else 200))
        return Heard.UNKNOWN if fate in ("unclear", "doubted") else Heard.YES

    def _fate(self) -> str:
        """``unclear``: nobody knows whether it came, and it didn't; ``doubted``: it did."""
        if self._sim.habits.rings is not NoticeFate.SHAKY or self._sim.fault_source.is_calm:
            return "lost" if self._sim.habits.rings is NoticeFate.LOST else "kept"
        fates = ("late", "late", "doubled", "lost", "lost", "unclear", "doubted")
        dice = self._sim.draw(20)
        return fates[dice - 13] if dice >= 13 else "kept"

    def _deliver(self, line: Line, message: Mapping[str, Any], after_ms: int) -> None:
        def arrive() -> None:
            if line.is_open and not line.is_dead:
                line.heard.append(message)
                self._wake(line)

        if self._sim.fault_source.is_calm:
            arrive()
        else:
            self._sim.spawn("ring comes", arrive, self._sim.now_ms + after_ms)

    def _wake(self, line: Line) -> None:
        if line.waiter is not None and not line.waiter.is_over and line.waiter is not self._sim.current:
            self._sim.scheduler.wake(line.waiter)
