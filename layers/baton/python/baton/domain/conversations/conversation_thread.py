"""The task that holds a conversation. It is found by a walk from the root along the transfers that took place. Neither
an id nor a time decides, and a task without an approval holds nothing: a task that is merely placed beside or below a
conversation doesn't get it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from baton.domain.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Thread:
    """The result of the walk."""

    holder: Task
    followed_by: str | None  # the task that was made already for the message after the holder's
    passed_over: tuple[Task, ...]  # open tasks that would hold the conversation once approved
    is_torn: bool  # the reads were not of one moment: a task is named that wasn't read
    walked: frozenset[str] = field(default=frozenset(), compare=False)  # every holder so far, ``holder`` included


def thread_from(root: Task, tasks: Mapping[str, Task], followed: Mapping[str, str]) -> Thread:
    """Walks from ``root``. ``tasks``: of the workflow; ``followed``: task id → the task of the user's next message."""
    at: Task | None = root
    holder, passed_over, seen, is_torn = root, [], {root.id}, False
    while at is not None:
        holder, at = at, None
        for next_id in _successors_of(holder, tasks, followed):
            each = tasks.get(next_id)
            is_torn = is_torn or each is None
            if each is None or each.id in seen:
                continue
            if _holds(each):
                at = each
                break
            if not each.is_ended:
                passed_over.append(each)
        if at is not None:
            seen.add(at.id)
    return Thread(holder, followed.get(holder.id), tuple(passed_over), is_torn, frozenset(seen))


def _successors_of(task: Task, tasks: Mapping[str, Task], followed: Mapping[str, str]) -> Iterator[str]:
    """Yields the task of the user's next message, then the task's successors, then its retries: first those that
    already have a next message, then the newest."""
    if task.id in followed:
        yield followed[task.id]
    if task.is_done:
        yield from task.successors
    retries = [each for each in tasks.values() if each.retry_of == task.id]
    for each in sorted(retries, key=lambda each: (each.id in followed, each.created_at, each.id), reverse=True):
        yield each.id


def _holds(task: Task) -> bool:
    """True if the task is approved. Open work that ended unclaimed holds nothing."""
    return task.was_approved and (task.agent is not None or not task.is_ended)


@dataclass(frozen=True, slots=True)
class NextTask:
    """The task that continues the conversation of ``task_id``."""

    task_id: str
    next_id: str
