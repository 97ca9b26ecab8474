"""A worker gives its task back undone; the attempt doesn't count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.verbs import Release
from baton.services.end_claim import Ending, Word, end_claim

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton, Dossier, Extra


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
    """``again_at``: not to be taken up before then; ``has_progressed``: it isn't given back for nothing; ``told``:
    written along. Raises ``StaleClaim`` and ``Unknown``."""
    word = Word(
        by=by,
        task_id=task_id,
        claim_id=claim_id,
        verb=Release.name,
        body_hash=body_hash,
        once=once,
        told=told,
        while_off=True,
    )
    verb = Release(by=by, claim_id=claim_id, reason=reason, again_at=again_at, has_progressed=has_progressed)
    return end_claim(baton, word, lambda *_: Ending(verb=verb))
