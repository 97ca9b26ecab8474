"""Finds tasks of all days, backwards in time: by label, page or agent, where there is a list of these, else day by day.
A request looks at a bounded part, and says how far it got. Tasks that the caller may not read are left out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.ids import made_at
from baton.domain.tasks.task import Task
from baton.domain.tasks.task_search import TaskSearch
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.services.tasks.list_tasks import with_page_syncs
from baton.steps.access.read_rights import ReadRights

# Read units that one request spends on looking, at most: one for each task, and for each page of a list as many as it
# may take. What is found costs one more each where the tracker shows it.
MAX_UNITS = 400
UNITS_OF_A_PAGE = 4
AT_ONCE = 100 - UNITS_OF_A_PAGE
# So long a request looks on; what it has begun to read, it reads.
MOST_TIME = times.seconds(0.6)
CLOCKS_DIFFER = times.seconds(300)
# No task is older than Baton.
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
A_DAY = timedelta(days=1)
_SEPARATOR = "#"


@dataclass(frozen=True, slots=True)
class FoundTasks:
    """``page``: the details of tasks, newest first; its cursor is None once all was looked at that is asked for.
    ``searched_to``: everything newer was looked at."""

    page: Page
    searched_to: datetime


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a search goes on: in a day's list, or in one of all days (None); before this task."""

    day: date | None
    before: str | None = None

    def searched_to(self, now: datetime) -> datetime:
        if self.before is not None:
            return made_at(self.before) or now
        return now if self.day is None else min(now, _midnight(self.day + A_DAY))


def search_tasks(deps: Deps, by: Principal, asked: TaskSearch, limit: int, cursor: str | None) -> FoundTasks:
    """Returns at most ``limit`` tasks with their page synchronisation, and often fewer. Raises ``InvalidInput`` for a
    cursor that isn't one of a search."""
    now, rights = deps.clock.now(), ReadRights(deps, by)
    began = _beginning(deps, by.workspace, asked)
    place: _Place | None = _beginning_of(asked, now) if cursor is None else _place_of(cursor)
    found, units = list[Task](), 0
    while place is not None:
        page = _read(deps, by.workspace, asked, place)
        left = limit - len(found)
        found += [task for task in page.items if asked.takes(task) and rights.may_read(task)][:left]
        if len(found) == limit and found[-1] is not page.items[-1]:
            place = _Place(place.day, found[-1].id)
        else:
            place = _after(place, page, asked, began)
        units += UNITS_OF_A_PAGE + len(page.items)
        if len(found) == limit or units >= MAX_UNITS or deps.clock.now() - now >= MOST_TIME:
            break
    shown = with_page_syncs(deps, by.workspace, Page(tuple(found), None if place is None else _cursor_of(place)))
    return FoundTasks(shown, began if place is None else place.searched_to(now))


def _beginning_of(asked: TaskSearch, now: datetime) -> _Place:
    """Another process's clock may be ahead: its tasks are of a day that begins soon."""
    return _Place((now + CLOCKS_DIFFER).date() if asked.is_by_day else None)


def _read(deps: Deps, workspace: str, asked: TaskSearch, place: _Place) -> Page:
    lists = deps.store.lists
    if place.day is not None:
        return lists.tasks_of_day(workspace, place.day, AT_ONCE, place.before)
    if asked.page is not None:
        holders = deps.store.tracker.page_holders(workspace, [asked.page])
        return Page(tuple(deps.store.tasks.many(workspace, list(holders.values())).values()))
    if asked.label is not None:
        return lists.tasks_of_label(workspace, asked.label, AT_ONCE, place.before)
    return lists.tasks_of_agent(workspace, asked.agent or "", AT_ONCE, place.before)


def _after(place: _Place, page: Page, asked: TaskSearch, began: datetime) -> _Place | None:
    """Returns the place after a page; None if nothing older is asked for."""
    if page.cursor is not None and not any(map(asked.is_past, page.items)):
        return _Place(place.day, page.cursor)
    if page.cursor is not None or place.day is None or _midnight(place.day) <= began:
        return None
    return _Place(place.day - A_DAY)


def _beginning(deps: Deps, workspace: str, asked: TaskSearch) -> datetime:
    """Returns since when there may be what is asked for: nobody came before the workspace's first token was made."""
    first = deps.store.tokens.first_made_at(workspace) or FIRST_DAY
    return first if asked.since is None else max(first, asked.since)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _cursor_of(place: _Place) -> str:
    return f"{place.day or ''}{_SEPARATOR}{place.before or ''}"


def _place_of(cursor: str) -> _Place:
    """Raises ``InvalidInput`` for a text that isn't a cursor of a search."""
    day, _, before = cursor.partition(_SEPARATOR)
    try:
        return _Place(date.fromisoformat(day) if day else None, before or None)
    except ValueError as exc:
        raise errors.InvalidInput("cursor", "is not one that was given out") from exc
