"""One approval of many comes twice at once, and the task changes in between."""

from __future__ import annotations

import pytest

from baton.domain.idempotency import IdempotencyKey
from baton.services.tasks.approve_many import ApprovalRequest, approve_many
from baton.services.tasks.approve_task import undo_approval
from baton.services.tasks.end_task import cancel_task
from support.faults.call_hooks import CallHooks
from support.worlds.world import World, human

ASKED = 12


@pytest.mark.parametrize("number", range(1, ASKED))
def test_both_are_told_the_same_refusal_whenever_the_second_comes(number: int) -> None:
    store = CallHooks()
    world = World(store=store).settle()
    task_id, told = world.claimed().details.task.id, list[str]()
    key, asked = IdempotencyKey(human(), "/approvals", "key-1", "h"), [ApprovalRequest(task_id)]

    def ended_and_asked_again() -> None:
        cancel_task(world.deps, human(), task_id, "no")
        told.append(type(approve_many(world.deps, human(), asked, key)[0].refusal).__name__)

    store.begin_at(number, ended_and_asked_again, when="before")
    first = approve_many(world.deps, human(), asked, key)[0].refusal
    assert told in ([], [type(first).__name__])


@pytest.mark.parametrize("number", range(1, ASKED))
def test_both_are_told_that_it_is_approved_where_the_second_could(number: int) -> None:
    """The first came too early: it was approved already, and that was undone."""
    store = CallHooks()
    world = World(store=store).settle()
    task_id, told = world.needing(), list[bool]()
    key, asked = IdempotencyKey(human(), "/approvals", "key-1", "h"), [ApprovalRequest(task_id)]
    approve_many(world.deps, human(), asked)

    def undone_and_asked_again() -> None:
        undo_approval(world.deps, human(), task_id)
        told.append(approve_many(world.deps, human(), asked, key)[0].details is not None)

    store.begin_at(number, undone_and_asked_again, when="before")
    first = approve_many(world.deps, human(), asked, key)[0]
    assert told in ([], [first.details is not None])
