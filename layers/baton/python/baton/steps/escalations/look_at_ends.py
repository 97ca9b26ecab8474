"""A direction doesn't learn of its tasks' ends. Whoever decides on it looks at the tasks themselves."""

from __future__ import annotations

from datetime import datetime

from baton.domain.escalations.direction import Direction
from baton.domain.settings.settings import Settings
from baton.ports.deps import Deps


def with_ends(deps: Deps, direction: Direction, settings: Settings, now: datetime) -> Direction:
    """Returns the direction with the ends of its window's tasks; no read if it knows of all. The tasks are read after
    the direction. Breaker and cap stay exact: an end is final, and a new escalation requires the direction's version.
    If a task ends after this read, the escalation may be refused although the direction is free by then; so it would
    be if the task ended after the answer."""
    in_question = direction.in_question(now, settings)
    if not in_question:
        return direction
    tasks = deps.store.tasks.many(direction.workspace, in_question)
    return direction.with_closed({task.id for task in tasks.values() if task.is_ended})
