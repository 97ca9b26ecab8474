"""Finds handoffs, newest first: those of a workflow, those to an agent, or day by day (docs/spec/protocol.md §7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.task_state import State
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps.access.read_rights import ReadRights
from baton.steps.filtering import filtered

Takes = Callable[[Task], bool]

# The walk over days must not read without end either; the default range fits into one page if its days are empty.
MAX_READS = 10
DEFAULT_DAYS = 7
MAX_DAYS = 366
AT_ONCE = 100
_SEPARATOR = "#"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The filter of a list of handoffs."""

    target: str | None = None
    source: str | None = None  # a slug, or a principal's key
    states: frozenset[State] = frozenset()  # empty for all
    workflow_id: str | None = None
    since: datetime | None = None  # created then or later

    def takes(self, task: Task) -> bool:
        return (
            self.target in {None, task.target_agent}
            and self.source in {None, task.source_agent}
            and (not self.states or task.state in self.states)
            and not self.is_past(task)
        )

    def is_past(self, task: Task) -> bool:
        """True if every older task is outside of the filter too."""
        return self.since is not None and task.created_at < self.since


def list_handoffs(deps: Deps, by: Principal, criteria: Filter, limit: int, cursor: str | None) -> Page:
    """Returns the tasks of the handoffs that the caller may read. A page may be shorter than ``limit``. Raises
    ``InvalidInput`` for a ``since`` that is too far back to be reached day by day."""
    workspace, rights = by.workspace, ReadRights(deps, by)

    def takes(task: Task) -> bool:
        return criteria.takes(task) and rights.may_read(task)

    if criteria.workflow_id is not None:
        ids = [each.task_id for each in deps.store.workflows.members(workspace, criteria.workflow_id)]
        left = [each for each in sorted(ids, reverse=True) if cursor is None or each < cursor]
        return _of_workflow(deps, workspace, left, takes, limit)
    if criteria.target is not None:
        target = criteria.target
        return filtered(
            lambda size, at: deps.store.lists.tasks_of_agent(workspace, target, size, at),
            takes,
            limit,
            cursor,
            is_past=criteria.is_past,
        )
    return _by_day(deps, criteria, _Readable(workspace, takes), limit, cursor)


@dataclass(frozen=True, slots=True)
class _Readable:
    """The tasks of a workspace that the caller may read, and the filter takes."""

    workspace: str
    takes: Takes


def _of_workflow(deps: Deps, workspace: str, left: list[str], takes: Takes, limit: int) -> Page:
    """``left``: the ids that weren't looked at yet, newest first. The cursor is the last task that was looked at."""
    found: list[Task] = []
    for start in range(0, len(left), AT_ONCE):
        chunk = left[start : start + AT_ONCE]
        tasks = deps.store.tasks.many(workspace, chunk)
        for number, task_id in enumerate(chunk, start + 1):
            if task_id in tasks and takes(tasks[task_id]):
                found.append(tasks[task_id])
            if len(found) == limit:
                return Page(tuple(found), task_id if number < len(left) else None)
    return Page(tuple(found))


def _by_day(deps: Deps, criteria: Filter, readable: _Readable, limit: int, cursor: str | None) -> Page:
    """Walks back from today. ``cursor``: a day, and the position in it."""
    workspace, takes = readable.workspace, readable.takes
    now = deps.clock.now()
    since = criteria.since or now - timedelta(days=DEFAULT_DAYS)
    if now - since > timedelta(days=MAX_DAYS):
        raise errors.InvalidInput(
            "since", f"must be at most {MAX_DAYS} days ago where neither workflow nor target is named"
        )
    day, at = _position(cursor) if cursor is not None else (now.date(), None)
    found: list[Task] = []
    for _ in range(MAX_READS):
        if day < since.date():
            return Page(tuple(found))
        page = deps.store.lists.tasks_of_day(workspace, day, limit - len(found), at)
        found += [task for task in page.items if takes(task) and task.created_at >= since]
        day, at = (day, page.cursor) if page.cursor is not None else (day - timedelta(days=1), None)
        if len(found) >= limit:
            break
    return Page(tuple(found), f"{day.isoformat()}{_SEPARATOR}{at or ''}" if day >= since.date() else None)


def _position(cursor: str) -> tuple[date, str | None]:
    """Raises ``InvalidInput`` for a text that isn't a cursor of this walk."""
    day, _, at = cursor.partition(_SEPARATOR)
    try:
        return date.fromisoformat(day), at or None
    except ValueError as exc:
        raise errors.InvalidInput("cursor", "is not one that was given out") from exc
