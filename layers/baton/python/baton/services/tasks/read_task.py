"""One task with its items."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.domain.runs.transcript import Usage
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.access.read_rights import ReadRights


def read_task(deps: Deps, by: Principal, task_id: str) -> tuple[TaskDetails, Usage]:
    """Returns the task with its body, and its usage. Two reads. Raises ``Unknown``."""
    details = deps.store.read(by.workspace, task_id, with_body=True)
    ReadRights(deps, by).must_read(details.task)
    usage, _ = deps.store.usage(by.workspace, details.task.workflow_id, task_id)
    return details, usage
