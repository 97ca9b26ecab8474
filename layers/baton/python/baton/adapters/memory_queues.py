"""The part of the memory store that finds tasks: for claimers, for humans, for the sweeper, and in listings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.adapters.memory_registry import page
from baton.adapters.memory_tasks import MemoryTasks
from baton.domain.task import State
from baton.domain.times import to_ms
from baton.domain.workflow import Held
from baton.ports import Ready, Skills

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date, datetime

    from baton.domain.task import Task
    from baton.domain.workflow import Errand
    from baton.ports import Page


class MemoryQueues(MemoryTasks):
    def ready(self, workspace: str, agent: str, now: datetime) -> tuple[Skills | None, Iterator[Ready]]:
        with self._lock:
            known = self.agent(workspace, agent)
            found = self._offered(workspace, agent, now)
        return None if known is None else Skills(known.accepts, known.produces, known.max_concurrent), iter(found)

    def open_work(self, workspace: str, now: datetime) -> Iterator[Ready]:
        with self._lock:
            found = self._offered(workspace, None, now)
        yield from found

    def held(self, workspace: str, agent: str) -> tuple[Held, ...]:
        with self._lock:
            mine = [t for t in self._of(workspace) if t.claim is not None and t.claim.agent == agent]
        found = [Held(t.id, t.claim.claim_id, t.workflow_id, t.claim.slot) for t in mine if t.claim is not None]
        return tuple(sorted(found, key=lambda held: (held.slot is None, held.slot or 0, held.task_id)))

    def needs(self, workspace: str, limit: int, cursor: str | None) -> Page:
        with self._lock:
            found = [task for task in self._of(workspace) if task.state is State.NEEDS and not task.parked]
        keys = {f"{task.priority}#{to_ms(task.created_at):015d}#{task.id}": task for task in found}
        return page(keys, limit, cursor)

    def due(self, now: datetime) -> Iterator[tuple[str, str, Errand | None]]:
        with self._lock:
            woken = [task for task in self._tasks.values() if task.wake_at is not None and task.wake_at <= now]
            errands = [
                (errand.at, errand.task_id, errand.kind, workspace)
                for (workspace, _), beside in self._besides.items()
                for errand in beside.errands.values()
                if errand.at <= now
            ]
        tasks = sorted(woken, key=lambda task: (task.wake_at, task.id))
        yield from ((task.workspace, task.id, None) for task in tasks if task.claim is not None)
        yield from ((workspace, task_id, kind) for _, task_id, kind, workspace in sorted(errands))
        yield from ((task.workspace, task.id, None) for task in tasks if task.claim is None)

    def tasks_of_agent(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        return self._newest(workspace, lambda task: task.target_agent == agent, limit, cursor)

    def tasks_of_day(self, workspace: str, day: date, limit: int, cursor: str | None) -> Page:
        return self._newest(workspace, lambda task: task.created_at.date() == day, limit, cursor)

    def _of(self, workspace: str) -> list[Task]:
        return [task for (owner, _), task in self._tasks.items() if owner == workspace]

    def _offered(self, workspace: str, target: str | None, now: datetime) -> list[Ready]:
        found = [
            task
            for task in self._of(workspace)
            if task.target_agent == target and task.is_ready(now) and not task.parked
        ]
        found.sort(key=lambda task: (task.priority, task.ready_at, task.id))
        return [
            Ready(t.id, t.ready_at, t.requires, t.source_agent, str(t.priority))
            for t in found
            if t.ready_at is not None
        ]

    def _newest(self, workspace: str, matches: Callable[[Task], bool], limit: int, cursor: str | None) -> Page:
        with self._lock:
            found = {task.id: task for task in self._of(workspace) if matches(task)}
        return page(found, limit, cursor, newest_first=True)
