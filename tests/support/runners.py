"""Runners that do as they are told, for process-task."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

from baton.run_ports import Done, NotDone, Work


class Recorder:
    """Remembers what it was given; answers with ``answer``, or with what that makes of the work."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = Done({"ok": True}) if answer is None else answer
        self.works: list[Work] = []

    @property
    def ran(self) -> list[str]:
        return [work.dossier.task.id for work in self.works]

    def run(self, work: Work) -> Done | NotDone:
        self.works.append(work)
        answer: Done | NotDone = self.answer(work) if callable(self.answer) else self.answer
        return answer


class Patient:
    """Works until ``finish`` is set. ``waiting`` is set once it has begun."""

    def __init__(self) -> None:
        self.waiting, self.finish = Event(), Event()

    def run(self, work: Work) -> Done | NotDone:
        self.waiting.set()
        assert self.finish.wait(timeout=30), "nobody let the runner finish"
        return Done({"waited": True})


def raising(error: BaseException) -> Callable[[Work], Done]:
    def run(work: Work) -> Done:
        raise error

    return run
