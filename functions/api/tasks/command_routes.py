"""Humans' commands on a task, and cancelling, which its creator may do too."""

from __future__ import annotations

from api.handoffs import views
from api.tasks.command_requests import (
    ApprovalSeen,
    Cancellation,
    ClaimSeen,
    Deferral,
    Dismissal,
    Resolution,
    SplitRequest,
)
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from baton.services.claims.release_claim import release_claim
from baton.services.handoffs.split_task import split_task
from baton.services.tasks.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.put_off_task import defer_task, dismiss_task
from rest import answers, models, routing
from rest.tasks import views as task_views
from rest.tasks.views import changed_task

routes = routing.Routes()


@routes.post(
    "/tasks/{task_id}/approve",
    body=models.strict(ApprovalSeen),
    answers={200: task_views.ChangedTask},
    only=routing.human(Deed.APPROVE),
)
def approve(deps: Deps, call: routing.Call[ApprovalSeen, None]) -> answers.Answer:
    """Approve a task for its agent; it can be claimed once the undo window is over."""
    return answers.ok(
        changed_task(deps, call.by, approve_task(deps, call.by, call.task_id, call.body.seen, call.idempotency_key))
    )


@routes.post(
    "/tasks/{task_id}/approve-next",
    body=models.strict(ApprovalSeen),
    answers={200: task_views.ChangedTask},
    only=routing.human(Deed.APPROVE),
)
def approve_next(deps: Deps, call: routing.Call[ApprovalSeen, None]) -> answers.Answer:
    """Approve a task for a worker that is at work already: it is claimed by its id, never dispatched."""
    done = approve_task_next(deps, call.by, call.task_id, call.body.seen, call.idempotency_key)
    return answers.ok(changed_task(deps, call.by, done))


@routes.post(
    "/tasks/{task_id}/undo",
    body=models.strict(models.NoFields),
    answers={200: task_views.ChangedTask},
    only=routing.human(Deed.UNDO),
)
def undo(deps: Deps, call: routing.Call[models.NoFields, None]) -> answers.Answer:
    """Take an approval back while its undo window is open."""
    done = undo_approval(deps, call.by, call.task_id, call.idempotency_key)
    return answers.ok(changed_task(deps, call.by, done))


@routes.post(
    "/tasks/{task_id}/defer",
    body=models.strict(Deferral),
    answers={200: task_views.ChangedTask},
    only=routing.human(Deed.DEFER),
)
def defer(deps: Deps, call: routing.Call[Deferral, None]) -> answers.Answer:
    """Put off a task that needs approval: no queue shows it before then."""
    body = call.body
    done = defer_task(deps, call.about(body.seen), body.until)
    return answers.ok(changed_task(deps, call.by, done))


@routes.post(
    "/tasks/{task_id}/dismiss",
    body=models.strict(Dismissal),
    answers={200: task_views.ChangedTask},
    only=routing.human(Deed.DISMISS),
)
def dismiss(deps: Deps, call: routing.Call[Dismissal, None]) -> answers.Answer:
    """Cancel a task that wasn't approved yet."""
    done = dismiss_task(deps, call.by, call.task_id, call.body.reason, call.idempotency_key)
    return answers.ok(changed_task(deps, call.by, done))


@routes.post(
    "/tasks/{task_id}/split",
    body=models.strict(SplitRequest),
    answers={200: views.SplitView},
    only=routing.human(Deed.SPLIT),
)
def split(deps: Deps, call: routing.Call[SplitRequest, None]) -> answers.Answer:
    """Split a task that needs approval into 2 to 10 parts, each to be approved by itself; the whole is cancelled."""
    body = call.body
    messages = [each.message() for each in body.parts]
    whole, parts = split_task(deps, call.about(body.seen), messages)
    return answers.ok(
        {
            "task": changed_task(deps, call.by, whole),
            "parts": [views.handed_off(deps, call.by, each) for each in parts],
        }
    )


@routes.post(
    "/tasks/{task_id}/release-claim",
    body=models.strict(ClaimSeen),
    answers={200: task_views.ChangedTask},
    only=routing.human(Deed.RELEASE_CLAIM),
)
def release_held_claim(deps: Deps, call: routing.Call[ClaimSeen, None]) -> answers.Answer:
    """Take a task back from the worker that holds it: the next claimer goes on, and the attempt doesn't count.

    The worker is told with its next call (409 `stale_claim`), and changes nothing. 409 `claim_changed` if another claim
    than the one that was seen holds the task, 409 `nobody_holds` if none does.
    """
    body = call.body
    done = release_claim(deps, call.about(), body.fence, body.reason)
    return answers.ok(changed_task(deps, call.by, done))


@routes.post(
    "/tasks/{task_id}/resolve",
    body=models.strict(Resolution),
    answers={200: task_views.ChangedTask},
    only=routing.human(Deed.RESOLVE),
)
def resolve(deps: Deps, call: routing.Call[Resolution, None]) -> answers.Answer:
    """End a task whose work was done elsewhere."""
    body = call.body
    done = resolve_task(deps, call.about(), body.output, body.reason)
    return answers.ok(changed_task(deps, call.by, done))


@routes.post("/tasks/{task_id}/cancel", body=models.strict(Cancellation), answers={200: task_views.ChangedTask})
def cancel(deps: Deps, call: routing.Call[Cancellation, None]) -> answers.Answer:
    """Cancel a task and all tasks that descend from it: by a human, or by the principal that created it."""
    done = cancel_task(deps, call.by, call.task_id, call.body.reason, call.idempotency_key)
    return answers.ok(changed_task(deps, call.by, done))
