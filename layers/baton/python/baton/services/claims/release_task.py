"""A worker gives its task back undone; the attempt doesn't count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.guardrails.guardrails import checked
from baton.domain.tasks.commands import Release
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.access.principal import Principal
    from baton.domain.idempotency import IdempotencyKey
    from baton.ports import Deps, HandoffInputs, TaskDetails, Write


def release_task(
    deps: Deps,
    by: Principal,
    task_id: str,
    claim_id: str,
    reason: str | None,
    body_hash: str,
    idempotency_key: IdempotencyKey | None = None,
    *,
    again_at: datetime | None = None,
    has_progressed: bool = False,
    extra_writes: tuple[Write, ...] = (),
) -> TaskDetails:
    """Ends the claim, and makes the task ready again. ``again_at``: it isn't ready before then. ``has_progressed``: the
    run made progress before the release. ``extra_writes``: committed with it. Raises ``StaleClaim``,
    ``GuardrailRefused`` and ``Unknown``."""
    request = EndClaimRequest(
        by=by,
        task_id=task_id,
        claim_id=claim_id,
        verb=Release.name,
        body_hash=body_hash,
        idempotency_key=idempotency_key,
        extra_writes=extra_writes,
        while_off=True,
    )

    def decide(inputs: HandoffInputs, _now: datetime) -> ClaimOutcome:
        # Baton's own reasons aren't a caller's content.
        is_by_caller = reason is not None and not by.is_own_part
        checked_reason = (
            checked({"reason": reason}, inputs.settings.guardrails, "")["reason"] if is_by_caller else reason
        )
        command = Release(
            by=by, claim_id=claim_id, reason=checked_reason, again_at=again_at, has_progressed=has_progressed
        )
        return ClaimOutcome(verb=command)

    return end_claim(deps, request, decide)
