"""A human approves many tasks at once; each gets its own answer (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from baton.domain.errors import BatonError, Busy
from baton.domain.idempotency import Once
from baton.ports import Remember
from baton.services.approve_task import approve_task, approve_task_next
from baton.services.remembered_refusals import told
from baton.services.retrying import decided_again, first_said, recalled

if TYPE_CHECKING:
    from baton.domain.principal import Principal
    from baton.ports import Baton, Dossier

MAX_APPROVALS = 25


@dataclass(frozen=True, slots=True)
class Approval:
    """One task of the request."""

    task_id: str
    revision: int | None = None  # the content that was seen; None for the current one
    is_for_next: bool = False


@dataclass(frozen=True, slots=True)
class Approved:
    """The outcome for one task: the task, or the refusal."""

    task_id: str
    dossier: Dossier | None = None
    refusal: BatonError | None = None


def approve_many(
    baton: Baton, by: Principal, approvals: list[Approval], once: Once | None = None
) -> tuple[Approved, ...]:
    """Approves the tasks one after the other, in the order given. A repeat with the same key gets the same answer for
    each, refusals included, and continues with the tasks that the first call didn't get to. Raises ``KeyReused`` before
    anything is approved."""
    by.must_be_human("approve a task")
    if once:
        try:
            first_said(baton, once, {"items": len(approvals)})
        except Busy as refusal:
            return tuple(Approved(each.task_id, refusal=refusal) for each in approvals)
    return tuple(_approved(baton, by, each, _for_item(once, number)) for number, each in enumerate(approvals))


def _approved(baton: Baton, by: Principal, approval: Approval, once: Once | None) -> Approved:
    approve = approve_task_next if approval.is_for_next else approve_task

    def attempt() -> Approved:
        try:
            return Approved(approval.task_id, approve(baton, by, approval.task_id, approval.revision, once))
        except Busy:
            raise  # it says nothing about the task, and isn't saved for a repeat
        except BatonError as refusal:
            if once and recalled(baton, once) is None:
                baton.store.commit(by.workspace, None, [Remember(once, told(refusal))])
            return Approved(approval.task_id, refusal=refusal)

    try:
        return decided_again(baton.clock, attempt)
    except Busy as refusal:
        return Approved(approval.task_id, refusal=refusal)


def _for_item(once: Once | None, number: int) -> Once | None:
    """The idempotency key of one item, under the caller's key. The body's hash still tells another request from a
    repeat."""
    return None if once is None else Once(once.principal, f"{once.route} {number}", once.key, once.body_hash, once.at)
