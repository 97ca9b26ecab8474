"""When the system must look at a task again (docs/spec/lifecycle.md §9)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from baton.domain.agent import Runtime
from baton.domain.task import NEXT_STALE_AFTER, Flag, State, Task
from baton.domain.times import seconds

if TYPE_CHECKING:
    from datetime import datetime, timedelta

FIRST_RING_SECONDS = 60
LAST_RING_SECONDS = 3_600
# SQS delays a message by no more.
MAX_BELL_DELAY_SECONDS = 900


def ring_interval(rings: int) -> timedelta:
    """60 s after the first bell, doubling with each further one up to an hour."""
    return seconds(min(FIRST_RING_SECONDS * 2 ** min(rings, 16), LAST_RING_SECONDS))


def bell_delay(due_at: datetime, now: datetime) -> int:
    """Whole seconds, rounded up: a bell that comes a moment too early finds nothing to do. At most what a queue can
    delay; the sweeper rings for what is due later."""
    return min(max(0, math.ceil((due_at - now).total_seconds())), MAX_BELL_DELAY_SECONDS)


def next_look(task: Task, now: datetime) -> datetime | None:
    """The earliest moment at which something may be due, or None when only somebody's action can move the task."""
    moments = [_of_state(task, now)] if not task.is_ended else []
    if not task.is_ended and Flag.DEADLINE_PASSED not in task.flags:
        moments.append(task.deadline)
    return min((moment for moment in moments if moment is not None), default=None)


def unclaimed_since(task: Task) -> datetime | None:
    """When work that nobody has taken became too old to stay silent about."""
    return None if task.ready_at is None else task.ready_at + seconds(task.alert_after_seconds)


def _of_state(task: Task, now: datetime) -> datetime | None:
    if task.claim is not None:
        return task.claim.expires_at
    if task.wait is not None:
        alert_at = None if Flag.WAITING in task.flags else task.wait.alert_at
        return min((at for at in (alert_at, task.wait.until) if at is not None), default=None)
    if task.parked:
        return task.hidden_until
    if task.ready_at is None:
        return None
    if task.state is State.NEXT:
        return None if Flag.NEXT_STALE in task.flags else task.ready_at + NEXT_STALE_AFTER
    if task.state is not State.DELEGATED:
        return None
    alert = None if Flag.UNCLAIMED in task.flags else unclaimed_since(task)
    if task.runtime is Runtime.PULL:
        return alert
    ring = max(now, task.ready_at) + ring_interval(task.rings)
    return ring if alert is None else min(ring, alert)
