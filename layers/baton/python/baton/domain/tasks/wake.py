"""When the sweeper has to read a task again (docs/spec/lifecycle.md §9)."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from baton.domain import times
from baton.domain.agents.agent import Runtime
from baton.domain.task_state import State
from baton.domain.tasks.task import NEXT_STALE_AFTER, Flag, Task

FIRST_RING_SECONDS = 60
LAST_RING_SECONDS = 3_600
# After a task became ready, as long as a usual lease: a claim leaves the entry where it is.
EARLY_LOOK_SECONDS = 300
# Before the end of a lease: a sweeper that is a round behind with other work still finds the claim in time.
AMONG_THE_FIRST_SECONDS = 60
# Work that nobody takes, and that somebody was told of: its agent may have become one that Baton runs, and the notices
# of that day were lost.
REST_SECONDS = 86_400
# The longest delay of a message in SQS.
MAX_NOTICE_DELAY_SECONDS = 900


def notice_interval(rings: int) -> timedelta:
    """Returns the interval to the next dispatch notice: 60 s, doubling up to an hour."""
    return times.seconds(min(FIRST_RING_SECONDS * 2 ** min(rings, 16), LAST_RING_SECONDS))


def notice_delay(due_at: datetime, now: datetime) -> int:
    """Returns the delay of a dispatch notice in whole seconds, rounded up: a notice that is early finds nothing to do.
    At most what the queue allows; for later work the sweeper sends another notice."""
    return min(max(0, math.ceil((due_at - now).total_seconds())), MAX_NOTICE_DELAY_SECONDS)


def wake_entry(before: Task | None, task: Task, now: datetime) -> tuple[datetime | None, bool]:
    """Returns when the sweeper finds the task, and whether it does so before all other work. That is when something can
    be due, or earlier: moving the entry costs, and a sweeper that comes early moves it on. So a task that became ready
    is entered for an early look, a later change leaves the entry where it is, and the end takes it out."""
    due_at = next_look(task, now)
    if due_at is None:
        return None, False
    if before is not None and _stays(before, task, now, due_at):
        return before.meta.wake_at, before.meta.wakes_first
    if _has_become_ready(before, task) and not _is_rung(task):
        early = max(now, task.ready_at or now) + times.seconds(EARLY_LOOK_SECONDS)
        return min(early, due_at), True
    return due_at, task.claim is not None


def is_early(task: Task, now: datetime) -> bool:
    """True if the sweeper has found the task before anything is due."""
    due_at = next_look(task, now)
    return not _is_rung(task) and not is_resting(task) and (due_at is None or due_at > now)


def is_resting(task: Task) -> bool:
    """True for ready work that an agent pulls, once a human was told that it doesn't."""
    is_pulled = task.state is State.DELEGATED and not task.meta.parked and task.meta.runtime is Runtime.PULL
    return is_pulled and Flag.UNCLAIMED in task.flags


def next_look(task: Task, now: datetime) -> datetime | None:
    """Returns the earliest time at which something can be due, or None if only a command can change the task."""
    if task.is_ended:
        return None
    deadline = None if Flag.DEADLINE_PASSED in task.flags else task.deadline
    moments = [_of_state(task, now), deadline, *(each.until for each in task.questions)]
    if task.state is State.NEEDS and task.approval is not None:
        moments += [task.approval.remind_at, task.approval.then_at]
    return min((moment for moment in moments if moment is not None), default=None)


def unclaimed_since(task: Task) -> datetime | None:
    """Returns when unclaimed work is due for the alert ``unclaimed_too_long``; None without an approval."""
    return None if task.ready_at is None else task.ready_at + times.seconds(task.meta.alert_after_seconds)


def _stays(before: Task, task: Task, now: datetime, due_at: datetime) -> bool:
    """True if the entry isn't over, and early enough."""
    if before.meta.wake_at is None or before.meta.wake_at <= now or _is_rung(task):
        return False
    is_behind_others = task.claim is not None and not before.meta.wakes_first
    margin = times.seconds(AMONG_THE_FIRST_SECONDS if is_behind_others else 0)
    return before.meta.wake_at <= due_at - margin


def _has_become_ready(before: Task | None, task: Task) -> bool:
    if task.state is not State.DELEGATED or task.meta.parked:
        return False
    return before is None or before.state is not State.DELEGATED or before.ready_at != task.ready_at


def _is_rung(task: Task) -> bool:
    """True for ready work of an agent that Baton runs: the entry says when its next dispatch notice is due."""
    return task.state is State.DELEGATED and not task.meta.parked and task.meta.runtime is not Runtime.PULL


def _of_state(task: Task, now: datetime) -> datetime | None:
    if task.claim is not None:
        return task.claim.expires_at
    if task.wait is not None:
        alert_at = None if Flag.WAITING in task.flags else task.wait.alert_at
        return min((at for at in (alert_at, task.wait.until) if at is not None), default=None)
    if task.meta.parked:
        return task.hidden_until
    if task.ready_at is None:
        return None
    if task.state is State.NEXT:
        return None if Flag.NEXT_STALE in task.flags else task.ready_at + NEXT_STALE_AFTER
    if task.state is not State.DELEGATED:
        return None
    alert = None if Flag.UNCLAIMED in task.flags else unclaimed_since(task)
    if task.meta.runtime is Runtime.PULL:
        return now + times.seconds(REST_SECONDS) if is_resting(task) else alert
    notice_at = max(now, task.ready_at) + notice_interval(task.meta.rings)
    return notice_at if alert is None else min(notice_at, alert)
