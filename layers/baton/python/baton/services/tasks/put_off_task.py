"""A human defers or dismisses a task."""

from __future__ import annotations

from datetime import datetime

from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks import commands
from baton.domain.tasks.calls import HumanCall
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.tasks.end_task import cancel_descendants_soon
from baton.steps.guardrails.apply_guardrails import apply_guardrails_to_reason
from baton.steps.tasks.change_task import TaskRequest, change_task


def defer_task(deps: Deps, call: HumanCall, until: datetime) -> TaskDetails:
    """Hides the task from every queue until ``until``. It still needs approval, and a caller that knows it may approve
    it before then. Raises ``NotAsked`` for work under a rule if the rule doesn't count the person's approval now."""
    by = call.by
    by.must_have(Deed.DEFER)

    def defer(task: Task) -> commands.Defer:
        groups = {} if task.approval is None else deps.store.settings.of(by.workspace).groups
        return commands.Defer(by=by, until=until, seen=call.seen, groups=groups)

    return change_task(deps, TaskRequest(by.workspace, call.task_id, call.idempotency_key), defer)


def dismiss_task(
    deps: Deps, by: Principal, task_id: str, reason: str, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Cancels a task that waits for approval, with its descendants."""
    by.must_have(Deed.DISMISS)

    def dismiss(_: Task) -> commands.Dismiss:
        return commands.Dismiss(by=by, reason=apply_guardrails_to_reason(deps, by.workspace, reason))

    details = change_task(deps, TaskRequest(by.workspace, task_id, idempotency_key), dismiss)
    cancel_descendants_soon(deps, details.task)
    return details
