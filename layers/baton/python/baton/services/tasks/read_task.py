"""One task with its items."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.domain.runs.transcript import Usage
from baton.domain.tasks.task import Task
from baton.domain.tracker.page_sync import PageSync
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.access.read_rights import ReadRights


def read_task(deps: Deps, by: Principal, task_id: str) -> tuple[TaskDetails, Usage]:
    """Returns the task with its body, and its usage. Two reads. Raises ``Unknown``."""
    details = deps.store.tasks.read(by.workspace, task_id, with_body=True)
    ReadRights(deps, by).must_read(details.task)
    usage, _ = deps.store.runs.usage(by.workspace, details.task.workflow_id, task_id)
    return details, usage


def read_stamp(deps: Deps, by: Principal, task_id: str) -> str:
    """Returns the task's stamp, whatever the task holds: one small read, with one for its usage if it was ever claimed,
    and one for its page if it has one in the tracker. Raises ``Unknown``."""
    task, _ = deps.store.tasks.load(by.workspace, task_id)
    ReadRights(deps, by).must_read(task)
    page_sync = deps.store.tracker.page_syncs(by.workspace, [task_id]).get(task_id) if task.meta.mirrored else None
    usage = deps.store.runs.usage(by.workspace, task.workflow_id, task_id)[0] if task.fence else Usage()
    return stamp_of(task, page_sync, usage)


def stamp_of(task: Task, page_sync: PageSync | None, usage: Usage) -> str:
    """Returns a text that changes with whatever may change of what ``read_task`` returns: every change of the task and
    of its items raises its version, and its page and its usage are kept apart from it."""
    page = (page_sync.page, page_sync.status, page_sync.message) if page_sync and task.meta.mirrored else None
    return f"{task.id} {task.meta.version} {page} {usage}"
