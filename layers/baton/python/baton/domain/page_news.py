"""What a change of a task's page by somebody else means for the task.

The one rule: **a task's end is final, and whoever ends it first wins; everything else about its state is Baton's.** A
person who sets a closing status ends the task. Any other change of the status is theirs, and stays until the task's
state changes next. What isn't a person's doing (an automation's, another connection's, our own) changes no task.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from baton.domain.tracker import folded

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.mirror import Mirror
    from baton.domain.task import State, Task
    from baton.domain.tracker import TrackerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A page as it is in the tracker now. ``edited_by``: the id of whoever edited it last; ``task_id``: the task that
    its property names, if it has one."""

    page_id: str
    url: str
    title: str
    status: str | None
    in_trash: bool
    created_at: datetime
    edited_at: datetime
    edited_by: str
    by_us: bool
    task_id: str | None = None


@dataclass(frozen=True, slots=True)
class Editor:
    """``name`` as the tracker shows it, empty where it doesn't tell."""

    id: str
    is_person: bool
    name: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """``state``: ``done`` or ``cancelled``, if it was a person who did it."""

    state: State


class News(Enum):
    NONE = auto()
    TRASHED = auto()
    REOPENED = auto()


def news_of(task: Task, mirror: Mirror, seen: Seen, settings: TrackerSettings) -> Ended | News:
    if seen.in_trash:
        return News.NONE if task.is_ended else News.TRASHED
    meaning = settings.meaning(seen.status)
    if folded(seen.status) == folded(mirror.page_status):
        return News.NONE  # as we left it, or as it was when it was last decided about
    if not task.is_ended:
        return News.NONE if meaning is None else Ended(meaning)
    was_closed = settings.meaning(mirror.page_status) is not None
    return News.REOPENED if was_closed and meaning is None else News.NONE
