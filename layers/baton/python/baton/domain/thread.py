"""Who holds a conversation: found by walking from its root along what was really handed over, one task after another.
Neither an id nor a time decides, and a task that no human let happen holds nothing: what is put beside or below a
conversation doesn't get it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from baton.domain.task import State, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Thread:
    """``holder``: the task of whoever has it. ``followed_by``: what the place beside the holder names already.
    ``passed_over``: open tasks that would have it if somebody approved them. ``is_torn``: the readings were not of one
    moment, as a task is named that wasn't among them. ``walked``: the tasks that have had it, the holder's included."""

    holder: Task
    followed_by: str | None
    passed_over: tuple[Task, ...]
    is_torn: bool
    walked: frozenset[str] = field(default=frozenset(), compare=False)


def thread_from(root: Task, tasks: Mapping[str, Task], followed: Mapping[str, str]) -> Thread:
    """``tasks``: all of the workflow; ``followed``: which task each was followed by when the user said more."""
    at: Task | None = root
    holder, passed_over, seen, is_torn = root, [], {root.id}, False
    while at is not None:
        holder, at = at, None
        for next_id in _next_of(holder, tasks, followed):
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


def _next_of(task: Task, tasks: Mapping[str, Task], followed: Mapping[str, str]) -> Iterator[str]:
    """What the user said next, then to whom the task was transferred, then what tried it anew."""
    if task.id in followed:
        yield followed[task.id]
    if task.state is State.DONE:
        yield from task.successors
    again = [each for each in tasks.values() if each.retry_of == task.id]
    for each in sorted(again, key=lambda each: (each.id in followed, each.created_at, each.id), reverse=True):
        yield each.id


def _holds(task: Task) -> bool:
    """Open work that has ended without being taken was nobody's."""
    return task.was_approved and (task.agent is not None or not task.is_ended)
