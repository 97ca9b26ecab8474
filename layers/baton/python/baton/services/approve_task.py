"""A human approves a task, or takes the approval back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.verbs import Approve, ApproveNext, Undo
from baton.domain.workflow import ANY_AGENT
from baton.services.change_task import change_task

if TYPE_CHECKING:
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.ports import Baton, Dossier


def approve_task(baton: Baton, by: Principal, task_id: str, revision: int | None, once: Once | None = None) -> Dossier:
    """Approves the task for dispatch after the undo window. ``revision``: the content that was seen; None for the
    current one."""
    by.must_be_human("approve a task")

    def command(task: Task) -> Approve:
        agent, settings = baton.store.dispatch_facts(by.workspace, task.target_agent or ANY_AGENT)
        return Approve(by=by, revision=revision, agent=agent, settings=settings)

    return change_task(baton, by.workspace, task_id, command, once)


def approve_task_next(
    baton: Baton, by: Principal, task_id: str, revision: int | None, once: Once | None = None
) -> Dossier:
    """Approves the task for the worker that takes it next; it is never dispatched."""
    by.must_be_human("approve a task")
    return change_task(baton, by.workspace, task_id, lambda _: ApproveNext(by=by, revision=revision), once)


def undo_approval(baton: Baton, by: Principal, task_id: str, once: Once | None = None) -> Dossier:
    """Takes the approval back. Raises ``UndoWindowOver`` once the task may have been claimed."""
    by.must_be_human("undo an approval")
    return change_task(baton, by.workspace, task_id, lambda _: Undo(by=by), once)
