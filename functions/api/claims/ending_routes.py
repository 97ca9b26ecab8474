"""The ways in which workers end a claim: done, failed, rejected, transferred, or waiting."""

from __future__ import annotations

from typing import Any

from api.claims import ending_views, requests
from api.claims.callback_views import WaitingTask
from baton.domain.tasks.task import JoinRule
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.claims.claim_following import claim_following
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.delegate_task import delegate_task
from baton.services.claims.fail_task import FailedWork, fail_task, reject_task
from baton.services.claims.transfer_task import transfer_task
from baton.services.claims.wait_for_callback import wait_for_callback
from rest import answers, models, routing
from rest.claims.views import claim_answer
from rest.tasks import views as task_views

routes = routing.Routes()


@routes.post(
    "/tasks/{task_id}/complete",
    body=models.strict(requests.CompletionRequest),
    answers={200: ending_views.CompletedAndNext},
)
def complete(deps: Deps, call: routing.Call[requests.CompletionRequest, None]) -> answers.Answer:
    """Complete the task, and claim the next one if `claim_next` is true. An exact repeat gets the first answer again.

    Refused (422 `criteria_unreported`, with the `criteria`) while the report of an acceptance criterion is missing; a
    report that isn't `met` makes the completion a `partial` one. An envelope (`handoff_id`, `source`, `status`) that
    contradicts the task or the claim is refused. The agent that handed it off finds the result in its inbox.
    """
    body = call.body
    work = CompletedWork(output=body.output, completion=body.message(), envelope=body.envelope())
    done = complete_task(deps, call.under(body.claim_id), work)
    return answers.ok({**task_views.completed_task(deps, call.by, done), **_next_claim(deps, call, done)})


@routes.post(
    "/tasks/{task_id}/fail",
    body=models.strict(requests.FailureReport),
    answers={200: ending_views.FailedAndNext},
    while_off=True,
)
def fail(deps: Deps, call: routing.Call[requests.FailureReport, None]) -> answers.Answer:
    """Report that the task could not be done: it is retried if `retryable` and attempts remain, else it has failed.

    A failed task is rolled back: to `rollback_request.target_agent`, else to the agent that the handoff names.
    `rollback` is the result.
    """
    body = call.body
    work = FailedWork(
        failure=body.failure.given(),
        retryable=body.retryable,
        rollback_request=body.asked_back(),
        envelope=body.envelope(),
    )
    failed = fail_task(deps, call.under(body.claim_id), work)
    return answers.ok({**task_views.failed_task(deps, call.by, failed), **_next_claim(deps, call, failed)})


def _next_claim(deps: Deps, call: routing.Call[Any, None], ended: TaskDetails) -> ending_views.WithNext:
    if not call.body.claim_next:
        return {}
    claimed = claim_following(deps, call.under(call.body.claim_id), ended)
    return {"next_claim": claim_answer(deps, call.by, claimed) if claimed else None}


@routes.post("/tasks/{task_id}/reject", body=models.strict(requests.Rejection), answers={200: task_views.FailedTask})
def reject(deps: Deps, call: routing.Call[requests.Rejection, None]) -> answers.Answer:
    """Refuse the task: it ends as rejected, and is rolled back as a failed one is."""
    body = call.body
    rejected = reject_task(
        deps,
        call.under(body.claim_id),
        body.reason,
        rollback_request=body.asked_back(),
    )
    return answers.ok(task_views.failed_task(deps, call.by, rejected))


@routes.post(
    "/tasks/{task_id}/transfer", body=models.strict(requests.TransferRequest), answers={200: task_views.ChangedTask}
)
def transfer(deps: Deps, call: routing.Call[requests.TransferRequest, None]) -> answers.Answer:
    """Transfer the task: it is done, and a new task with the same expectations continues it (`successors`).

    A tripped loop guard refuses with 409 `loop_guard` and leaves the task as it was.
    """
    body = call.body
    done = transfer_task(deps, call.under(body.claim_id), body.message())
    return answers.ok(task_views.changed_task(deps, call.by, done))


@routes.post(
    "/tasks/{task_id}/delegate", body=models.strict(requests.DelegationRequest), answers={200: task_views.ChangedTask}
)
def delegate(deps: Deps, call: routing.Call[requests.DelegationRequest, None]) -> answers.Answer:
    """Delegate parts of the task to other agents and wait for their results.

    The claim is over, and the task continues later. All branches are created, or none. The next claimer gets their
    `results`.
    """
    body = call.body
    waiting = delegate_task(
        deps,
        call.under(body.claim_id),
        body.messages(),
        JoinRule(body.join.policy, body.join.quorum),
    )
    return answers.ok(task_views.changed_task(deps, call.by, waiting))


@routes.post("/tasks/{task_id}/wait-callback", body=models.strict(requests.CallbackWait), answers={200: WaitingTask})
def wait_for_a_callback(deps: Deps, call: routing.Call[requests.CallbackWait, None]) -> answers.Answer:
    """Give up the claim until something outside of Baton answers, once, at the secret `callback.url`.

    The next claimer gets the posted value as `callback`. A repeat answers with the same address.
    """
    body = call.body
    details, token = wait_for_callback(
        deps,
        call.under(body.claim_id),
        body.interaction_id,
        body.until,
    )
    until = details.task.wait.until if details.task.wait else None
    url = f"{deps.public_url}/callbacks/{token}"
    callback = {"url": url, "interaction_id": body.interaction_id, "until": task_views.when(until)}
    return answers.ok({**task_views.changed_task(deps, call.by, details), "callback": callback})
