"""Claiming a task, and all that a worker does under its claim except ending it with a result."""

from __future__ import annotations

from functools import partial

from api.claims import requests
from api.handoffs.checkpoint_views import SavedCheckpoint
from baton.ports.deps import Deps
from baton.services.claims.claim_task import claim_next, claim_task, next_due
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.claims.save_checkpoint import save_checkpoint, save_run_state
from baton.services.tasks.add_note import add_note
from baton.services.tasks.list_tasks import list_held_tasks
from baton.steps.tasks.change_task import task_details
from rest import answers, models, pages, routing
from rest.claims import views as claim_views
from rest.claims.requests import ClaimRequest, NamedClaimRequest, claimer_of, next_claimer
from rest.tasks import trail_views
from rest.tasks import views as task_views

routes = routing.Routes()


@routes.post(
    "/agents/{slug}/claims", body=models.strict(ClaimRequest), answers={200: claim_views.ClaimAnswer, 204: None}
)
def claim_the_next(deps: Deps, call: routing.Call[ClaimRequest, None]) -> answers.Answer:
    """Claim the agent's best ready task, else open work that it is able to do; 204 when there is none.

    A 204 has `Baton-Due-At` if a later task of the agent's own is known: look again at that time."""
    claimed = claim_next(deps, next_claimer(call), call.idempotency_key)
    return answers.ok(claim_views.claim_answer(deps, call.by, claimed)) if claimed else _nothing_yet(deps, call)


def _nothing_yet(deps: Deps, call: routing.Call[ClaimRequest, None]) -> answers.Answer:
    return answers.nothing(next_due(deps, call.by.workspace, call.slug))


@routes.get("/agents/{slug}/claims", query=models.query(models.PageQuery), answers={200: task_views.TaskPage})
def list_held(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """The tasks that the agent holds, each with its `claim`: which worker, since when, until when; no `claim_id`.

    A worker that lost its `claim_id` goes on by `POST /tasks/{task_id}/claim` with `resume_fence`.
    """
    page = list_held_tasks(deps, call.by, call.slug, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, partial(task_views.listed_task, deps, call.by)))


@routes.post("/tasks/{task_id}/claim", body=models.strict(NamedClaimRequest), answers={200: claim_views.ClaimAnswer})
def claim(deps: Deps, call: routing.Call[NamedClaimRequest, None]) -> answers.Answer:
    """Claim one task by its id.

    An agent claims as itself; a service or human with the scope `act_as` for `agent`, by default the task's target. For
    open work they have to name one. With `resume_fence` they go on with a claim of their own whose `claim_id` they have
    lost: of two that resume it one wins, the other gets 409 `claim_changed`.
    """
    claimed = claim_task(deps, claimer_of(deps, call), call.task_id, call.idempotency_key)
    return answers.ok(claim_views.claim_answer(deps, call.by, claimed))


@routes.post(
    "/tasks/{task_id}/heartbeat",
    body=models.strict(requests.Heartbeat),
    answers={200: claim_views.Beat},
    is_idempotent=False,
)
def heartbeat(deps: Deps, call: routing.Call[requests.Heartbeat, None]) -> answers.Answer:
    """Extend the claim to now + lease; it is never shortened. May be repeated freely."""
    renewed = renew_claim(deps, call.by, call.task_id, call.body.claim_id, call.body.lease_seconds)
    return answers.ok(claim_views.beat(renewed))


@routes.post(
    "/tasks/{task_id}/checkpoints", body=models.strict(requests.CheckpointRequest), answers={201: SavedCheckpoint}
)
def checkpoint(deps: Deps, call: routing.Call[requests.CheckpointRequest, None]) -> answers.Answer:
    """Save a state to continue from: shown to the next claimer, and carried over by a retry. It extends the claim."""
    body = call.body
    task, checkpoint_id = save_checkpoint(
        deps,
        call.under(body.claim_id),
        body.step_name,
        body.state,
    )
    shown = task_views.changed_task(deps, call.by, task_details(deps, task))
    return answers.created({"checkpoint_id": checkpoint_id, "step_name": body.step_name, "task": shown})


@routes.post(
    "/tasks/{task_id}/run-state", body=models.strict(requests.RunStateRequest), answers={200: claim_views.SavedRunState}
)
def run_state(deps: Deps, call: routing.Call[requests.RunStateRequest, None]) -> answers.Answer:
    """Replace the saved state of a framework's run. The client's adapters use it.

    Only a later claim of the same agent and principal gets it back. It extends the claim. A checkpoint never replaces
    it."""
    saved = save_run_state(deps, call.under(call.body.claim_id), call.body.state, call.body.signature)
    return answers.ok(claim_views.saved_run_state(saved))


@routes.post("/tasks/{task_id}/notes", body=models.strict(requests.NoteRequest), answers={201: trail_views.NoteView})
def note(deps: Deps, call: routing.Call[requests.NoteRequest, None]) -> answers.Answer:
    """Add a note to the claimed task. It extends the claim, and leaves the content revision as it is."""
    added = add_note(deps, call.under(call.body.claim_id), call.body.text)
    return answers.created(trail_views.note_view(added))


@routes.post(
    "/tasks/{task_id}/release",
    body=models.strict(requests.Release),
    answers={200: task_views.ChangedTask},
    while_off=True,
)
def release(deps: Deps, call: routing.Call[requests.Release, None]) -> answers.Answer:
    """Give the task back undone; the attempt doesn't count.

    It is ready at `not_before`, else at once, and after a pause that grows if it was released before without progress.
    """
    body = call.body
    released = release_task(
        deps,
        call.under(body.claim_id),
        ReleasedWork(reason=body.reason, again_at=body.not_before),
    )
    return answers.ok(task_views.changed_task(deps, call.by, released))
