"""The repeat of a human's verb under its key gets the first answer from the trail, whatever has become of the task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.idempotency import REMEMBERED_FOR, IdempotencyKey
from baton.domain.task_state import State
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import state_fields
from baton.services.claims.claim_task import claim_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.handoffs.split_task import split_task
from baton.services.tasks.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.put_off_task import defer_task, dismiss_task
from baton.steps.claims.take_task import Claimer
from support.clock import NOON
from support.worlds.world import WORKSPACE, World, agent, human

AUDITOR = agent("auditor")
PARTS = [message_from({"summary": "one"}), message_from({"summary": "two"})]
Verb = Callable[[World, HumanCall], Any]
LATER: datetime = NOON + timedelta(days=2)

VERBS: dict[str, Verb] = {
    "approve": lambda w, c: approve_task(w.deps, c.by, c.task_id, None, c.idempotency_key),
    "approve-next": lambda w, c: approve_task_next(w.deps, c.by, c.task_id, None, c.idempotency_key),
    "undo": lambda w, c: undo_approval(w.deps, c.by, c.task_id, c.idempotency_key),
    "defer": lambda w, c: defer_task(w.deps, c, LATER),
    "dismiss": lambda w, c: dismiss_task(w.deps, c.by, c.task_id, "no", c.idempotency_key),
    "cancel": lambda w, c: cancel_task(w.deps, c.by, c.task_id, "no", c.idempotency_key),
    "resolve": lambda w, c: resolve_task(w.deps, c, {"by": "hand"}),
    "split": lambda w, c: split_task(w.deps, c, PARTS),
}


def needing() -> tuple[World, str]:
    world = World().settle()
    return world, world.needing()


def begun(verb: str) -> tuple[World, HumanCall]:
    world, task_id = needing()
    if verb == "undo":
        approve_task(world.deps, human(), task_id, None)
    key = IdempotencyKey(human(), f"POST /tasks/{task_id}/{verb}", "key-1", "h", world.clock.now())
    return world, HumanCall(human(), task_id, None, key)


def seen(answer: Any) -> Any:
    """An answer as its caller sees it."""
    if isinstance(answer, tuple):
        return [seen(each) for each in answer]
    task = answer.task
    return {
        **state_fields(task),
        "version": task.meta.version,
        "at": task.meta.updated_at,
        "page": task.meta.mirrored,
    }, answer.output


def nothing(world: World, task_id: str) -> None:
    pass


def it_goes_on(world: World, task_id: str) -> None:
    """A human and a worker do something with it, if it may be."""
    task = world.task(task_id)
    if task.is_ended:
        return
    if task.state is State.NEEDS:
        approve_task(world.deps, human(), task_id, None)
    world.clock.advance(300)
    claim = claim_task(world.deps, Claimer(by=AUDITOR, agent="auditor", worker="w"), task_id)
    release_task(world.deps, WorkerCall(AUDITOR, task_id, claim.claim_id, claim.claim_id), ReleasedWork(reason="later"))


def much_happens(world: World, task_id: str) -> None:
    for _ in range(6):
        it_goes_on(world, task_id)
    assert world.task(task_id).meta.has_chunks is not world.task(task_id).is_ended


@pytest.mark.parametrize("meanwhile", [nothing, it_goes_on, much_happens], ids=lambda each: each.__name__)
@pytest.mark.parametrize("verb", VERBS)
def test_the_repeat_gets_the_first_answer_and_leaves_nothing(
    verb: str, meanwhile: Callable[[World, str], None]
) -> None:
    world, call = begun(verb)
    first = VERBS[verb](world, call)
    world.clock.advance(5)
    meanwhile(world, call.task_id)
    before = world.stored()
    for _ in range(2):
        assert seen(VERBS[verb](world, call)) == seen(first)
    assert world.stored() == before
    assert not [key for key in before if "#ONCE#" in key[0]]


@pytest.mark.parametrize("meanwhile", [nothing, much_happens], ids=lambda each: each.__name__)
@pytest.mark.parametrize("verb", VERBS)
def test_another_body_is_refused_and_another_key_is_another_request(
    verb: str, meanwhile: Callable[[World, str], None]
) -> None:
    world, call = begun(verb)
    VERBS[verb](world, call)
    meanwhile(world, call.task_id)
    assert call.idempotency_key
    other_body = replace(call, idempotency_key=replace(call.idempotency_key, body_hash="another"))
    with pytest.raises(errors.KeyReused):
        VERBS[verb](world, other_body)
    others: list[tuple[Principal, dict[str, Any]]] = [(human(), {"key": "key-2"}), (human(name="bob"), {})]
    for by, change in others if meanwhile is nothing else ():
        key = replace(call.idempotency_key, principal=by, **change)
        with pytest.raises((errors.NotAllowed, errors.TaskEnded)) if verb != "defer" else nothing_raised():
            VERBS[verb](world, replace(call, by=by, idempotency_key=key))


class nothing_raised:  # noqa: N801 - reads as a context
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


@pytest.mark.parametrize("meanwhile", [nothing, much_happens], ids=lambda each: each.__name__)
@pytest.mark.parametrize("verb", VERBS)
def test_after_a_week_the_key_is_a_new_one(verb: str, meanwhile: Callable[[World, str], None]) -> None:
    world, call = begun(verb)
    first = VERBS[verb](world, call)
    meanwhile(world, call.task_id)
    at = world.clock.now() + REMEMBERED_FOR
    assert call.idempotency_key
    while_remembered = replace(call.idempotency_key, at=first_at(first) + REMEMBERED_FOR - timedelta(milliseconds=1))
    assert seen(VERBS[verb](world, replace(call, idempotency_key=while_remembered))) == seen(first)
    before = world.task(call.task_id)
    world.clock.advance(REMEMBERED_FOR.total_seconds())
    again = replace(call, idempotency_key=replace(call.idempotency_key, at=at))
    try:
        changed = VERBS[verb](world, again)
    except (errors.NotAllowed, errors.TaskEnded, errors.UndoWindowOver, errors.InvalidInput):
        assert world.task(call.task_id) == before
    else:  # it is done anew, and the key answers with that
        assert world.task(call.task_id).meta.seq > before.meta.seq
        assert seen(VERBS[verb](world, again)) == seen(changed)


def first_at(answer: Any) -> Any:
    task: Task = answer[0].task if isinstance(answer, tuple) else answer.task
    return task.meta.updated_at.replace(microsecond=0)


def test_a_key_that_is_used_anew_is_answered_with_the_latest_of_its_changes_also_from_chunks() -> None:
    world, call = begun("approve")
    VERBS["approve"](world, call)
    much_happens(world, call.task_id)
    world.clock.advance(REMEMBERED_FOR.total_seconds())
    while world.task(call.task_id).state is not State.NEEDS:
        it_goes_on(world, call.task_id)
    assert call.idempotency_key
    again = replace(call, idempotency_key=replace(call.idempotency_key, at=world.clock.now()))
    second = VERBS["approve"](world, again)
    world.clock.advance(5)
    for _ in range(6):
        it_goes_on(world, call.task_id)
    assert seen(VERBS["approve"](world, again)) == seen(second)


def test_without_a_key_nothing_is_kept_of_a_humans_request() -> None:
    world, call = begun("approve")
    VERBS["approve"](world, replace(call, idempotency_key=None))
    assert not any("asked" in entry or "key" in entry for entry in world.task(call.task_id).meta.tail)


def test_a_verb_that_meets_its_own_repeat_is_done_once() -> None:
    """The repeat is decided on the same task as the first call, and committed after it."""
    world, call = begun("approve")
    store = world.store
    first: list[Any] = []
    commit = store.commit

    def overtaken(workspace: str, *writes: Any) -> None:
        if not first:
            first.append(None)
            first[0] = VERBS["approve"](world, call)
        commit(workspace, *writes)

    store.commit = overtaken  # type: ignore[method-assign]
    second = VERBS["approve"](world, call)
    assert seen(second) == seen(first[0])
    assert world.trail(call.task_id).count("approved") == 1


def test_no_receipt_is_public() -> None:
    world, call = begun("approve")
    VERBS["approve"](world, call)
    events = world.store.trail.events(WORKSPACE, call.task_id, 0, 10)
    assert {name for each in events for name in each.public()} == {
        *("seq", "at", "type", "principal", "fence", "data", "prev_hash", "hash")
    }
