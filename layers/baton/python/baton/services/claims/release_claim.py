"""A human takes a task back from the worker that holds it; the attempt doesn't count."""

from __future__ import annotations

from baton.domain.access.rights import Deed
from baton.domain.tasks import commands
from baton.domain.tasks.calls import HumanCall
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.guardrails.apply_guardrails import apply_guardrails_to_reason
from baton.steps.tasks.change_task import TaskRequest, change_task


def release_claim(deps: Deps, call: HumanCall, fence: int, reason: str) -> TaskDetails:
    """Ends the claim, and makes the task ready again. ``fence``: of the claim that the human saw. The worker gets
    ``StaleClaim`` at its next call, and changes nothing. Raises ``HumanNeeded``, ``NobodyHolds``, ``ClaimChanged``,
    ``TaskEnded`` and ``Unknown``."""
    by = call.by
    by.must_have(Deed.RELEASE_CLAIM)

    def release(_: Task) -> commands.ReleaseClaim:
        checked_reason = apply_guardrails_to_reason(deps, by.workspace, reason)
        return commands.ReleaseClaim(by=by, fence=fence, reason=checked_reason)

    return change_task(deps, TaskRequest(by.workspace, call.task_id, call.idempotency_key), release)
