"""Messages on their way: lost, late and doubled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from baton.services.runs.process_task import DispatchNotice
from simulation.habits import NoticeFate
from simulation.ports import WORKSPACE

if TYPE_CHECKING:
    from simulation.simulation import Simulation

B = TypeVar("B")
MAX_DELAY_SECONDS = 900


class _ShakyNotices(Generic[B]):
    """``waiting``: those sent while it was calm, with when they are due."""

    name = "notice"

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.waiting: list[tuple[int, B]] = []

    def due(self, now_ms: int) -> list[B]:
        """Takes them."""
        ready = [notice for at, notice in self.waiting if at <= now_ms]
        self.waiting = [each for each in self.waiting if each[0] > now_ms]
        return ready

    def _answer(self, notice: B) -> None:
        raise NotImplementedError

    def _send(self, notice: B, about: str, delay_seconds: int) -> None:
        sim = self._sim
        assert 0 <= delay_seconds <= MAX_DELAY_SECONDS
        due_ms = sim.now_ms + delay_seconds * 1000
        if sim.fault_source.is_calm:
            self.waiting.append((due_ms, notice))
            return
        sim.fault_source.call("sqs", about, may_fail=False)
        fate = self._fate()
        if fate != "kept":
            sim.fault_source.happened(f"{self.name} {fate}")
        if fate == "doubled":
            self._deliver(notice, due_ms + sim.draw(60_000))
        if fate != "lost":
            self._deliver(notice, due_ms + sim.draw(900_000 if fate == "late" else 500))

    def _fate(self) -> str:
        notices = self._habit()
        if notices is not NoticeFate.SHAKY:
            return notices
        dice = self._sim.draw(100)
        return "lost" if dice >= 90 else "late" if dice >= 75 else "doubled" if 60 <= dice < 65 else "kept"

    def _habit(self) -> NoticeFate:
        return self._sim.habits.notices

    def _deliver(self, notice: B, at_ms: int) -> None:
        self._sim.spawn(self.name, lambda: self._answer(notice), at_ms)


class ShakyQueue(_ShakyNotices[DispatchNotice]):
    """Of agents that Baton runs."""

    def notify(self, workspace: str, agent: str, task_id: str, delay_seconds: int = 0) -> None:
        assert workspace == WORKSPACE
        self._send(DispatchNotice(workspace=workspace, agent=agent, task_id=task_id), task_id, delay_seconds)

    def notify_again(self, agent: str, task_id: str) -> None:
        """A message that was delivered before comes once more, within moments."""
        notice = DispatchNotice(workspace=WORKSPACE, agent=agent, task_id=task_id)
        self._deliver(notice, self._sim.now_ms + self._sim.draw(50 * self._sim.habits.slowness))

    def _answer(self, notice: DispatchNotice) -> None:
        self._sim.lambdas.answer(notice)


class ShakyTrackerQueue(_ShakyNotices[str | None]):
    """Of the outbox to the tracker: for which task, if for one."""

    name = "tracker notice"

    def notify(self, workspace: str, task_id: str | None = None, delay_seconds: int = 0) -> None:
        assert workspace == WORKSPACE
        self._send(task_id, task_id or "", delay_seconds)

    def _answer(self, notice: str | None) -> None:
        self._sim.lambdas.sync(notice)


class ShakyLooks(_ShakyNotices[tuple[str, str, int]]):
    """Of the bell: at which task, and how often it was rung for."""

    name = "look"

    def look(self, workspace: str, task_id: str, seconds: int = 0, number: int = 1) -> None:
        if self._sim.habits.has_bell:
            self._send((workspace, task_id, number), task_id, seconds)

    def _habit(self) -> NoticeFate:
        return self._sim.habits.rings

    def _answer(self, notice: tuple[str, str, int]) -> None:
        self._sim.lambdas.look(*notice)
