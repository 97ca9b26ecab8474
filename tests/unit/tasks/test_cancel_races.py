"""A cancel takes along all that came of a task, whatever its descendants do at that moment
(docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.errors import Busy, HumanNeeded, StaleClaim, Unknown
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import JoinRule, Policy
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.delegate_task import branch_from, delegate_task
from baton.services.claims.fail_task import FailedWork, fail_task, reject_task
from baton.services.claims.transfer_task import transfer_task
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.tasks.cancel_descendants import cancel_descendants
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from support.clock import FakeClock
from support.fakes.store import InMemoryStore
from support.faults.call_hooks import CallHooks
from support.faults.soak import IS_WHOLE, scaled
from support.faults.threads import all_at_once
from support.worlds.team import HeldTask, Team
from support.worlds.world import WORKSPACE, World, agent, human

pytestmark = pytest.mark.slow

SLUGS = ("anna", "bert", "carl", "dora", "emil", "finn", "gina", "hugo")
TOP, OTHER = SLUGS[0], SLUGS[-1]
FAILURE = {"type": "error", "description": "broke"}


def target(slug: str) -> dict[str, Any]:
    return {"target": {"agent": slug, "reason": "go on"}}


def handoff(deps: Any, held: HeldTask) -> object:
    message = {"source": {"agent": held.by.id}, **target(OTHER)}
    return create_handoff(deps, held.by, CreateHandoff(message=message_from(message), claim_id=held.claim_id))


def complete(deps: Any, held: HeldTask) -> object:
    going_on = {"continuation": {"suggested_next": OTHER, "reason": "go on"}}
    return complete_task(deps, WorkerCall(*held.where, "h"), CompletedWork(output={"late": 1}, completion=going_on))


def fail(deps: Any, held: HeldTask) -> object:
    return fail_task(
        deps, WorkerCall(*held.where, "h"), FailedWork(failure=FAILURE, rollback_request={"target_agent": OTHER})
    )


def reject(deps: Any, held: HeldTask) -> object:
    return reject_task(deps, WorkerCall(*held.where, "h"), "no", rollback_request={"target_agent": OTHER})


def delegate(deps: Any, held: HeldTask) -> object:
    branches = [{"call_id": str(number), **target(OTHER)} for number in range(3)]
    return delegate_task(deps, WorkerCall(*held.where, "h"), list(map(branch_from, branches)), JoinRule(Policy.ALL))


# What a worker may be doing; those that say something of the work are kept if they come too late.
DEEDS: dict[str, tuple[Callable[[Any, HeldTask], object], bool]] = {
    "handoff": (handoff, False),
    "complete": (complete, True),
    "fail": (fail, True),
    "reject": (
        lambda deps, held: reject_task(
            deps, WorkerCall(*held.where, "h"), "no", rollback_request={"target_agent": OTHER}
        ),
        True,
    ),
    "transfer": (
        lambda deps, held: transfer_task(deps, WorkerCall(*held.where, "h"), message_from(target(OTHER))),
        True,
    ),
    "delegate": (delegate, False),
}


@dataclass(frozen=True)
class Family:
    """A root, and a child of it at work for each deed, or for one alone. Callers copy the world."""

    world: World
    root: HeldTask
    children: dict[str, HeldTask]


@cache
def family(only: str | None = None) -> Family:
    team = Team(*SLUGS)
    root = team.begin(TOP)
    children = {
        deed: team.take(slug, team.ask(slug, deed, under=root).task.id)
        for deed, slug in zip(DEEDS, SLUGS[1:], strict=False)
        if only in {None, deed}
    }
    return Family(team.world, root, children)


def at_work(only: str | None = None) -> tuple[Team, CallHooks, HeldTask, dict[str, HeldTask]]:
    made, store = family(only), CallHooks()
    assert isinstance(made.world.store, InMemoryStore)
    world = World(store=store, clock=FakeClock(made.world.clock.now()))
    world.begin_as(store.inner.dynamo, made.world.store.dynamo)
    return Team(world=world), store, made.root, made.children


def quiet(team: Team) -> None:
    for _ in range(3):
        assert sweep(team.deps).failed == 0


def nobody_is_open(team: Team, children: dict[str, HeldTask]) -> Counter[str]:
    """And each word that came too late is kept once, however often it is said."""
    assert team.open() == []
    refused: Counter[str] = Counter()
    for deed, held in children.items():
        act, is_kept = DEEDS[deed]
        if team.world.trail(held.task.id)[3:] != ["cancelled"]:
            continue  # it was done in time
        for _ in range(2):
            with pytest.raises(StaleClaim):
                act(team.deps, held)
        late = team.world.store.trail.late_results(WORKSPACE, held.task.id)
        assert [each.claim_fence for each in late] == ([1] if is_kept else [])
        refused[deed] += 1
    team.check()
    return refused


def test_nobody_escapes_a_cancel_whatever_six_descendants_do_at_that_moment() -> None:
    rounds, refused, retried = scaled(100), Counter[str](), 0
    for _ in range(rounds):
        team, _, root, children = at_work()
        gone = team.fail(team.take("bert", team.ask("bert", "gone", under=root).task.id)).task
        still = team.still()
        steps: list[Callable[[], object]] = [partial(DEEDS[deed][0], still, held) for deed, held in children.items()]
        steps += [
            partial(cancel_task, still, human(), root.task.id, "stop"),
            partial(retry_handoff, still, agent(TOP), gone.id),
            partial(sweep, still),
        ]
        answers = all_at_once(steps)
        problems = {type(each) for each in answers if isinstance(each, Exception)}
        assert problems <= {StaleClaim, HumanNeeded, Busy}
        quiet(team)
        refused += nobody_is_open(team, children)
        retried += len(team.world.store.workflows.retry_of(WORKSPACE, gone.id) or "") > 0
    assert sum(refused.values()) > 0, "some must come too late"
    assert sum(refused.values()) < rounds * len(DEEDS), "and some before"


@pytest.mark.parametrize("deed", DEEDS)
def test_nobody_escapes_a_cancel_at_any_moment_of_a_descendants_deed(deed: str) -> None:
    """Before each of its calls to the store, all of the cancel happens."""
    act, _ = DEEDS[deed]
    moment, calls, came_too_late = 0, [""], 0
    while len(calls) >= moment:
        moment += 1
        team, store, root, children = at_work()
        store.begin(before={moment: partial(cancel_task, team.deps, human(), root.task.id, "stop")})
        try:
            act(team.deps, children[deed])
        except StaleClaim:
            came_too_late += 1
        calls = store.calls
        store.begin()
        if len(calls) < moment:
            cancel_task(team.deps, human(), root.task.id, "stop")
        nobody_is_open(team, children)
    assert 0 < came_too_late < moment


@pytest.mark.parametrize("is_alone", [True, False])
@pytest.mark.parametrize("deed", DEEDS)
def test_nobody_escapes_a_deed_at_any_moment_of_the_cancel(deed: str, is_alone: bool) -> None:
    """Of an only child: nobody else is open, and has the cancel look again. ``make test`` takes every fifth moment, the
    next deed other ones; ``make soak`` all."""
    act, _ = DEEDS[deed]
    step = 1 if IS_WHOLE else 5
    moment, calls = list(DEEDS).index(deed) % step + 1 - step, [""]
    while len(calls) >= moment:
        moment += step
        team, store, root, children = at_work(deed if is_alone else None)

        def do(team: Team = team, children: dict[str, HeldTask] = children) -> None:
            with suppress(StaleClaim):
                act(team.deps, children[deed])

        store.begin(before={moment: do})
        cancel_task(team.deps, human(), root.task.id, "stop")
        calls = store.calls
        store.begin()
        quiet(team)
        nobody_is_open(team, children)
    assert moment > 6


def test_three_levels_at_work_all_end_and_all_late_results_are_kept_beside_the_trail() -> None:
    team = Team(*SLUGS)
    root = team.begin(TOP)
    held_tasks = [root]
    for parent, slugs in ((root, ("bert", "carl")), (None, ("dora", "emil"))):
        for slug in slugs:
            above = parent or held_tasks[1 if slug == "dora" else 2]
            held_tasks.append(team.take(slug, team.ask(slug, under=above).task.id))
    cancel_task(team.deps, human(), root.task.id, "stop")
    assert {task.state for task in team.tasks()} == {"cancelled"}
    for held in held_tasks:
        for output in ({"v": 1}, {"v": 2}):
            with pytest.raises(StaleClaim):
                complete_task(team.deps, WorkerCall(*held.where, str(output)), CompletedWork(output=output))
        (late,) = team.world.store.trail.late_results(WORKSPACE, held.task.id)
        assert (late.verb, late.agent, late.content["output"]) == ("complete", held.by.id, {"v": 1})
        told = team.events(held.task.id)[-1]
        assert (told.type, told.principal_kind, told.principal_id) == ("cancelled", "human", "alice")
        assert told.data.get("ancestor") == (None if held is root else root.task.id)
    # The agents that handed off know of it.
    assert len(team.inbox(TOP)) == 2
    assert team.world.store.claims.held(WORKSPACE, TOP) == ()


@pytest.mark.parametrize("stranger", [agent("bert"), human(name="eve"), agent(TOP, "other")])
def test_a_strangers_late_word_is_not_kept(stranger: Principal) -> None:
    team = Team(*SLUGS)
    root = team.begin(TOP)
    cancel_task(team.deps, human(), root.task.id, None)
    with pytest.raises((StaleClaim, Unknown)):
        complete_task(
            team.deps, WorkerCall(stranger, root.task.id, root.claim_id, "h"), CompletedWork(output={"forged": 1})
        )
    assert team.world.store.trail.late_results(WORKSPACE, root.task.id) == ()


def test_the_creator_may_cancel_and_what_ended_before_stays_as_it_ended() -> None:
    team = Team(*SLUGS)
    root = team.begin(TOP)
    child = team.take("bert", team.ask("bert", under=root).task.id)
    below = team.take("carl", team.ask("carl", under=child).task.id)
    done = team.complete(team.take("dora", team.ask("dora", under=child).task.id)).task
    team.complete(root)
    cancel_task(team.deps, agent(TOP), child.task.id, "not needed any more")
    assert team.task(root.task.id).state == "done"
    assert team.task(done.id) == done
    assert team.task(below.task.id).state == "cancelled"
    assert cancel_descendants(team.deps, WORKSPACE, child.task.id)
