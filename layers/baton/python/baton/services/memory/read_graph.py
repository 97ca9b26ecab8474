"""The graph of a workspace's work, of a span of days (docs/spec/memory.md §6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.memory.entry import Entry
from baton.domain.memory.graph import (
    DirectionReport,
    GraphHandoff,
    Neighbourhood,
    directions_of,
    graph_handoff,
    graph_of,
    is_decision,
)
from baton.domain.rights.read_rights import may_read_entry
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.steps.access.read_rights import ReadRights

DEFAULT_DAYS = 7
MAX_DAYS = 31
MAX_HANDOFFS = 500
# The bytes of messages and outputs that are read. Parsed, they take some twenty times as much memory, and time.
MAX_BYTES = 4_000_000
MAX_ENTRIES = 1_000
MAX_NODES = 200
_PAGE = 100


@dataclass(frozen=True, slots=True)
class GraphView:
    """``is_whole``: False if there were more handoffs, bytes in them, entries or nodes than are looked at: the newest
    count."""

    around: Neighbourhood
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Directions:
    """``since``: from when on handoffs are counted. It is later than what was asked for where there were too many."""

    reports: tuple[DirectionReport, ...]
    is_whole: bool
    since: datetime


def read_graph(deps: Deps, by: Principal, node_id: str, depth: int, since: datetime | None) -> GraphView:
    """Returns what is around a node, of the handoffs and decisions that the caller may read. Raises ``Unknown`` for a
    node that isn't among them, and ``InvalidInput``."""
    tasks, all_tasks, _ = _tasks(deps, by, since)
    decisions, all_decisions = _decisions(deps, by)
    handoffs, all_files = _with_files(deps, by.workspace, tasks)
    around = graph_of(handoffs, decisions).around(node_id, depth, MAX_NODES)
    return GraphView(around, all_tasks and all_files and all_decisions and around.is_whole)


def read_directions(deps: Deps, by: Principal, since: datetime | None) -> Directions:
    """Returns who handed to whom, of the handoffs that the caller may read. Raises ``InvalidInput``."""
    tasks, is_whole, begin = _tasks(deps, by, since)
    reports = directions_of(map(GraphHandoff, tasks))
    return Directions(tuple(reports[:MAX_NODES]), is_whole and len(reports) <= MAX_NODES, begin)


def _tasks(deps: Deps, by: Principal, since: datetime | None) -> tuple[list[Task], bool, datetime]:
    """Returns the newest tasks of the span, day by day, whether these are all, and since when they are all."""
    now, rights = deps.clock.now(), ReadRights(deps, by)
    begin = now - timedelta(days=DEFAULT_DAYS) if since is None else since
    if now - begin > timedelta(days=MAX_DAYS):
        raise errors.InvalidInput("since", f"must be at most {MAX_DAYS} days ago")
    seen: list[Task] = []
    day = now.date()
    while day >= begin.date():
        seen += _of_day(deps, by.workspace, day, MAX_HANDOFFS + 1 - len(seen))
        if len(seen) > MAX_HANDOFFS:
            break
        day -= timedelta(days=1)
    is_whole = len(seen) <= MAX_HANDOFFS or seen[MAX_HANDOFFS].created_at < begin
    begin = begin if is_whole else seen[MAX_HANDOFFS - 1].created_at
    in_span = [task for task in seen[:MAX_HANDOFFS] if task.created_at >= begin and rights.may_read(task)]
    return in_span, is_whole, begin


def _of_day(deps: Deps, workspace: str, day: date, most: int) -> list[Task]:
    found: list[Task] = []
    cursor: str | None = None
    while len(found) < most:
        page = deps.store.lists.tasks_of_day(workspace, day, min(_PAGE, most - len(found)), cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            break
    return found


def _with_files(deps: Deps, workspace: str, tasks: list[Task]) -> tuple[list[GraphHandoff], bool]:
    """Returns the handoffs, newest first, and whether the files of all were looked at: those of large messages are
    looked at up to ``MAX_BYTES``."""
    papers = deps.store.tasks.papers(workspace, tasks, MAX_BYTES)
    seen = {each.task.id: graph_handoff(each.task, message_from(each.body), each.completion) for each in papers}
    return [seen.get(task.id) or GraphHandoff(task) for task in tasks], len(seen) == len(tasks)


def _decisions(deps: Deps, by: Principal) -> tuple[list[Entry], bool]:
    """Returns the decisions among the newest entries, and whether these are all entries."""
    found: list[Entry] = []
    cursor: str | None = None
    for _ in range(MAX_ENTRIES // _PAGE):
        page = deps.store.memory.newest_entries(by.workspace, None, None, _PAGE, cursor)
        found += (entry for entry in page.items if is_decision(entry) and may_read_entry(by, entry))
        cursor = page.cursor
        if cursor is None:
            break
    return found, cursor is None
