"""A human approves a task, or takes the approval back."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.domain.handoffs.workflow import ANY_AGENT
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks import commands
from baton.domain.tasks.calls import Seen
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.tasks.change_task import TaskRequest, change_task


def approve_task(
    deps: Deps, by: Principal, task_id: str, seen: Seen | None, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Approves the task for dispatch after the undo window. ``seen``: None for the present content."""
    by.must_be_human("approve a task")

    def command(task: Task) -> commands.Approve:
        agent, settings = deps.store.agents.dispatch_inputs(by.workspace, task.target_agent or ANY_AGENT)
        return commands.Approve(by=by, seen=seen, agent=agent, settings=settings)

    return change_task(deps, TaskRequest(by.workspace, task_id, idempotency_key), command)


def approve_task_next(
    deps: Deps, by: Principal, task_id: str, seen: Seen | None, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Approves the task for the worker that takes it next; it is never dispatched."""
    by.must_be_human("approve a task")

    def command(task: Task) -> commands.ApproveNext:
        settings = None if task.approval is None else deps.store.settings.of(by.workspace)
        return commands.ApproveNext(by=by, seen=seen, settings=settings)

    return change_task(deps, TaskRequest(by.workspace, task_id, idempotency_key), command)


def undo_approval(
    deps: Deps, by: Principal, task_id: str, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Takes the approval back. Raises ``UndoWindowOver`` once the task may have been claimed."""
    by.must_be_human("undo an approval")
    return change_task(deps, TaskRequest(by.workspace, task_id, idempotency_key), lambda _: commands.Undo(by=by))
