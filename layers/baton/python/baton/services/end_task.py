"""Ends a task without its worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.errors import Busy
from baton.domain.times import seconds
from baton.domain.verbs import Cancel, Resolve
from baton.services.cancel_descendants import cancel_descendants
from baton.services.change_task import change_task
from baton.services.guarded import guarded
from baton.services.reading import refused_as_unknown

if TYPE_CHECKING:
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.ports import Baton, Dossier

# Of the caller's time.
AT_ONCE_SECONDS = 5


def resolve_task(
    baton: Baton, by: Principal, task_id: str, output: Any, reason: str | None, once: Once | None = None
) -> Dossier:
    """Sets the task to ``done`` with its output: the work was done elsewhere. Human only."""
    by.must_be_human("resolve a task")
    content = guarded(baton, by.workspace, {"output": output, "reason": reason})
    command = Resolve(by=by, reason=content["reason"], has_output=output is not None)
    return change_task(baton, by.workspace, task_id, lambda _: command, once, content["output"])


def cancel_task(baton: Baton, by: Principal, task_id: str, reason: str | None, once: Once | None = None) -> Dossier:
    """Cancels the task, for a human or the task's creator. Its descendants are cancelled too; a worker that holds one
    gets ``StaleClaim`` at its next call. Descendants that aren't reached in time are due for the sweeper."""

    def cancel(_: Task) -> Cancel:
        return Cancel(by=by, reason=guarded(baton, by.workspace, {"reason": reason})["reason"])

    with refused_as_unknown(baton, by, task_id):
        dossier = change_task(baton, by.workspace, task_id, cancel, once)
    take_along(baton, dossier.task)
    return dossier


def take_along(baton: Baton, task: Task) -> None:
    """Cancels the descendants of a cancelled task, if it can have any. An error here only costs time."""
    if task.fence == 0:
        return
    until = baton.clock.now() + seconds(AT_ONCE_SECONDS)
    try:
        cancel_descendants(baton, task.workspace, task.id, lambda: baton.clock.now() < until)
    except Busy as exc:
        baton.log("the cascade waits for the sweeper", action="cascade_delayed", task_id=task.id, error=exc.code)
