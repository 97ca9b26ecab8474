"""Finds tasks: newest first, by keys that never change; or by urgency, for human approval. Tasks that the caller may
not read are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.services.filtering import filtered
from baton.services.read_rights import ReadRights

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from baton.domain.principal import Principal
    from baton.domain.task import State, Task
    from baton.ports import Deps, Page


def tasks_of_agent(
    deps: Deps, by: Principal, agent: str, states: frozenset[State], limit: int, cursor: str | None
) -> Page:
    takes = _takes(ReadRights(deps, by), states)
    return filtered(lambda size, at: deps.store.tasks_of_agent(by.workspace, agent, size, at), takes, limit, cursor)


def tasks_of_day(
    deps: Deps, by: Principal, day: date, states: frozenset[State], limit: int, cursor: str | None
) -> Page:
    """Returns the tasks created on ``day`` (UTC), newest first."""
    takes = _takes(ReadRights(deps, by), states)
    return filtered(lambda size, at: deps.store.tasks_of_day(by.workspace, day, size, at), takes, limit, cursor)


def tasks_that_need_a_human(deps: Deps, by: Principal, limit: int, cursor: str | None) -> Page:
    """The approval queue: most urgent first, then oldest, of any day and agent."""
    rights = ReadRights(deps, by)
    if rights.reads_all:
        return deps.store.needs(by.workspace, limit, cursor)
    return filtered(lambda size, at: deps.store.needs(by.workspace, size, at), rights.may_read, limit, cursor)


def _takes(rights: ReadRights, states: frozenset[State]) -> Callable[[Task], bool]:
    return lambda task: (not states or task.state in states) and rights.may_read(task)
