"""Claims the next task for a worker that ends a claim, with the same request (docs/spec/lifecycle.md §3)."""

from __future__ import annotations

from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import DEFAULT_LEASE_SECONDS
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.claims.claim_task import claim_if_any
from baton.steps.agents.mark_contact import mark_contact
from baton.steps.claims.take_task import Claimed, Claimer

# Events of the ended task among which its claim is looked for.
LOOKS_BACK = 100


def claim_following(deps: Deps, call: WorkerCall, ended: TaskDetails) -> Claimed | None:
    """Claims the best ready task for whoever held the claim that ``call`` ended: the same agent, worker and lease.

    The exact repeat of the call gets the same claim while it lives, whichever of the two writes the first call came to:
    the ended claim's id is the second one's idempotency key. Returns None if there is no work or the claim is refused,
    and for a repeat whose claim is over: the end has happened, and no refusal may hide it. Raises ``Busy`` and
    ``Conflict`` alone, after which a repeat finds whatever was claimed.
    """
    claimer = _claimer(deps, call.by, ended)
    now = deps.clock.now()
    idempotency_key = IdempotencyKey(call.by, f"/tasks/{call.task_id}/next", call.claim_id, call.body_hash, now)
    try:
        claimed = claim_if_any(deps, claimer, idempotency_key)
    except (errors.Busy, errors.Conflict):
        raise
    except errors.BatonError:
        return None
    mark_contact(deps, claimer.by, claimer.agent, has_work=claimed is not None)
    return claimed


def _claimer(deps: Deps, by: Principal, ended: TaskDetails) -> Claimer:
    task, claim = ended.task, ended.ended_claim
    if claim is not None:
        return Claimer(by=by, agent=claim.agent, worker=claim.worker, lease_seconds=claim.lease_seconds)
    events = deps.store.trail.events(task.workspace, task.id, max(0, task.meta.seq - LOOKS_BACK), LOOKS_BACK)
    claims = (event.data["changes"].get("claim") for event in events if event.fence == task.fence)
    found: dict[str, Any] = next((each for each in claims if each), {})
    return Claimer(
        by=by,
        agent=found.get("agent") or task.agent or by.id,
        worker=found.get("worker", by.id),
        lease_seconds=int(found.get("lease_seconds", DEFAULT_LEASE_SECONDS)),
    )
