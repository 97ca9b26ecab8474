"""What the verbs that end a claim have in common: the exact repeat of one gets the first answer again (truth 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.errors import StaleClaim
from baton.domain.events import from_snapshot, snapshot
from baton.domain.idempotency import Remembered
from baton.ports import EndedClaim
from baton.services.change_task import answered, change_task

if TYPE_CHECKING:
    from baton.domain.idempotency import Once
    from baton.domain.verbs import WorkerVerb
    from baton.ports import Baton, Dossier


def end_claim(
    baton: Baton,
    task_id: str,
    verb: WorkerVerb,
    body_hash: str,
    once: Once | None,
    output: Any = None,
    failure: dict[str, Any] | None = None,
) -> Dossier:
    """Raises ``StaleClaim`` for every other use of a claim that is over."""
    fingerprint = f"{verb.name} {verb.by.key} {body_hash}"
    workspace = verb.by.workspace
    try:
        return change_task(
            baton,
            workspace,
            task_id,
            lambda _: verb,
            once,
            output,
            failure,
            also=lambda change: [EndedClaim(verb.claim_id, Remembered(fingerprint, snapshot(change.task)))],
        )
    except StaleClaim:
        first = baton.store.ended_claim(workspace, task_id, verb.claim_id)
        if first is None or first.body_hash != fingerprint:
            raise
        return answered(baton, from_snapshot(first.answer), output, failure)
