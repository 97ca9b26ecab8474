"""The read cursor of a conversation. It has a position for each task, because an earlier task may still write while a
later one does: no message is skipped and none is returned twice."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from baton.domain import errors
from baton.domain.ids import is_id
from baton.domain.tasks.task import Task

# A task is committed within this time after its id was made.
LATEST = timedelta(hours=1)
_READ_TO_END = "*"
_CURSOR_PART = re.compile(r"[0-9a-f]{10}-(\*|[0-9]{1,7})")


@dataclass(slots=True)
class ReadCursor:
    """The positions of a reader."""

    closed_to: str = ""  # every task up to this id was read to its end
    read: dict[str, str] = field(default_factory=dict)  # short task id → number of the last message read, or ``*``

    def of(self, task: Task) -> int | None:
        """Returns the number of the last message read of the task; None if the task was read to its end."""
        position = self.read.get(_short(task.id), "0")
        return None if task.id <= self.closed_to or position == _READ_TO_END else int(position)

    def read_to(self, task: Task, number: int) -> None:
        self.read[_short(task.id)] = str(number)

    def close(self, task: Task) -> None:
        self.read[_short(task.id)] = _READ_TO_END

    def encoded(self, tasks: Iterable[Task], now: datetime) -> str:
        """Returns the cursor as text, as short as possible. ``tasks``: all of the conversation, in order. Of the
        leading tasks that were read to their end and are too old for another task to appear between them, only the last
        is named."""
        closed_to, is_leading, parts = self.closed_to, True, []
        for task in tasks:
            if task.id <= self.closed_to:
                continue
            position = self.read.get(_short(task.id))
            is_leading = is_leading and position == _READ_TO_END and task.created_at < now - LATEST
            if is_leading:
                closed_to = task.id
            elif position is not None:
                parts.append(f"{_short(task.id)}-{position}")
        return ".".join((closed_to, *parts))


def parse_read_cursor(cursor: str | None) -> ReadCursor:
    """The inverse of ``ReadCursor.encoded``; None is the beginning. Raises ``InvalidInput`` for anything else."""
    closed_to, *parts = (cursor or "").split(".")
    if not (closed_to == "" or is_id(closed_to)) or not all(map(_CURSOR_PART.fullmatch, parts)):
        raise errors.InvalidInput("after", "is not one that was given out")
    named = (part.partition("-") for part in parts)
    return ReadCursor(closed_to, {task: position for task, _, position in named})


def _short(task_id: str) -> str:
    return hashlib.sha256(task_id.encode()).hexdigest()[:10]
