"""How much an agent may hold at once: never more than its limit. However a claim ends, its permit is given back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from baton.domain.agents.agent import Runtime
from baton.domain.errors import AtCapacity
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.domain.times import rfc3339
from baton.services.claims.claim_task import claim_next
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.release_claim import release_claim
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimed, Claimer
from support.fakes.store import InMemoryStore
from support.faults.soak import crossed, scaled, spread
from support.faults.threads import at_once, race
from support.worlds.team import HeldTask, Team
from support.worlds.world import WORKSPACE, World, agent, human

pytestmark = pytest.mark.slow

A, B, C = "anna", "bert", "carl"


class MostHeldStore(InMemoryStore):
    """The most claims that the agent ever held at once, counted at every single write."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0
        self.dynamo.watch = self._count

    def _count(self, _changes: object) -> None:
        self.most = max(self.most, len(self.claims.held(WORKSPACE, A)))


@pytest.mark.parametrize("limit", spread([1, 3, 7], 2))
def test_32_workers_of_one_agent_never_hold_more_than_it_may_and_all_of_it_gets_done(limit: int) -> None:
    store = MostHeldStore()
    team = Team(B, C, world=World(store=store))
    team.register(A, max_concurrent=limit)
    tasks = [team.ask(A, f"work {number}").task.id for number in range(scaled(40, 2))]
    still = team.still()
    claimer = Claimer(by=agent(A), agent=A, worker="w")
    first = [each for each in at_once(32, lambda: claim_next(still, claimer)) if isinstance(each, Claimed)]
    # Whoever lost every race went home with nothing although there was a permit left.
    first += iter(lambda: claim_next(still, claimer), None)
    assert len(first) == store.most == limit
    for claimed in first:
        end(still, claimed, 1)

    def work(_: int, runner: int) -> int:
        done = 0
        for _ in range(scaled(8, 2)):
            claimed = claim_next(still, claimer)
            if claimed is not None:
                end(still, claimed, runner)
                done += 1
        return done

    (answers,) = race(32, 1, work)
    assert not [each for each in answers if isinstance(each, Exception)]
    assert store.most == limit
    while (later := team.taken(A)) is not None:
        end(still, later, 0)
    assert {team.task(each).state for each in tasks} == {"done"}
    assert team.world.store.claims.held(WORKSPACE, A) == ()


def end(deps: Any, claimed: Claimed, runner: int) -> None:
    task = claimed.details.task
    if runner % 4 == 0 and task.releases == 0:
        release_task(deps, WorkerCall(agent(A), task.id, claimed.claim_id, "h"), ReleasedWork())
    else:
        complete_task(deps, WorkerCall(agent(A), task.id, claimed.claim_id, "h"), CompletedWork(output=None))


def slot_of(held: HeldTask) -> int:
    assert held.task.claim is not None
    assert held.task.claim.slot is not None
    return held.task.claim.slot


def test_a_lowered_limit_is_for_new_permits_and_the_earlier_ones_run_out() -> None:
    team = Team(B)
    team.register(A, max_concurrent=3)
    for number in range(6):
        team.ask(A, f"work {number}")
    held_tasks = sorted((team.take(A) for _ in range(3)), key=slot_of)
    assert team.taken(A) is None
    team.register(A, max_concurrent=1)
    assert team.taken(A) is None
    for held in held_tasks[1:]:
        team.complete(held)
        assert team.taken(A) is None
    team.complete(held_tasks[0])
    assert team.taken(A) is not None
    assert team.taken(A) is None


def test_claims_beyond_a_lowered_limit_count_whichever_ends_first() -> None:
    team = Team(B)
    team.register(A, max_concurrent=3)
    for number in range(6):
        team.ask(A, f"work {number}")
    held_tasks = sorted((team.take(A) for _ in range(3)), key=slot_of)
    team.register(A, max_concurrent=1)
    for held in held_tasks:
        assert team.taken(A) is None
        team.complete(held)
    last = team.take(A)
    assert team.taken(A) is None
    # Raised again, it is full with as many as it says.
    team.register(A, max_concurrent=2)
    team.take(A)
    assert team.taken(A) is None
    team.complete(last)
    team.take(A)


def test_claims_from_before_there_was_a_limit_count() -> None:
    team = Team(B)
    team.register(A)
    for number in range(6):
        team.ask(A, f"work {number}")
    held_tasks = [team.take(A) for _ in range(3)]
    team.register(A, max_concurrent=2)
    for held in held_tasks[:2]:
        assert team.taken(A) is None
        team.complete(held)
    held_tasks += [team.take(A)]
    assert team.taken(A) is None
    for held in held_tasks[2:]:
        team.complete(held)
    team.take(A)
    team.take(A)
    assert team.taken(A) is None


