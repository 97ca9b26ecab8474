"""Finding tasks: newest first over keys that never change, or by urgency where a human is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.ports import Page

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from baton.domain.task import State, Task
    from baton.ports import Baton

# A filter that matches little must not read without end: the cursor lets the caller go on.
MAX_READS = 5


def tasks_of_agent(
    baton: Baton, workspace: str, agent: str, states: frozenset[State], limit: int, cursor: str | None
) -> Page:
    return _filtered(lambda size, at: baton.store.tasks_of_agent(workspace, agent, size, at), states, limit, cursor)


def tasks_of_day(
    baton: Baton, workspace: str, day: date, states: frozenset[State], limit: int, cursor: str | None
) -> Page:
    """``day`` in UTC."""
    return _filtered(lambda size, at: baton.store.tasks_of_day(workspace, day, size, at), states, limit, cursor)


def tasks_that_need_a_human(baton: Baton, workspace: str, limit: int, cursor: str | None) -> Page:
    """The approval queue: most urgent first, then oldest, of any day and agent."""
    return baton.store.needs(workspace, limit, cursor)


def _filtered(
    read: Callable[[int, str | None], Page], states: frozenset[State], limit: int, cursor: str | None
) -> Page:
    found: list[Task] = []
    for _ in range(MAX_READS):
        page = read(limit - len(found), cursor)
        found += [task for task in page.items if not states or task.state in states]
        cursor = page.cursor
        if cursor is None or len(found) >= limit:
            break
    return Page(tuple(found), cursor)
