"""What workers do: claim a task, stay alive, end the claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from baton.services.claim_task import claim_next, claim_task
from baton.services.complete_task import complete_task
from baton.services.fail_task import fail_task
from baton.services.release_task import release_task
from baton.services.renew_claim import renew_claim
from rest.answers import Answer, nothing, ok
from rest.claims import ClaimRequest, claimer_of, next_claimer
from rest.models import Body, Id, LeaseSeconds, Reason, strict
from rest.routing import Call, Routes
from rest.task_views import Beat, ChangedTask, ClaimAnswer, beat, changed_task, claim_answer

if TYPE_CHECKING:
    from baton.ports import Baton

routes = Routes()

MAX_FAILURE_DESCRIPTION = 2_000


class Heartbeat(Body):
    """``lease_seconds``: from now; left out, as long as the claim's."""

    claim_id: Id
    lease_seconds: LeaseSeconds | None = None


class Completion(Body):
    claim_id: Id
    output: Any = None


class Failure(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    type: Literal["blocker", "error", "timeout", "validation", "capability"]
    description: Annotated[str, StringConstraints(min_length=1, max_length=MAX_FAILURE_DESCRIPTION)]


class FailureReport(Body):
    """``retryable``: tried again with backoff while attempts remain."""

    claim_id: Id
    failure: Failure
    retryable: bool = False


class Release(Body):
    claim_id: Id
    reason: Reason | None = None


@routes.post("/agents/{slug}/claims", body=strict(ClaimRequest), answers={200: ClaimAnswer, 204: None})
def claim_the_next(baton: Baton, call: Call[ClaimRequest, None]) -> Answer:
    """Claim the agent's best ready task; 204 when there is none."""
    claimed = claim_next(baton, next_claimer(call), call.once)
    return ok(claim_answer(baton, claimed)) if claimed else nothing()


@routes.post("/tasks/{task_id}/claim", body=strict(ClaimRequest), answers={200: ClaimAnswer})
def claim(baton: Baton, call: Call[ClaimRequest, None]) -> Answer:
    """Claim one task by its id.

    An agent claims as itself; a service or human with the scope `act_as` for `agent`, by default the task's target.
    """
    return ok(claim_answer(baton, claim_task(baton, claimer_of(baton, call), call.task_id, call.once)))


@routes.post("/tasks/{task_id}/heartbeat", body=strict(Heartbeat), answers={200: Beat}, is_idempotent=False)
def heartbeat(baton: Baton, call: Call[Heartbeat, None]) -> Answer:
    """Extend the claim to now + lease; it is never shortened. May be repeated freely."""
    return ok(beat(renew_claim(baton, call.by, call.task_id, call.body.claim_id, call.body.lease_seconds)))


@routes.post("/tasks/{task_id}/complete", body=strict(Completion), answers={200: ChangedTask})
def complete(baton: Baton, call: Call[Completion, None]) -> Answer:
    """The task is done. Its exact repeat gets the first answer again."""
    asked = call.body
    done = complete_task(baton, call.by, call.task_id, asked.claim_id, asked.output, call.body_hash, call.once)
    return ok(changed_task(baton, done))


@routes.post("/tasks/{task_id}/fail", body=strict(FailureReport), answers={200: ChangedTask})
def fail(baton: Baton, call: Call[FailureReport, None]) -> Answer:
    """The task could not be done: it is tried again if `retryable` and attempts remain, else it has failed."""
    asked = call.body
    failed = fail_task(
        baton,
        call.by,
        call.task_id,
        asked.claim_id,
        asked.failure.model_dump(),
        call.body_hash,
        retryable=asked.retryable,
        once=call.once,
    )
    return ok(changed_task(baton, failed))


@routes.post("/tasks/{task_id}/release", body=strict(Release), answers={200: ChangedTask})
def release(baton: Baton, call: Call[Release, None]) -> Answer:
    """Give the task back undone; the attempt doesn't count."""
    asked = call.body
    released = release_task(baton, call.by, call.task_id, asked.claim_id, asked.reason, call.body_hash, call.once)
    return ok(changed_task(baton, released))
