"""Claiming a task, and all that a worker does under its claim except ending it with a result."""

from __future__ import annotations

from api.claims.requests import CheckpointRequest, Heartbeat, NoteRequest, Release
from api.handoffs.checkpoint_views import SavedCheckpoint
from baton.ports.deps import Deps
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.tasks.add_note import add_note
from baton.steps.tasks.change_task import task_details
from rest.answers import Answer, created, nothing, ok
from rest.claims.requests import ClaimRequest, claimer_of, next_claimer
from rest.claims.views import Beat, ClaimAnswer, beat, claim_answer
from rest.models import strict
from rest.routing import Call, Routes
from rest.tasks.trail_views import NoteView, note_view
from rest.tasks.views import ChangedTask, changed_task

routes = Routes()


@routes.post("/agents/{slug}/claims", body=strict(ClaimRequest), answers={200: ClaimAnswer, 204: None})
def claim_the_next(deps: Deps, call: Call[ClaimRequest, None]) -> Answer:
    """Claim the agent's best ready task, else open work that it is able to do; 204 when there is none."""
    claimed = claim_next(deps, next_claimer(call), call.idempotency_key)
    return ok(claim_answer(deps, claimed)) if claimed else nothing()


@routes.post("/tasks/{task_id}/claim", body=strict(ClaimRequest), answers={200: ClaimAnswer})
def claim(deps: Deps, call: Call[ClaimRequest, None]) -> Answer:
    """Claim one task by its id.

    An agent claims as itself; a service or human with the scope `act_as` for `agent`, by default the task's target. For
    open work they have to name one.
    """
    return ok(claim_answer(deps, claim_task(deps, claimer_of(deps, call), call.task_id, call.idempotency_key)))


@routes.post("/tasks/{task_id}/heartbeat", body=strict(Heartbeat), answers={200: Beat}, is_idempotent=False)
def heartbeat(deps: Deps, call: Call[Heartbeat, None]) -> Answer:
    """Extend the claim to now + lease; it is never shortened. May be repeated freely."""
    return ok(beat(renew_claim(deps, call.by, call.task_id, call.body.claim_id, call.body.lease_seconds)))


@routes.post("/tasks/{task_id}/checkpoints", body=strict(CheckpointRequest), answers={201: SavedCheckpoint})
def checkpoint(deps: Deps, call: Call[CheckpointRequest, None]) -> Answer:
    """Save a state to continue from: shown to the next claimer, and carried over by a retry."""
    body = call.body
    task, checkpoint_id = save_checkpoint(
        deps,
        call.under(body.claim_id),
        body.step_name,
        body.state,
    )
    shown = changed_task(deps, task_details(deps, task))
    return created({"checkpoint_id": checkpoint_id, "step_name": body.step_name, "task": shown})


@routes.post("/tasks/{task_id}/notes", body=strict(NoteRequest), answers={201: NoteView})
def note(deps: Deps, call: Call[NoteRequest, None]) -> Answer:
    """Add a note to the claimed task. It changes neither the task nor its content revision."""
    return created(
        note_view(
            add_note(
                deps,
                call.under(call.body.claim_id),
                call.body.text,
            )
        )
    )


@routes.post("/tasks/{task_id}/release", body=strict(Release), answers={200: ChangedTask}, while_off=True)
def release(deps: Deps, call: Call[Release, None]) -> Answer:
    """Give the task back undone; the attempt doesn't count."""
    body = call.body
    released = release_task(
        deps,
        call.under(body.claim_id),
        ReleasedWork(reason=body.reason),
    )
    return ok(changed_task(deps, released))
