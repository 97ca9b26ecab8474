"""A worker that lost its claim changes nothing any more; the exact repeat of its last word gets the same answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.errors import KeyReused, StaleClaim, Unknown
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.ports.details import TaskDetails
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.sweep import sweep
from support.values.tasks import ACTING_SERVICE
from support.worlds.world import WORKSPACE, World, agent, human

AUDITOR = agent("auditor")
BROKE = {"type": "error", "description": "first"}

Verb = Callable[..., Any]


def complete(
    world: World,
    task_id: str,
    claim_id: str,
    by: Principal = AUDITOR,
    said: str = "h",
    idempotency_key: IdempotencyKey | None = None,
) -> TaskDetails:
    return complete_task(
        world.deps, WorkerCall(by, task_id, claim_id, said, idempotency_key), CompletedWork(output={"said": said})
    )


def fail(
    world: World,
    task_id: str,
    claim_id: str,
    by: Principal = AUDITOR,
    said: str = "h",
    idempotency_key: IdempotencyKey | None = None,
) -> TaskDetails:
    failure = {"type": "error", "description": said}
    return fail_task(
        world.deps,
        WorkerCall(by, task_id, claim_id, said, idempotency_key),
        FailedWork(failure=failure, retryable=True),
    )


def release(
    world: World,
    task_id: str,
    claim_id: str,
    by: Principal = AUDITOR,
    said: str = "h",
    idempotency_key: IdempotencyKey | None = None,
) -> TaskDetails:
    return release_task(world.deps, WorkerCall(by, task_id, claim_id, said, idempotency_key), ReleasedWork(reason=said))


def heartbeat(world: World, task_id: str, claim_id: str, by: Principal = AUDITOR, said: str = "h") -> Any:
    return renew_claim(world.deps, by, task_id, claim_id)


ENDINGS = {"complete": complete, "fail": fail, "release": release}
VERBS = {**ENDINGS, "heartbeat": heartbeat}


@pytest.fixture
def lost(world: World) -> tuple[World, str, str]:
    """A worker slept through its lease; the sweeper has given its task back."""
    claimed = world.claimed()
    world.clock.advance(300)
    sweep(world.deps)
    return world, claimed.details.task.id, claimed.claim_id


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_worker_that_wakes_after_its_lease_is_refused_and_changes_nothing(lost: Any, verb: Verb) -> None:
    world, task_id, claim_id = lost
    before = world.store.tasks.read(WORKSPACE, task_id)
    with pytest.raises(StaleClaim):
        verb(world, task_id, claim_id)
    assert world.store.tasks.read(WORKSPACE, task_id) == before


@pytest.mark.parametrize("worker", ["worker-1", "worker-2"])
@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_also_when_the_same_or_another_worker_has_claimed_again(lost: Any, verb: Verb, worker: str) -> None:
    world, task_id, claim_id = lost
    again = world.claim(worker=worker)
    before = world.store.tasks.read(WORKSPACE, task_id)
    with pytest.raises(StaleClaim):
        verb(world, task_id, claim_id)
    assert world.store.tasks.read(WORKSPACE, task_id) == before
    complete(world, task_id, again.claim_id)
    assert world.task(task_id).fence == 2


@pytest.mark.parametrize("by", [human(), ACTING_SERVICE, agent("scout"), agent("auditor", "other")])
@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_the_right_claim_id_is_worth_nothing_in_other_hands(world: World, verb: Verb, by: Principal) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    before = world.store.tasks.read(WORKSPACE, task_id)
    with pytest.raises((StaleClaim, Unknown)) as refused:
        verb(world, task_id, claimed.claim_id, by)
    assert type(refused.value) is (StaleClaim if by.workspace == WORKSPACE else Unknown)
    assert world.store.tasks.read(WORKSPACE, task_id) == before


@pytest.mark.parametrize("end", [cancel_task, lambda b, by, i, _: resolve_task(b, HumanCall(by, i), {"x": 1})])
@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_worker_learns_at_its_next_verb_that_a_human_ended_its_task(world: World, verb: Verb, end: Any) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    end(world.deps, human(), task_id, None)
    before = world.store.tasks.read(WORKSPACE, task_id)
    with pytest.raises(StaleClaim):
        verb(world, task_id, claimed.claim_id)
    assert world.store.tasks.read(WORKSPACE, task_id) == before


# The exact repeat


@pytest.mark.parametrize("verb", ENDINGS.values(), ids=ENDINGS)
def test_the_exact_repeat_of_the_ending_verb_gets_the_first_answer_again(world: World, verb: Verb) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    first = verb(world, task_id, claimed.claim_id)
    stored = world.store.tasks.read(WORKSPACE, task_id)
    world.clock.advance(1)
    assert public(verb(world, task_id, claimed.claim_id)) == public(first)
    assert world.store.tasks.read(WORKSPACE, task_id) == stored


@pytest.mark.parametrize("verb", [fail, release])
def test_also_after_somebody_else_has_claimed_and_ended_it(world: World, verb: Verb) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    first = verb(world, task_id, claimed.claim_id, said="mine")
    world.clock.advance(20)
    second = world.claim(worker="worker-2")
    assert public(verb(world, task_id, claimed.claim_id, said="mine")) == public(first)
    fail(world, task_id, second.claim_id, said="theirs")
    assert public(verb(world, task_id, claimed.claim_id, said="mine")) == public(first)
    world.clock.advance(20)
    complete(world, task_id, world.claim(worker="worker-3").claim_id)
    stored = world.store.tasks.read(WORKSPACE, task_id)
    assert public(verb(world, task_id, claimed.claim_id, said="mine")) == public(first)
    assert world.store.tasks.read(WORKSPACE, task_id) == stored


@pytest.mark.parametrize("repeat", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("verb", ENDINGS.values(), ids=ENDINGS)
def test_anything_but_the_exact_repeat_is_stale(world: World, verb: Verb, repeat: Verb) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    verb(world, task_id, claimed.claim_id)
    with pytest.raises(StaleClaim):
        repeat(world, task_id, claimed.claim_id, said="another body")
    with pytest.raises(StaleClaim):
        repeat(world, task_id, claimed.claim_id, human())
    if repeat is not verb:
        with pytest.raises(StaleClaim):
            repeat(world, task_id, claimed.claim_id)
    with pytest.raises(StaleClaim):
        heartbeat(world, task_id, claimed.claim_id)


@pytest.mark.parametrize("verb", ENDINGS.values(), ids=ENDINGS)
def test_a_repeat_with_its_key_answers_the_same_and_another_body_is_refused(world: World, verb: Verb) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    idempotency_key = IdempotencyKey(AUDITOR, f"/tasks/{task_id}/end", "k", "h")
    first = verb(world, task_id, claimed.claim_id, idempotency_key=idempotency_key)
    world.clock.advance(20)
    if not first.task.is_ended:
        fail(world, task_id, world.claim(worker="worker-2").claim_id, said="later")
    assert public(verb(world, task_id, claimed.claim_id, idempotency_key=idempotency_key)) == public(first)
    with pytest.raises(KeyReused):
        verb(
            world, task_id, claimed.claim_id, idempotency_key=IdempotencyKey(AUDITOR, idempotency_key.route, "k", "h2")
        )


def test_an_answer_never_shows_the_claim_it_ended(world: World) -> None:
    claimed = world.claimed()
    answer = release(world, claimed.details.task.id, claimed.claim_id)
    assert claimed.claim_id not in repr(answer)
    events = world.store.trail.events(WORKSPACE, claimed.details.task.id, 0, 100)
    assert claimed.claim_id not in repr(events)


def test_falsy_outputs_are_outputs_and_none_is_none(world: World) -> None:
    for output, kept in ((0, True), (False, True), ("", True), ([], True), (None, False)):
        world.store = type(world.store)()
        world.__post_init__()
        world.settle()
        claimed = world.claimed()
        task_id = claimed.details.task.id
        answer = complete_task(
            world.deps, WorkerCall(AUDITOR, task_id, claimed.claim_id, "h"), CompletedWork(output=output)
        )
        assert answer.task.has_output is kept
        assert answer.output == world.store.tasks.read(WORKSPACE, task_id).output == output


def public(details: TaskDetails) -> tuple[Any, ...]:
    """What the caller sees: not the system's own bookkeeping."""
    task = details.task
    hidden = task.changed(chain="", rings=0, wake_at=None, wakes_first=False, runtime="pull", alert_after_seconds=0)
    return hidden, details.output, details.failure
