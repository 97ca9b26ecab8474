"""How far somebody has read along in a conversation: task by task, as an earlier one may still write while a later one
does. As a cursor it says of each how far it was read, so that no message is skipped and none is told twice."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from baton.domain.errors import InvalidInput
from baton.domain.ids import is_id

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from baton.domain.task import Task

# No task is written that long after its id was made.
LATEST = timedelta(hours=1)
_CLOSED = "*"
_PLACE = re.compile(r"[0-9a-f]{10}-(\*|[0-9]{1,7})")


@dataclass(slots=True)
class Places:
    """``closed_to``: tasks up to this id were read to their ends. ``read``: how far the others were."""

    closed_to: str = ""
    read: dict[str, str] = field(default_factory=dict)

    def of(self, task: Task) -> int | None:
        """The number of the last message that was read of it; None if none comes after that."""
        place = self.read.get(_short(task.id), "0")
        return None if task.id <= self.closed_to or place == _CLOSED else int(place)

    def read_to(self, task: Task, number: int) -> None:
        self.read[_short(task.id)] = str(number)

    def close(self, task: Task) -> None:
        self.read[_short(task.id)] = _CLOSED

    def told(self, tasks: Iterable[Task], now: datetime) -> str:
        """As a cursor, and no longer than needed. ``tasks``: all of the conversation, in order. Of those that were read
        to their ends, and are so old that no task comes between them any more, only the last is named."""
        closed_to, is_settled, parts = self.closed_to, True, []
        for task in tasks:
            if task.id <= self.closed_to:
                continue
            place = self.read.get(_short(task.id))
            is_settled = is_settled and place == _CLOSED and task.created_at < now - LATEST
            if is_settled:
                closed_to = task.id
            elif place is not None:
                parts.append(f"{_short(task.id)}-{place}")
        return ".".join((closed_to, *parts))


def places_in(cursor: str | None) -> Places:
    """The inverse of ``told``; None is the beginning. Raises ``InvalidInput``."""
    closed_to, *parts = (cursor or "").split(".")
    if not (closed_to == "" or is_id(closed_to)) or not all(map(_PLACE.fullmatch, parts)):
        raise InvalidInput("after", "is not one that was given out")
    named = (part.partition("-") for part in parts)
    return Places(closed_to, {task: place for task, _, place in named})


def _short(task_id: str) -> str:
    return hashlib.sha256(task_id.encode()).hexdigest()[:10]
