"""What a change of a task's tracker page means for the task.

The rule: **a task's end is final, and the first end wins; Baton owns every other change of its state.** A person who
sets a closing status ends the task. Any other status that a person sets stays on the page until the task's state
changes. A change that no person made (an automation's, another connection's, Baton's own) changes no task.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto

from baton.domain.settings.tracker_settings import TrackerSettings, folded
from baton.domain.task_state import State
from baton.domain.tasks.task import Task
from baton.domain.tracker.page_sync import PageSync


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSnapshot:
    """A page as the tracker shows it now."""

    page_id: str
    url: str
    title: str
    status: str | None
    in_trash: bool
    created_at: datetime
    edited_at: datetime
    edited_by: str  # the tracker's id of the last editor
    by_us: bool  # the last editor is Baton's own connection
    task_id: str | None = None  # the task that a property of the page names


@dataclass(frozen=True, slots=True)
class Editor:
    """A user of the tracker."""

    id: str
    is_person: bool
    name: str = ""  # empty if the tracker doesn't give it


@dataclass(frozen=True, slots=True)
class ClosedPage:
    """The page has a closing status. It ends the task if a person set it."""

    state: State  # ``done`` or ``cancelled``


class PageChange(Enum):
    """Other changes of a page."""

    NONE = auto()
    TRASHED = auto()
    REOPENED = auto()


def page_change_of(
    task: Task, page_sync: PageSync, seen: PageSnapshot, settings: TrackerSettings
) -> ClosedPage | PageChange:
    """Returns what has changed since the page was last written or read."""
    if seen.in_trash:
        return PageChange.NONE if task.is_ended else PageChange.TRASHED
    meaning = settings.meaning(seen.status)
    if folded(seen.status) == folded(page_sync.page_status):
        return PageChange.NONE  # as it was last written or read
    if not task.is_ended:
        return PageChange.NONE if meaning is None else ClosedPage(meaning)
    was_closed = settings.meaning(page_sync.page_status) is not None
    return PageChange.REOPENED if was_closed and meaning is None else PageChange.NONE
