"""A worker could not do its task: tried again with backoff while it may be, else failed for all to see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.verbs import Fail
from baton.services.end_claim import end_claim

if TYPE_CHECKING:
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton, Dossier


def fail_task(
    baton: Baton,
    by: Principal,
    task_id: str,
    claim_id: str,
    failure: dict[str, Any],
    body_hash: str,
    *,
    retryable: bool,
    once: Once | None = None,
) -> Dossier:
    """Raises ``StaleClaim`` and ``Unknown``. ``failure``: ``{type, description}``."""
    verb = Fail(by=by, claim_id=claim_id, failure=failure, retryable=retryable)
    return end_claim(baton, task_id, verb, body_hash, once, failure=failure)
