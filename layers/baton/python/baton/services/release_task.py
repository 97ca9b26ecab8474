"""A worker gives its task back undone; the attempt doesn't count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.guardrails import checked
from baton.domain.verbs import Release
from baton.services.end_claim import Ending, Word, end_claim

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton, Dossier, Extra, Facts


def release_task(
    baton: Baton,
    by: Principal,
    task_id: str,
    claim_id: str,
    reason: str | None,
    body_hash: str,
    once: Once | None = None,
    *,
    again_at: datetime | None = None,
    has_progressed: bool = False,
    told: tuple[Extra, ...] = (),
) -> Dossier:
    """Ends the claim, and makes the task ready again. ``again_at``: it isn't ready before then. ``has_progressed``: the
    run made progress before the release. ``told``: extra writes. Raises ``StaleClaim``, ``GuardrailRefused`` and
    ``Unknown``."""
    request = Word(
        by=by,
        task_id=task_id,
        claim_id=claim_id,
        verb=Release.name,
        body_hash=body_hash,
        once=once,
        told=told,
        while_off=True,
    )

    def decide(inputs: Facts, _now: datetime) -> Ending:
        # Baton's own reasons aren't a caller's content.
        is_by_caller = reason is not None and not by.is_own_part
        checked_reason = (
            checked({"reason": reason}, inputs.settings.guardrails, "")["reason"] if is_by_caller else reason
        )
        command = Release(
            by=by, claim_id=claim_id, reason=checked_reason, again_at=again_at, has_progressed=has_progressed
        )
        return Ending(verb=command)

    return end_claim(baton, request, decide)
