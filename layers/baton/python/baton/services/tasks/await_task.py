"""Waits for a task's state, or for its next events."""

from __future__ import annotations

from dataclasses import dataclass

from baton.domain.access.principal import Principal
from baton.domain.tasks import trail
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.access.read_rights import ReadRights, readable_task
from baton.steps.claims.poll_until import Poll, poll_until

ENDED = "ended"
EVENTS_PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Awaited:
    details: TaskDetails
    timed_out: bool


def await_task(deps: Deps, by: Principal, task_id: str, state: str, timeout_seconds: float) -> Awaited:
    """Returns at once if the task is in ``state`` (or has ``ended``), else when it is, else when the time is over. An
    ended task never changes again, so waiting for another of its states stops too. Raises ``Unknown`` and
    ``TooManyPolls``."""

    def holds(task: Task) -> bool:
        return task.is_ended if state == ENDED else task.state == state

    def load() -> Task:
        return deps.store.tasks.load(by.workspace, task_id)[0]

    first = load()
    ReadRights(deps, by).must_read(first)
    task = poll_until(deps, by, first, Poll(load, lambda task: holds(task) or task.is_ended, timeout_seconds))
    return Awaited(deps.store.tasks.read(by.workspace, task_id), timed_out=not holds(task))


@dataclass(frozen=True, slots=True)
class EventRange:
    """Which events of a trail to read."""

    after: int  # the number above which they begin
    limit: int = EVENTS_PER_PAGE


def wait_for_events(
    deps: Deps, by: Principal, task_id: str, events: EventRange, timeout_seconds: float
) -> tuple[trail.Event, ...]:
    """Returns the events, as soon as there are any. Raises ``Unknown`` and
    ``TooManyPolls``."""
    readable_task(deps, by, task_id)

    def read() -> tuple[trail.Event, ...]:
        return deps.store.trail.events(by.workspace, task_id, events.after, events.limit)

    return poll_until(deps, by, read(), Poll(read, bool, timeout_seconds))
