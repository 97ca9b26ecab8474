"""The answer to a repeat, from the trail: a request that is one change of one task leaves a receipt in the change's
last entry, and nothing else (docs/what-is-stored.md §2).

The receipt is looked for in the task that the decision is made on, so that a task without one hasn't seen the request.
A request that comes twice at once meets a conflict, and then its receipt."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.idempotency import REMEMBERED_FOR, IdempotencyKey
from baton.domain.tasks import receipts, trail
from baton.domain.tasks.receipts import AskedRequest, Receipt
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.writes import SaveResponse
from baton.steps import idempotency


def asked_under(idempotency_key: IdempotencyKey | None) -> AskedRequest | None:
    """Returns what a change keeps of its request; nothing without a key: then there is no repeat."""
    if idempotency_key is None:
        return None
    return AskedRequest(digest=receipts.asked(idempotency_key.body_hash), key=receipts.name_of(idempotency_key))


def first_receipt(
    deps: Deps, task: Task, idempotency_key: IdempotencyKey | None, command_name: str = ""
) -> Receipt | None:
    """Returns the receipt of the first request under the key; None for a first call. ``command_name``: as
    in ``receipts.asked``. Raises ``KeyReused`` if the first one asked for something else."""
    if idempotency_key is None:
        return None
    since = None if idempotency_key.at is None else idempotency_key.at - REMEMBERED_FOR
    receipt = deps.store.trail.receipt(task, receipts.name_of(idempotency_key), since)
    if receipt is None or receipt.is_over(idempotency_key.at):
        return None
    if receipt.key_asked != receipts.asked(idempotency_key.body_hash, command_name):
        raise errors.KeyReused
    return receipt


def task_after(deps: Deps, task: Task, receipt: Receipt) -> Task:
    """Returns the task as it was after the change that left the receipt. ``task``: as it is now. Reads the trail up to
    there, unless nothing has happened to the task since. Raises ``ValueError`` for a trail that somebody damaged."""
    if receipt.seq == task.meta.seq:
        return task.changed(version=receipt.version)
    then = trail.replay(deps.store.trail.events(task.workspace, task.id, 0, receipt.seq))
    if then.meta.seq != receipt.seq:
        raise ValueError(f"the trail ends at entry {then.meta.seq}")
    return then.changed(version=receipt.version, mirrored=task.meta.mirrored)


def key_beside(idempotency_key: IdempotencyKey | None) -> IdempotencyKey | None:
    """Returns the key if it has an item of its own beside the trail: a refusal may be saved under it, and one of both
    wins."""
    return idempotency_key if idempotency_key is not None and idempotency_key.saves_refusals else None


def empty_response_beside(idempotency_key: IdempotencyKey | None) -> tuple[SaveResponse, ...]:
    """Returns the write that keeps a refusal from being saved under the key. The answer itself is in the trail."""
    return idempotency.save_response(key_beside(idempotency_key), {})
