"""When the sweeper has to read a task again (docs/spec/lifecycle.md §9)."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from baton.domain import times
from baton.domain.agents.agent import Runtime
from baton.domain.tasks.task import NEXT_STALE_AFTER, Flag, State, Task

FIRST_RING_SECONDS = 60
LAST_RING_SECONDS = 3_600
# The longest delay of a message in SQS.
MAX_NOTICE_DELAY_SECONDS = 900


def notice_interval(rings: int) -> timedelta:
    """Returns the interval to the next dispatch notice: 60 s, doubling up to an hour."""
    return times.seconds(min(FIRST_RING_SECONDS * 2 ** min(rings, 16), LAST_RING_SECONDS))


def notice_delay(due_at: datetime, now: datetime) -> int:
    """Returns the delay of a dispatch notice in whole seconds, rounded up: a notice that is early finds nothing to do.
    At most what the queue allows; for later work the sweeper sends another notice."""
    return min(max(0, math.ceil((due_at - now).total_seconds())), MAX_NOTICE_DELAY_SECONDS)


def next_look(task: Task, now: datetime) -> datetime | None:
    """Returns the earliest time at which something can be due, or None if only a command can change the task."""
    moments = [_of_state(task, now)] if not task.is_ended else []
    if not task.is_ended and Flag.DEADLINE_PASSED not in task.flags:
        moments.append(task.deadline)
    return min((moment for moment in moments if moment is not None), default=None)


def unclaimed_since(task: Task) -> datetime | None:
    """Returns when unclaimed work is due for the alert ``unclaimed_too_long``; None without an approval."""
    return None if task.ready_at is None else task.ready_at + times.seconds(task.alert_after_seconds)


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
    notice_at = max(now, task.ready_at) + notice_interval(task.rings)
    return notice_at if alert is None else min(notice_at, alert)
