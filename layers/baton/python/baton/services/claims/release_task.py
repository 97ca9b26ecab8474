"""A worker gives its task back undone; the attempt doesn't count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from baton.domain import errors, times
from baton.domain.guardrails.guardrails import checked
from baton.domain.tasks import commands
from baton.domain.tasks.calls import WorkerCall
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs
from baton.ports.writes import Write
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim

# A task isn't ready later than that after its release: longer waits are for a callback.
LATEST = times.seconds(7 * 86_400)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedWork:
    """How a worker gives its task back."""

    reason: str | None = None
    again_at: datetime | None = None  # the task isn't ready before then
    has_progressed: bool = False  # the run made progress before the release
    extra_writes: tuple[Write, ...] = ()  # committed with it


def release_task(deps: Deps, call: WorkerCall, work: ReleasedWork) -> TaskDetails:
    """Ends the claim, and makes the task ready again. Raises ``StaleClaim``, ``GuardrailRefused``, ``Unknown``, and
    ``InvalidInput`` for a time that is too late."""
    by, reason = call.by, work.reason
    request = EndClaimRequest(
        call=call, command_name=commands.ReleaseTask.name, extra_writes=work.extra_writes, while_off=True
    )

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        # One that is over by now was on its way for too long: the task is ready at once.
        if work.again_at is not None and work.again_at > now + LATEST:
            raise errors.InvalidInput("not_before", f"must be at most {LATEST.days} days ahead")
        # Baton's own reasons aren't a caller's content.
        is_by_caller = reason is not None and not by.is_own_part
        checked_reason = (
            checked({"reason": reason}, inputs.settings.guardrails, "")["reason"] if is_by_caller else reason
        )
        command = commands.ReleaseTask(
            by=by,
            claim_id=call.claim_id,
            reason=checked_reason,
            again_at=work.again_at,
            has_progressed=work.has_progressed,
        )
        return ClaimOutcome(command=command)

    return end_claim(deps, request, decide)
