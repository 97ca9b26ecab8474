"""Finds tasks: newest first, by keys that never change; or by urgency, for human approval. Tasks that the caller may
not read are left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.task_state import State
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.paging import Page
from baton.services.handoffs.read_inbox import must_exist
from baton.steps.access.read_rights import ReadRights
from baton.steps.filtering import filtered

PENDING = frozenset({State.NEEDS, State.DELEGATED, State.NEXT})


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Which tasks to list: of one agent, or of one day."""

    agent: str | None = None  # the target's slug
    day: date | None = None  # of creation, in UTC
    states: frozenset[State] = frozenset()  # empty for all


def find_tasks(deps: Deps, by: Principal, filters: TaskFilter, limit: int, cursor: str | None) -> Page:
    """Returns the details of tasks, newest first, with their page synchronisation only. Without agent and day, the
    state ``needs`` alone is the approval queue, and any other filter is for the tasks of today. Raises
    ``InvalidInput`` for an agent and a day together, and ``UnknownAgent``."""
    if filters.agent and filters.day:
        raise errors.InvalidInput("day", "can't be combined with agent")
    if filters.agent:
        page = tasks_of_agent(deps, by, filters, limit, cursor)
        if not page.items:
            _must_be_known(deps, by.workspace, filters.agent)
    elif filters.day is None and filters.states == {State.NEEDS}:
        page = tasks_that_need_a_human(deps, by, limit, cursor)
    else:
        page = tasks_of_day(deps, by, filters, limit, cursor)
    return with_page_syncs(deps, by.workspace, page)


def list_pending_tasks(deps: Deps, by: Principal, agent: str, limit: int, cursor: str | None) -> Page:
    """Returns the details of the agent's tasks that wait for approval or for a claim, as ``find_tasks`` does. Raises
    ``Unknown`` for an unknown agent."""
    must_exist(deps, by.workspace, agent)
    filters = TaskFilter(agent=agent, states=PENDING)
    return with_page_syncs(deps, by.workspace, tasks_of_agent(deps, by, filters, limit, cursor))


def list_held_tasks(deps: Deps, by: Principal, agent: str, limit: int, cursor: str | None) -> Page:
    """Returns the details of the tasks that the agent's live claims hold, by id: the oldest task first, as
    ``find_tasks`` does. Raises ``Unknown`` for an unknown agent."""
    must_exist(deps, by.workspace, agent)
    held = sorted(
        {each.task_id for each in deps.store.claims.held(by.workspace, agent) if each.task_id > (cursor or "")}
    )
    tasks = deps.store.tasks.many(by.workspace, held[:limit])
    rights = ReadRights(deps, by)
    shown = (tasks[each] for each in held[:limit] if each in tasks)
    mine = tuple(task for task in shown if task.claim and task.claim.agent == agent and rights.may_read(task))
    return with_page_syncs(deps, by.workspace, Page(mine, held[limit - 1] if len(held) > limit else None))


def _must_be_known(deps: Deps, workspace: str, agent: str) -> None:
    roster = deps.store.agents.roster(workspace)
    if roster.find(agent) is None:
        raise errors.UnknownAgent(agent, "agent", roster.some_active())


def with_page_syncs(deps: Deps, workspace: str, page: Page) -> Page:
    """Returns a page of tasks as their details. One read more where the tracker shows any of them."""
    mirrored = [task.id for task in page.items if task.meta.mirrored]
    syncs = deps.store.tracker.page_syncs(workspace, mirrored) if mirrored else {}
    details = (TaskDetails(task=task, page_sync=syncs.get(task.id)) for task in page.items)
    return Page(tuple(details), page.cursor)


def tasks_of_agent(deps: Deps, by: Principal, filters: TaskFilter, limit: int, cursor: str | None) -> Page:
    agent, takes = filters.agent or "", _takes(ReadRights(deps, by), filters.states)
    return filtered(
        lambda size, at: deps.store.lists.tasks_of_agent(by.workspace, agent, size, at), takes, limit, cursor
    )


def tasks_of_day(deps: Deps, by: Principal, filters: TaskFilter, limit: int, cursor: str | None) -> Page:
    """Returns the tasks created on a day (UTC), by default today, newest first."""
    day, takes = filters.day or deps.clock.now().date(), _takes(ReadRights(deps, by), filters.states)
    return filtered(lambda size, at: deps.store.lists.tasks_of_day(by.workspace, day, size, at), takes, limit, cursor)


def tasks_that_need_a_human(deps: Deps, by: Principal, limit: int, cursor: str | None) -> Page:
    """The approval queue: most urgent first, then oldest, of any day and agent."""
    rights = ReadRights(deps, by)
    if rights.reads_all:
        return deps.store.queues.needs(by.workspace, limit, cursor)
    return filtered(lambda size, at: deps.store.queues.needs(by.workspace, size, at), rights.may_read, limit, cursor)


def _takes(rights: ReadRights, states: frozenset[State]) -> Callable[[Task], bool]:
    return lambda task: (not states or task.state in states) and rights.may_read(task)
