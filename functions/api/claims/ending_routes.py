"""The ways in which workers end a claim: done, failed, rejected, transferred, or waiting."""

from __future__ import annotations

from api.claims.callback_views import WaitingTask
from api.claims.requests import (
    CallbackWait,
    CompletionRequest,
    DelegationRequest,
    FailureReport,
    Rejection,
    TransferRequest,
)
from baton.domain.tasks.task import JoinRule
from baton.ports.deps import Deps
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.delegate_task import delegate_task
from baton.services.claims.fail_task import FailedWork, fail_task, reject_task
from baton.services.claims.transfer_task import transfer_task
from baton.services.claims.wait_for_callback import wait_for_callback
from rest.answers import Answer, ok
from rest.models import strict
from rest.routing import Call, Routes
from rest.tasks.views import ChangedTask, CompletedTask, FailedTask, changed_task, completed_task, failed_task, when

routes = Routes()


@routes.post("/tasks/{task_id}/complete", body=strict(CompletionRequest), answers={200: CompletedTask})
def complete(deps: Deps, call: Call[CompletionRequest, None]) -> Answer:
    """Complete the task. An exact repeat gets the first answer again.

    Refused (422 `criteria_unreported`, with the `criteria`) while the report of an acceptance criterion is missing; a
    report that isn't `met` makes the completion a `partial` one. An envelope (`handoff_id`, `source`, `status`) that
    contradicts the task or the claim is refused. The agent that handed it off finds the result in its inbox.
    """
    body = call.body
    done = complete_task(
        deps,
        call.under(body.claim_id),
        CompletedWork(output=body.output, completion=body.message(), envelope=body.envelope()),
    )
    return ok(completed_task(deps, done))


@routes.post("/tasks/{task_id}/fail", body=strict(FailureReport), answers={200: FailedTask}, while_off=True)
def fail(deps: Deps, call: Call[FailureReport, None]) -> Answer:
    """Report that the task could not be done: it is retried if `retryable` and attempts remain, else it has failed.

    A failed task is rolled back: to `rollback_request.target_agent`, else to the agent that the handoff names.
    `rollback` is the result.
    """
    body = call.body
    failed = fail_task(
        deps,
        call.under(body.claim_id),
        FailedWork(
            failure=body.failure.given(),
            retryable=body.retryable,
            rollback_request=body.asked_back(),
            envelope=body.envelope(),
        ),
    )
    return ok(failed_task(deps, failed))


@routes.post("/tasks/{task_id}/reject", body=strict(Rejection), answers={200: FailedTask})
def reject(deps: Deps, call: Call[Rejection, None]) -> Answer:
    """Refuse the task: it ends as rejected, and is rolled back as a failed one is."""
    body = call.body
    rejected = reject_task(
        deps,
        call.under(body.claim_id),
        body.reason,
        rollback_request=body.asked_back(),
    )
    return ok(failed_task(deps, rejected))


@routes.post("/tasks/{task_id}/transfer", body=strict(TransferRequest), answers={200: ChangedTask})
def transfer(deps: Deps, call: Call[TransferRequest, None]) -> Answer:
    """Transfer the task: it is done, and a new task with the same expectations continues it (`successors`).

    A tripped loop guard refuses with 409 `loop_guard` and leaves the task as it was.
    """
    body = call.body
    done = transfer_task(deps, call.under(body.claim_id), body.message())
    return ok(changed_task(deps, done))


@routes.post("/tasks/{task_id}/delegate", body=strict(DelegationRequest), answers={200: ChangedTask})
def delegate(deps: Deps, call: Call[DelegationRequest, None]) -> Answer:
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
    return ok(changed_task(deps, waiting))


@routes.post("/tasks/{task_id}/wait-callback", body=strict(CallbackWait), answers={200: WaitingTask})
def wait_for_a_callback(deps: Deps, call: Call[CallbackWait, None]) -> Answer:
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
    callback = {"url": url, "interaction_id": body.interaction_id, "until": when(until)}
    return ok({**changed_task(deps, details), "callback": callback})
