"""A human approves many tasks at once; each gets its own answer (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from dataclasses import dataclass

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import Seen
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.tasks.approve_task import approve_task, approve_task_next
from baton.steps import idempotency
from baton.steps.retrying import retry_on_conflict

MAX_APPROVALS = 25


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One task of the request."""

    task_id: str
    seen: Seen | None = None  # None for the present content
    is_for_next: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalResult:
    """The outcome for one task: the task, or the refusal."""

    task_id: str
    details: TaskDetails | None = None
    refusal: errors.BatonError | None = None


def approve_many(
    deps: Deps, by: Principal, approvals: list[ApprovalRequest], idempotency_key: IdempotencyKey | None = None
) -> tuple[ApprovalResult, ...]:
    """Approves the tasks one after the other, in the order given. A repeat with the same key gets the same answer for
    each, refusals included, and continues with the tasks that the first call didn't get to. Raises ``KeyReused`` before
    anything is approved."""
    by.must_have(Deed.APPROVE)
    if idempotency_key:
        try:
            idempotency.save_first_response(deps, idempotency_key, {"items": len(approvals)})
        except errors.Busy as refusal:
            return tuple(ApprovalResult(each.task_id, refusal=refusal) for each in approvals)
    return tuple(_approved(deps, by, each, _for_item(idempotency_key, number)) for number, each in enumerate(approvals))


def _approved(
    deps: Deps, by: Principal, approval: ApprovalRequest, idempotency_key: IdempotencyKey | None
) -> ApprovalResult:
    approve = approve_task_next if approval.is_for_next else approve_task

    def attempt() -> ApprovalResult:
        try:
            return ApprovalResult(approval.task_id, approve(deps, by, approval.task_id, approval.seen, idempotency_key))
        except errors.Busy:
            raise  # it says nothing about the task, and isn't saved for a repeat
        except errors.BatonError as exc:
            return ApprovalResult(approval.task_id, refusal=_saved_refusal(deps, idempotency_key, exc))

    try:
        return retry_on_conflict(deps, attempt)
    except errors.Busy as refusal:
        return ApprovalResult(approval.task_id, refusal=refusal)


def _saved_refusal(deps: Deps, idempotency_key: IdempotencyKey | None, refusal: errors.BatonError) -> errors.BatonError:
    """Returns the refusal that a repeat gets: another call at the same time may have saved its own first. Raises
    ``Conflict`` if that one has approved the task; the next attempt answers like it."""
    if idempotency_key is None:
        return refusal
    saved = idempotency.saved_so_far(deps, idempotency_key)
    if saved is None:
        deps.store.commit(idempotency_key.principal.workspace, *idempotency.save_refusal(idempotency_key, refusal))
        return refusal
    if idempotency.REFUSED not in saved:
        raise errors.Conflict("idempotency key")
    return errors.refusal_from(**saved[idempotency.REFUSED])


def _for_item(idempotency_key: IdempotencyKey | None, number: int) -> IdempotencyKey | None:
    """The idempotency key of one item, under the caller's key. The body's hash still tells another request from a
    repeat."""
    return (
        None
        if idempotency_key is None
        else IdempotencyKey(
            idempotency_key.principal,
            f"{idempotency_key.route} {number}",
            idempotency_key.key,
            idempotency_key.body_hash,
            idempotency_key.at,
            saves_refusals=True,
        )
    )
