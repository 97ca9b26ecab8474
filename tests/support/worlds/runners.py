"""Runners for process-task that do as a test says."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

from baton.ports.runs import RunFailed, RunInput, RunSucceeded


class Recorder:
    """Keeps the work that it was given. ``answer``: its result, or a function of the work."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = RunSucceeded({"ok": True}) if answer is None else answer
        self.works: list[RunInput] = []

    @property
    def ran(self) -> list[str]:
        return [work.details.task.id for work in self.works]

    def run(self, work: RunInput) -> RunSucceeded | RunFailed:
        self.works.append(work)
        answer: RunSucceeded | RunFailed = self.answer(work) if callable(self.answer) else self.answer
        return answer


class Patient:
    """Works until ``finish`` is set. ``waiting`` is set once it has begun."""

    def __init__(self) -> None:
        self.waiting, self.finish = Event(), Event()

    def run(self, work: RunInput) -> RunSucceeded | RunFailed:
        self.waiting.set()
        assert self.finish.wait(timeout=30), "nobody let the runner finish"
        return RunSucceeded({"waited": True})


def raising(error: BaseException) -> Callable[[RunInput], RunSucceeded]:
    def run(work: RunInput) -> RunSucceeded:
        raise error

    return run
