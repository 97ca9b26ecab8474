"""Finding tasks: newest first over keys that never change, or by urgency where a human is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.services.filtering import filtered

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from baton.domain.task import State, Task
    from baton.ports import Baton, Page


def tasks_of_agent(
    baton: Baton, workspace: str, agent: str, states: frozenset[State], limit: int, cursor: str | None
) -> Page:
    return filtered(lambda size, at: baton.store.tasks_of_agent(workspace, agent, size, at), _in(states), limit, cursor)


def tasks_of_day(
    baton: Baton, workspace: str, day: date, states: frozenset[State], limit: int, cursor: str | None
) -> Page:
    """``day`` in UTC."""
    return filtered(lambda size, at: baton.store.tasks_of_day(workspace, day, size, at), _in(states), limit, cursor)


def tasks_that_need_a_human(baton: Baton, workspace: str, limit: int, cursor: str | None) -> Page:
    """The approval queue: most urgent first, then oldest, of any day and agent."""
    return baton.store.needs(workspace, limit, cursor)


def _in(states: frozenset[State]) -> Callable[[Task], bool]:
    return lambda task: not states or task.state in states
