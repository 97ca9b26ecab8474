"""Ends a task without its worker."""

from __future__ import annotations

from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks import commands
from baton.domain.tasks.calls import HumanCall
from baton.domain.tasks.digests import outcome_digest
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.tasks.cancel_descendants import cancel_descendants
from baton.steps.access.read_rights import refused_as_unknown
from baton.steps.guardrails.apply_guardrails import apply_guardrails, apply_guardrails_to_reason
from baton.steps.tasks.change_task import TaskItems, TaskRequest, change_task

# Of the caller's time.
AT_ONCE_SECONDS = 5


def resolve_task(deps: Deps, call: HumanCall, output: Any, reason: str | None = None) -> TaskDetails:
    """Sets the task to ``done`` with its output: the work was done elsewhere. Human only."""
    by = call.by
    by.must_have(Deed.RESOLVE)
    content = apply_guardrails(deps, by.workspace, {"output": output, "reason": reason})
    digest = None if output is None else outcome_digest(content["output"], None)
    command = commands.Resolve(by=by, reason=content["reason"], has_output=output is not None, output_digest=digest)
    return change_task(
        deps,
        TaskRequest(by.workspace, call.task_id, call.idempotency_key),
        lambda _: command,
        TaskItems(output=content["output"]),
    )


def cancel_task(
    deps: Deps, by: Principal, task_id: str, reason: str | None, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Cancels the task, for a human or the task's creator. Its descendants are cancelled too; a worker that holds one
    gets ``StaleClaim`` at its next call. Descendants that aren't reached in time are due for the sweeper."""

    def cancel(_: Task) -> commands.Cancel:
        return commands.Cancel(by=by, reason=apply_guardrails_to_reason(deps, by.workspace, reason))

    with refused_as_unknown(deps, by, task_id):
        details = change_task(deps, TaskRequest(by.workspace, task_id, idempotency_key), cancel)
    cancel_descendants_soon(deps, details.task)
    return details


def cancel_descendants_soon(deps: Deps, task: Task) -> None:
    """Cancels the descendants of a cancelled task, if it can have any. An error here only costs time."""
    if task.fence == 0:
        return
    until = deps.clock.now() + times.seconds(AT_ONCE_SECONDS)
    try:
        cancel_descendants(deps, task.workspace, task.id, lambda: deps.clock.now() < until)
    except errors.Busy as exc:
        deps.log("the cascade waits for the sweeper", action="cascade_delayed", task_id=task.id, error=exc.code)
