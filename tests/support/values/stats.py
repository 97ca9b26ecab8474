"""Counts and decisions as the stream makes them."""

from __future__ import annotations

from typing import Any

from baton.domain.stats.day_counts import DayCounts, DayPlace, EndFigures
from baton.domain.stats.decision import Decision
from baton.domain.task_state import State
from support.clock import NOON
from support.worlds.world import WORKSPACE


def an_end(number: int = 1, **values: Any) -> EndFigures:
    seconds = {"person": 100.0, "worker": 5.0, "work": 60.0}
    usual = {"task_id": f"task_{number:026d}", "ended_at": NOON, "outcome": State.DONE, "seconds": seconds}
    return EndFigures(**{**usual, **values})


def no_counts(workspace: str = WORKSPACE, source: str = "scout", target: str = "auditor") -> DayCounts:
    return DayCounts(place=DayPlace(workspace, NOON.date(), source, target))


def some_counts(workspace: str = WORKSPACE) -> DayCounts:
    return no_counts(workspace).with_ended([an_end(), an_end(2, outcome=State.FAILED)])


def a_decision(workspace: str = WORKSPACE, **values: Any) -> Decision:
    usual = {
        "workspace": workspace,
        "at": NOON,
        "about": "task_1",
        "seq": 2,
        "by": "alice",
        "verb": "approve",
        "detail": None,
        "reason": None,
        "title": "Look into it",
        "source_agent": "scout",
        "target_agent": "auditor",
        "priority": "P1",
    }
    return Decision(**{**usual, **values})
