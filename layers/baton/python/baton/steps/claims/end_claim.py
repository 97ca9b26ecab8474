"""The steps that the commands ending a claim share. The exact repeat of a command gets the first answer again
(invariant 3). A result that comes too late is refused, and kept outside of the trail."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.guardrails.guardrails import MASK, MAX_ITEMS, Guardrails, checked
from baton.domain.handoffs.workflow import ClaimLateResult, LateResult
from baton.domain.tasks import commands, receipts
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.change import Change
from baton.domain.tasks.digests import outcome_digest
from baton.domain.tasks.receipts import AskedRequest, Receipt
from baton.domain.tasks.tail import EndedClaim
from baton.domain.tasks.task import Task
from baton.domain.tasks.task_items import TaskOutput
from baton.domain.tasks.transitions import transition
from baton.ports.deps import Deps
from baton.ports.details import Json, TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.ports.writes import Insert, Write
from baton.steps import idempotency
from baton.steps.access.read_rights import knows_claim, refused_as_unknown
from baton.steps.agents.kill_switch import must_be_let_act
from baton.steps.handoffs.begin_handoff import NewHandoff
from baton.steps.retrying import attempts, retry_on_conflict, too_many_changes
from baton.steps.tasks import trail_answers
from baton.steps.tasks.change_task import commit, page_sync_of


@dataclass(frozen=True, slots=True, kw_only=True)
class EndClaimRequest:
    """A worker's request to end its claim."""

    call: WorkerCall
    command_name: str
    payload: dict[str, Any] = field(default_factory=dict)  # the part that is kept if the request comes too late
    extra_writes: tuple[Write, ...] = ()  # writes, committed with whatever the outcome is
    while_off: bool = False  # also accepted from an agent that is switched off

    @property
    def digest(self) -> str:
        return receipts.asked(self.call.body_hash, self.command_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOutcome:
    """The outcome of a request to end a claim."""

    command: commands.WorkerCommand
    output: Json = None  # saved, and part of the answer
    completion: dict[str, Any] | None = None  # saved, and part of the answer
    failure: dict[str, Any] | None = None  # saved, and part of the answer
    # the fields of a failure that Baton added; the repeat of one that is tried again is answered with them
    computed: dict[str, Any] = field(default_factory=dict)
    children: tuple[NewHandoff, ...] = ()  # new handoffs that follow from it
    extras: tuple[Write, ...] = ()


def end_claim(
    deps: Deps,
    request: EndClaimRequest,
    decide: Callable[[HandoffInputs, datetime], ClaimOutcome],
    query: HandoffQuery | None = None,
) -> TaskDetails:
    """Ends the claim that ``request`` names. ``decide`` gets the task in its present state, and the other items that
    ``query`` names. Raises ``StaleClaim`` for every other request under a claim that is over, and the errors of
    ``decide``."""
    by, key = request.call.by, trail_answers.key_beside(request.call.idempotency_key)
    wanted = replace(query or HandoffQuery(), parent_id=request.call.task_id, idempotency_key=key)
    with refused_as_unknown(deps, by, request.call.task_id, unless=knows_claim(request.call.claim_id)):
        try:
            for attempt in attempts(deps):
                with attempt:
                    inputs = deps.store.handoffs.handoff_inputs(by.workspace, wanted)
                    idempotency.was_answered(key, inputs.saved_response)
                    return _decided(deps, request, inputs, decide)
            raise too_many_changes()
        except errors.BatonError as error:
            # The look at the key may have come before the first call's commit, and the decision after it.
            was_answered = key is not None and idempotency.was_answered(key, deps.store.saved_response(key))
            if not was_answered and not isinstance(error, errors.StaleClaim):
                raise
            return _replay_or_stale(deps, request)


def _decided(
    deps: Deps,
    request: EndClaimRequest,
    inputs: HandoffInputs,
    decide: Callable[[HandoffInputs, datetime], ClaimOutcome],
) -> TaskDetails:
    task = inputs.held.task
    receipt = trail_answers.first_receipt(deps, task, request.call.idempotency_key, request.command_name)
    if receipt is not None:
        return _replayed(deps, request, task, receipt)
    claim = task.current_claim(request.call.claim_id, request.call.by)
    if not request.while_off:
        must_be_let_act(deps, request.call.by, claim.agent)
    now = deps.clock.now()
    outcome = decide(inputs, now)
    change = _asked_for(request, transition(task, _with_digest(outcome), now), outcome.computed)
    if outcome.output is not None or outcome.completion:
        change = replace(change, output=TaskOutput(outcome.output, outcome.completion))
    commit(deps, change, *_written_beside(request, outcome))
    return TaskDetails(
        task=change.task,
        output=outcome.output,
        completion=outcome.completion,
        failure=outcome.failure or _earlier_failure(deps, change.task),
        page_sync=page_sync_of(deps, change.task),
        ended_claim=replace(claim, claim_id=""),
    )


def _with_digest(outcome: ClaimOutcome) -> commands.WorkerCommand:
    """Returns the command with the digest of what is saved with it."""
    if isinstance(outcome.command, commands.Complete | commands.Transfer):
        return replace(outcome.command, output_digest=outcome_digest(outcome.output, outcome.completion))
    return outcome.command


def _written_beside(request: EndClaimRequest, outcome: ClaimOutcome) -> list[Write]:
    """Returns all that is committed with the task itself."""
    begun = [write for child in outcome.children for write in child.writes]
    no_refusal = trail_answers.empty_response_beside(request.call.idempotency_key)
    return [*outcome.extras, *request.extra_writes, *begun, *no_refusal]


def _asked_for(request: EndClaimRequest, change: Change, computed: dict[str, Any]) -> Change:
    """Returns the change with its request, by which the repeat is known. The failure of an ended task is stored whole;
    of another one, what Baton added is kept, as far as the event doesn't tell it."""
    claim, left = change.ended_claim, {}
    if computed and claim is not None and not change.task.is_ended:
        left = receipts.not_told(computed, change.events[-1], change.task, claim.agent)
    asked, key = AskedRequest(digest=request.digest, computed=left), request.call.idempotency_key
    if key is not None:
        digest = receipts.asked(key.body_hash, request.command_name)
        asked = replace(asked, key=receipts.name_of(key), key_digest=digest)
    return replace(change, asked=asked)


def _earlier_failure(deps: Deps, task: Task) -> dict[str, Any] | None:
    """The failure of an earlier attempt. Read from the store, as it is rare."""
    if task.is_done or not task.has_failure:
        return None
    return deps.store.tasks.read(task.workspace, task.id).failure


def _replay_or_stale(deps: Deps, request: EndClaimRequest) -> TaskDetails:
    """Returns the first answer for the exact repeat of the request that ended the claim. Raises ``StaleClaim``
    otherwise."""
    call = request.call
    task, _ = deps.store.tasks.load(call.by.workspace, call.task_id)
    receipt = deps.store.trail.receipt(task, call.claim_id)
    ended = None if receipt is None else receipt.ended
    if receipt is None or ended is None or ended.claim_id != call.claim_id or ended.principal != call.by.key:
        raise errors.StaleClaim(call.task_id)
    if not ended.by_holder and request.payload:
        _keep_late(deps, request, ended)
    if not ended.by_holder or receipt.asked != request.digest or receipt.is_over(deps.clock.now()):
        raise errors.StaleClaim(call.task_id)
    return _replayed(deps, request, task, receipt)


def _keep_late(deps: Deps, request: EndClaimRequest, claim: EndedClaim) -> None:
    """Keeps the first late result under the claim; a repeat is only refused. The workspace's settings aren't read:
    secrets are always masked. If the guardrails refuse the payload, the result is kept without it."""
    try:
        payload = checked(request.payload, Guardrails(secrets=MASK, max_items=MAX_ITEMS), "")
    except errors.GuardrailRefused as refusal:
        payload = {"left_out": refusal.rule}
    result = LateResult(claim.fence, claim.agent, deps.clock.now(), request.command_name, payload)
    extras = [Insert(ClaimLateResult(request.call.task_id, request.call.claim_id, result), errors.KeyTaken)]

    def attempt() -> None:
        with suppress(errors.KeyTaken):
            deps.store.commit(request.call.by.workspace, *extras)

    retry_on_conflict(deps, attempt)


def _replayed(deps: Deps, request: EndClaimRequest, now: Task, receipt: Receipt) -> TaskDetails:
    """Returns the first answer. The items of an ended task don't change, so they are read from the store. For a task
    that isn't ended, the failure is taken from this repeat."""
    task, computed = trail_answers.task_after(deps, now, receipt), receipt.computed
    if task.is_ended:
        items = deps.store.tasks.read(task.workspace, task.id)
        return TaskDetails(
            task=task,
            output=items.output,
            completion=items.completion,
            failure=items.failure,
            page_sync=page_sync_of(deps, task),
        )
    failure = {**request.payload, **computed} if computed else _earlier_failure(deps, task)
    return TaskDetails(task=task, failure=failure, page_sync=page_sync_of(deps, task))
