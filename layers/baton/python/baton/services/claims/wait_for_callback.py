"""A task waits for an answer from outside of Baton: a long research job, a person elsewhere (docs/spec/lifecycle.md
§6)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import CALLBACK, system
from baton.domain.guardrails.guardrails import checked
from baton.domain.handoffs.callback import Callback, callback_of
from baton.domain.numbers import fingerprint
from baton.domain.task_state import State
from baton.domain.tasks import commands
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Wait
from baton.domain.tasks.transitions import transition
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim
from baton.steps.guardrails.apply_guardrails import apply_guardrails
from baton.steps.retrying import retry_on_conflict
from baton.steps.tasks.change_task import commit

DEFAULT_WAIT_SECONDS = 7 * 86_400
MAX_WAIT_SECONDS = 30 * 86_400
# Each wait of a task is three entries of its trail, and costs it no attempt.
MAX_WAITS = 100


def wait_for_callback(
    deps: Deps, call: WorkerCall, interaction_id: str, until: datetime | None = None
) -> tuple[TaskDetails, str]:
    """Returns the task, and the token of the address that takes the one answer. ``until``: at most 30 days ahead, 7 by
    default; after it the task continues without an answer. Raises ``StaleClaim`` and ``TooManyWaits``."""
    by, request = call.by, EndClaimRequest(call=call, command_name=commands.WaitFor.name)
    key = deps.callback_key.get()  # before any write: without the key there is no address for the answer

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        ends = until or now + times.seconds(DEFAULT_WAIT_SECONDS)
        if not now < ends <= now + times.seconds(MAX_WAIT_SECONDS):
            raise errors.InvalidInput("until", "must be in the future, and at most 30 days ahead")
        waits = inputs.parent.task.waits if inputs.parent else 0
        if waits >= MAX_WAITS:
            raise errors.TooManyWaits(call.task_id, MAX_WAITS)
        name = checked({"interaction_id": interaction_id}, inputs.settings.guardrails, "")["interaction_id"]
        wait = Wait(number=waits + 1, since=now, alert_at=ends, interaction_id=name, until=ends)
        return ClaimOutcome(command=commands.WaitFor(by=by, claim_id=call.claim_id, wait=wait))

    details = end_claim(deps, request, decide)
    callback = Callback(by.workspace, call.task_id, details.task.waits)
    return details, callback.token(key)


def answer_unread(deps: Deps, token: str, read: Callable[[], Any]) -> None:
    """Reads the posted content only at a valid address, as anybody may post. Raises the errors of ``answer_callback``
    and ``read``."""
    _callback_at(deps, token)
    answer_callback(deps, token, read())


def answer_callback(deps: Deps, token: str, content: Any) -> None:
    """Gives the posted content to the next claimer. An exact repeat of the accepted answer is accepted too. Raises
    ``Unknown`` for an invalid address, ``CallbackUsed`` and ``GuardrailRefused``."""
    callback = _callback_at(deps, token)

    def attempt() -> None:
        task, _ = deps.store.tasks.load(callback.workspace, callback.task_id)
        if task.state is not State.WAITING or task.wait is None or task.wait.number != callback.wait:
            return _must_be_a_repeat(deps, callback, content)
        now = deps.clock.now()
        # The content is the whole body, so fields are named from its top on.
        checked_content = apply_guardrails(
            deps, callback.workspace, content if isinstance(content, dict) else {"body": content}
        )
        resume_payload = {
            "wait": callback.wait,
            "callback": checked_content if isinstance(content, dict) else checked_content["body"],
            "interaction_id": task.wait.interaction_id,
            "at": times.rfc3339(now),
            "body_hash": fingerprint(content),
        }
        by = system(callback.workspace, CALLBACK)
        commit(
            deps,
            transition(
                task, commands.Resume(by=by, wait=callback.wait, how="callback", resume_payload=resume_payload), now
            ),
        )
        return None

    retry_on_conflict(deps, attempt)


def _callback_at(deps: Deps, token: str) -> Callback:
    """Raises ``Unknown``."""
    callback = callback_of(token, deps.callback_key.get())
    if callback is None:
        raise errors.Unknown("callback")
    return callback


def _must_be_a_repeat(deps: Deps, callback: Callback, content: Any) -> None:
    resume_payload = deps.store.tasks.read(callback.workspace, callback.task_id).resume_payload or {}
    if resume_payload.get("wait") != callback.wait or resume_payload.get("body_hash") != fingerprint(content):
        raise errors.CallbackUsed
