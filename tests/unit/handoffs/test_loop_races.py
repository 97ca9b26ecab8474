"""The loop guard's limits under threads: nobody gets past them by being many at once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from baton.domain.errors import Busy, InvalidInput, LoopTripped
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.domain.tasks.task import JoinRule, Policy
from baton.ports.details import TaskDetails
from baton.services.claims.delegate_task import branch_from, delegate_task
from baton.services.escalations.release_review import release_review
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.split_task import split_task
from support.faults.hooked_store import HookedStore
from support.faults.soak import scaled
from support.faults.threads import all_at_once, at_once, race
from support.worlds.team import HeldTask, StoppedHandoff, Team
from support.worlds.world import World, agent, human

pytestmark = pytest.mark.slow

A, B, C = "anna", "bert", "carl"
THREADS = 16
TIMES = scaled(10, 3)


def hand_off(deps: Any, source: str, target: str, number: int, held: HeldTask | None = None) -> TaskDetails:
    message = {"source": {"agent": source}, "target": {"agent": target, "reason": f"part {number}"}}
    return create_handoff(
        deps, agent(source), CreateHandoff(message=message_from(message), claim_id=held.claim_id if held else None)
    )


def outcomes(answers: list[Any]) -> tuple[int, int]:
    """How many got through, and how many were stopped; who met too many others may ask again."""
    assert {type(each) for each in answers} <= {TaskDetails, LoopTripped, Busy}
    return sum(isinstance(e, TaskDetails) for e in answers), sum(isinstance(e, LoopTripped) for e in answers)


def test_many_at_once_fill_a_workflow_to_its_last_place_and_no_further() -> None:
    for _ in range(TIMES):
        team = Team(A, B, max_handoffs_per_workflow=6)
        held, still = team.begin(A), team.still()
        answers = all_at_once([partial(hand_off, still, A, B, number, held) for number in range(THREADS)])
        made, stopped = outcomes(answers)
        assert made <= 5
        assert len(team.tasks()) == 1 + made
        while made < 5:
            assert isinstance(hand_off(still, A, B, 99 + made, held), TaskDetails)
            made += 1
        assert isinstance(team.pass_on(held, B, "handoff", "one too many"), StoppedHandoff)
        (review,) = team.reviews()
        assert review.count == stopped + 1


def test_two_at_once_dont_share_the_last_place_of_a_budget() -> None:
    team = Team(A, B)
    held, store = team.begin(A, budget={"max_handoffs": 2}), HookedStore(team.deps.store)
    store.before["commit"] = lambda: hand_off(team.deps, A, B, 1, held)
    with pytest.raises(LoopTripped):
        hand_off(replace(team.deps, store=store), A, B, 2, held)
    assert len(team.tasks()) == 2


def test_many_at_once_begin_as_many_workflows_as_the_hour_allows() -> None:
    for _ in range(TIMES):
        team = Team(A, B, root_handoffs_per_hour=5)
        still = team.still()
        answers = all_at_once([partial(hand_off, still, A, B, number) for number in range(THREADS)])
        made, stopped = outcomes(answers)
        assert made <= 5
        assert len(team.tasks()) == made
        if stopped:
            assert made == 5
            assert [review.count for review in team.reviews()] == [stopped]


def test_of_many_who_begin_a_workflow_of_one_name_one_does() -> None:
    slugs = tuple(f"agent-{number}" for number in range(8))
    for _ in range(TIMES):
        team = Team(A, *slugs)
        still = team.still()

        def begin(_: int, runner: int, b: Any = still) -> TaskDetails:
            slug = slugs[runner % len(slugs)]
            handoff = {"source": {"agent": slug}, "target": {"agent": A, "reason": f"part {runner}"}}
            return create_handoff(
                b,
                agent(slug),
                CreateHandoff(message=message_from({**handoff, "metadata": {"workflow_id": "release-7"}})),
            )

        (answers,) = race(len(slugs), 1, begin)
        assert {type(each) for each in answers} <= {TaskDetails, InvalidInput, Busy}
        assert sum(isinstance(each, TaskDetails) for each in answers) == len(team.tasks()) == 1


def test_of_two_who_begin_a_workflow_of_one_name_the_slower_is_told_so() -> None:
    store = HookedStore()
    team = Team(A, B, C, world=World(store=store))
    store.after["members"] = lambda: team.ask(A, by=agent(B), metadata={"workflow_id": "release-7"})
    with pytest.raises(InvalidInput, match=r"metadata\.workflow_id"):
        team.ask(A, by=agent(C), metadata={"workflow_id": "release-7"})
    assert [task.created_by for task in team.tasks()] == [agent(B).key]


def test_many_knocks_at_once_are_one_entry_that_has_counted_them_and_one_release() -> None:
    for _ in range(TIMES):
        team = Team(A, B, max_depth=1)
        held, still = team.begin(A), team.still()
        answers = all_at_once([partial(hand_off, still, A, B, number, held) for number in range(THREADS)])
        _, stopped = outcomes(answers)
        (review,) = team.reviews()
        assert review.count == stopped
        released = at_once(4, partial(release_review, still, human(), review.id))
        assert sum(isinstance(each, tuple) for each in released) == 1
        assert len(team.tasks()) == 2


def test_the_most_branches_and_the_most_parts_fit_into_one_write_with_everything_along() -> None:
    """Under a standing approval, mirrored, remembered and under a permit: the store refuses more than 100 items."""
    team = Team(B, C)
    team.register(A, max_concurrent=1)
    team.set(tracker={"database": "0" * 31 + "1"})
    held = team.begin(A)
    branches = [{"call_id": str(n), "target": {"agent": B, "reason": f"part {n}"}} for n in range(10)]
    idempotency_key = IdempotencyKey(held.by, "/delegate", "key-1", "h")
    waiting = delegate_task(
        team.deps, WorkerCall(*held.where, "h", idempotency_key), list(map(branch_from, branches)), JoinRule(Policy.ALL)
    ).task
    assert waiting.wait is not None
    assert len(waiting.wait.branches) == 10
    team.register("dora", approval="manual")
    whole = team.ask("dora", by=agent(C)).task
    idempotency_key = IdempotencyKey(human(), "/split", "key-1", "h")
    _, parts = split_task(
        team.deps,
        HumanCall(human(), whole.id, idempotency_key=idempotency_key),
        list(map(message_from, [{"summary": str(n)} for n in range(10)])),
    )
    assert len(parts) == 10
