"""A worker has done its task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.verbs import Complete
from baton.services.end_claim import end_claim

if TYPE_CHECKING:
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton, Dossier


def complete_task(
    baton: Baton, by: Principal, task_id: str, claim_id: str, output: Any, body_hash: str, once: Once | None = None
) -> Dossier:
    """Raises ``StaleClaim`` and ``Unknown``. ``body_hash`` tells an exact repeat from a second, different
    completion."""
    verb = Complete(by=by, claim_id=claim_id, has_output=output is not None)
    return end_claim(baton, task_id, verb, body_hash, once, output)