def test_a_lost_claim_beyond_a_lowered_limit_makes_room_for_its_taker() -> None:
    team = Team(B)
    team.register(A, max_concurrent=3)
    for number in range(3):
        team.ask(A, f"work {number}")
    held_tasks = sorted((team.take(A) for _ in range(3)), key=slot_of)
    team.register(A, max_concurrent=1)
    for held in held_tasks[:2]:
        team.complete(held)
    team.later(300)
    taken = team.take(A)
    assert taken.task.id == held_tasks[2].task.id
    team.ask(A, "one more")
    assert team.taken(A) is None


@pytest.mark.parametrize(("before", "after"), [(7, 3), (5, 1), (None, 3)])
def test_32_claimers_at_a_lowered_limit_take_what_is_left_of_it(before: int | None, after: int) -> None:
    store = MostHeldStore()
    team = Team(B, world=World(store=store))
    team.register(A, max_concurrent=before)
    for number in range(40):
        team.ask(A, f"work {number}")
    held_tasks = [team.take(A) for _ in range(before or 7)]
    team.register(A, max_concurrent=after)
    still, claimer = team.still(), Claimer(by=agent(A), agent=A, worker="w")
    for number in range(scaled(12, 6)):
        team.complete(held_tasks.pop(number % len(held_tasks)))
        at_once(32, lambda: claim_next(still, claimer))
        claims = store.claims.held(WORKSPACE, A)
        assert len(claims) == max(after, len(held_tasks))
        known = {held.task.id for held in held_tasks}
        held_tasks += [team.held_by(A, each.task_id) for each in claims if each.task_id not in known]


# Every way a claim can end


def lease_over(team: Team, held: HeldTask) -> None:
    team.later(300)
    sweep(team.deps)


def deadline_over(team: Team, held: HeldTask) -> None:
    team.later(200)
    sweep(team.deps)


ENDS: dict[str, Callable[[Team, HeldTask], object]] = {
    "complete": lambda team, held: team.complete(held),
    "fail": lambda team, held: team.fail(held),
    "fail to be tried again": lambda team, held: team.fail(held, retryable=True),
    "reject": lambda team, held: team.reject(held),
    "release": lambda team, held: team.release(held),
    "transfer": lambda team, held: team.transfer(held, B),
    "delegate": lambda team, held: team.delegate(held, B, C),
    "wait for a callback": lambda team, held: team.wait(held),
    "the sweeper": lease_over,
    "a deadline": deadline_over,
    "a cancel": lambda team, held: cancel_task(team.deps, human(), held.task.id, None),
    "a human's release": lambda team, held: release_claim(
        team.deps, HumanCall(human(), held.task.id), held.task.fence, "it hangs"
    ),
    "a resolve": lambda team, held: resolve_task(team.deps, HumanCall(human(), held.task.id), None),
}


@pytest.mark.parametrize(("way", "runtime"), crossed(list(ENDS), list(Runtime)))
def test_however_a_claim_ends_its_permit_is_the_next_ones_and_a_run_agent_is_notified(
    way: str, runtime: Runtime
) -> None:
    team = Team(B, C)
    team.register(A, max_concurrent=1, runtime=runtime)
    expectations = {"deadline": rfc3339(team.world.clock.now() + timedelta(seconds=200)), "fail_on_deadline": True}
    held = team.take(A, team.ask(A, "first", expectations=expectations if way == "a deadline" else {}).task.id)
    second = team.ask(A, "second").task.id
    assert team.taken(A) is None
    with pytest.raises(AtCapacity):
        team.taken(A, second)
    team.world.dispatch_queue.notices.clear()
    ENDS[way](team, held)
    notified = [slug for _, slug, _, _ in team.world.dispatch_queue.notices]
    assert (A in notified) is (runtime is Runtime.RUN)
    assert team.take(A, second).task.id == second
    with pytest.raises(AtCapacity):
        team.taken(A, team.ask(A, "third").task.id)


def test_a_cancel_gives_back_the_permits_of_all_that_it_takes_along() -> None:
    team = Team(B)
    team.register(A, max_concurrent=2)
    root = team.begin(B)
    for number in range(2):
        team.take(A, team.ask(A, f"part {number}", under=root).task.id)
    other = team.ask(A, "other").task.id
    assert team.taken(A) is None
    cancel_task(team.deps, human(), root.task.id, None)
    assert team.take(A).task.id == other


def test_an_agent_without_a_limit_holds_what_it_likes() -> None:
    team = Team(A)
    for number in range(150):
        team.ask(A, f"work {number}")
        team.take(A)
    assert len(team.world.store.claims.held(WORKSPACE, A)) == 150
