"""What a change of a task's tracker page means for the task.

The rule: **a task's end is final, and the first end wins; Baton owns every other change of its state.** A person who
sets a closing status ends the task. A page tells who edited it last, and not who set its status: the tracker's reports
do (``status_author``). Any other status that a person sets stays on the page until the task's state
changes. A change that no person made (an automation's, another connection's, Baton's own) changes no task.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from itertools import islice

from baton.domain.settings.tracker_settings import TrackerSettings, folded, plain_user_id
from baton.domain.task_state import State
from baton.domain.tasks.task import Task
from baton.domain.tracker.page_sync import PageSync

# A change of any column: the tracker's report names none.
ANY_COLUMN = "*"
# The most authors and columns that are kept between two looks. A longer list names nobody.
MAX_REPORTS = 200
# How long after an edit the tracker may still report it.
REPORT_SECONDS = 180


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
    status_column: str = ""  # the tracker's id of the column with the status
    our_id: str = ""  # the tracker's id of Baton's own connection


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


class StatusAuthor(Enum):
    """Who set the page's status, by the tracker's reports since the last look."""

    LAST_EDITOR = auto()
    UNKNOWN = auto()  # they name somebody else, several people, or nobody
    UNREPORTED = auto()  # there are none


def reports_of(event_id: str, authors: Iterable[str], columns: Iterable[str]) -> frozenset[str]:
    """Returns a change in the form in which it is kept: each author with each column, and the event; the column is
    empty for a change of something else. Of too many only so many are kept that they name nobody."""
    names = tuple(columns) or ("",)
    pairs = ((author, column) for author in authors for column in names)
    return frozenset(f"{plain_user_id(author)} {column} {event_id}" for author, column in islice(pairs, MAX_REPORTS))


def is_by(reports: Iterable[str], user_id: str) -> bool:
    return all(each.split(" ", 1)[0] == plain_user_id(user_id) for each in reports)


def status_author(page_sync: PageSync, seen: PageSnapshot) -> StatusAuthor:
    reports = [each.split(" ", 2) for each in page_sync.reports]
    if not reports:
        return StatusAuthor.UNREPORTED
    named = {author for author, column, *_ in reports if column in {seen.status_column, ANY_COLUMN}}
    named -= {plain_user_id(seen.our_id)}
    is_whole = len(reports) < MAX_REPORTS
    return StatusAuthor.LAST_EDITOR if is_whole and named == {plain_user_id(seen.edited_by)} else StatusAuthor.UNKNOWN


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
