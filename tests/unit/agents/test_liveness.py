"""Who is there: contacts, what is kept of them, and how agents are ranked by it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from baton.domain.access.principal import PROCESS_TASK, Principal, system
from baton.domain.agents.liveness import CLAIM_MARKED_EVERY, liveness
from baton.domain.errors import AlreadyClaimed, Busy, InactiveAgent, Unknown
from baton.ports.runs import RunSucceeded
from baton.services.agents.discover_agents import MAX_LOOKS_FOR_CLAIMS, agents_for, seen_agent, seen_agents
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next, claim_next_waiting, claim_task
from baton.services.runs.process_task import DispatchNotice, TimeBudget, process_task
from baton.steps.agents.mark_contact import mark_contact
from baton.steps.claims.take_task import Claimer
from support.clock import NOON
from support.faults.wrapped_store import WrappedStore
from support.values.tasks import an_agent
from support.worlds.world import WORKSPACE, World, agent, human, service

MS = timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("since", "status"),
    [
        (-timedelta(minutes=5), "active"),  # by a clock that is fast
        (timedelta(0), "active"),
        (timedelta(minutes=5) - MS, "active"),
        (timedelta(minutes=5), "idle"),
        (timedelta(minutes=30) - MS, "idle"),
        (timedelta(minutes=30), "gone"),
        (timedelta(days=400), "gone"),
    ],
)
def test_an_agent_is_active_for_five_minutes_and_idle_for_thirty(since: timedelta, status: str) -> None:
    seen = liveness(NOON, NOON + since)
    assert (seen.status, seen.last_contact_at) == (status, NOON)
    assert liveness(NOON, NOON + since, holds_claim=True).status == "active"


def test_an_agent_that_never_came_is_gone_unless_somebody_claims_for_it() -> None:
    assert liveness(None, NOON).status == "gone"
    assert liveness(None, NOON, holds_claim=True).status == "active"


@pytest.mark.parametrize(
    ("status", "match", "score"),
    [("active", 1.0, 1.0), ("idle", 1.0, 0.85), ("gone", 1.0, 0.7), ("active", 0.5, 0.65), ("gone", 1 / 3, 0.2333)],
)
def test_a_score_is_seven_tenths_of_match_and_three_of_liveness(status: str, match: float, score: float) -> None:
    since = {"active": 0, "idle": 10, "gone": 60}[status]
    assert liveness(NOON, NOON + timedelta(minutes=since)).score(match) == score


# Contacts


def auditor(by: Principal | None = None, worker: str = "w") -> Claimer:
    return Claimer(by=by or agent("auditor"), agent="auditor", worker=worker)


def contact(world: World, slug: str = "auditor") -> datetime | None:
    return world.store.contacts.last_contact(WORKSPACE, slug)


CLAIMS: dict[str, Callable[[World, str], Any]] = {
    "next": lambda world, _: claim_next(world.deps, auditor()),
    "by id": lambda world, task_id: claim_task(world.deps, auditor(), task_id),
    "waiting": lambda world, _: claim_next_waiting(world.deps, auditor(), 20),
    "by one who acts for it": lambda world, _: claim_next(world.deps, auditor(service())),
}


@pytest.mark.parametrize("way", CLAIMS)
def test_whoever_claims_is_heard_of(world: World, way: str) -> None:
    task_id = world.ready()
    assert contact(world) is None
    assert CLAIMS[way](world, task_id)
    assert contact(world) == world.clock.now()
    assert contact(world, "scout") is None


def test_a_claim_is_marked_once_in_three_minutes_and_asking_in_vain_once_in_one(world: World) -> None:
    def claims() -> bool:
        mark_contact(world.deps, agent("auditor"), "auditor", has_work=True)
        return contact(world) == world.clock.now()

    assert claims()
    world.clock.advance(CLAIM_MARKED_EVERY.total_seconds(), milliseconds=-1)
    assert not claims()
    world.clock.advance(milliseconds=1)
    assert claims()
    world.clock.advance(60)
    assert not claims()
    assert claim_next(world.deps, auditor()) is None
    assert contact(world) == world.clock.now()


def test_a_claim_that_was_not_marked_tells_of_the_contact_while_it_lives(world: World) -> None:
    assert claim_next(world.deps, auditor()) is None
    world.clock.advance(100)
    world.claimed(lease_seconds=43_200)
    claimed_at = world.clock.now()
    assert contact(world) == NOON
    world.clock.advance(3_600)
    assert seen_agent(world.deps, WORKSPACE, "auditor").liveness.last_contact_at == claimed_at
    (listed,) = (each for each in seen_agents(world.deps, WORKSPACE) if each.agent.slug == "auditor")
    assert listed.liveness.last_contact_at == claimed_at


def test_asking_for_work_in_vain_is_a_contact_too(world: World) -> None:
    assert claim_next(world.deps, auditor()) is None
    assert contact(world) == NOON


def test_what_is_refused_is_none(world: World) -> None:
    task_id = world.ready()
    world.claim(lease_seconds=7_200)
    world.clock.advance(3_600)
    at = contact(world)
    with pytest.raises(AlreadyClaimed):
        claim_task(world.deps, auditor(), task_id)
    register_agent(world.deps, human(), "auditor", {"active": False})
    with pytest.raises(InactiveAgent):
        claim_next(world.deps, auditor())
    with pytest.raises(Unknown):
        claim_next(world.deps, Claimer(by=agent("ghost"), agent="ghost", worker="w"))
    assert world.store.contacts.last_contacts(WORKSPACE) == {"auditor": at}


def test_batons_own_parts_tell_nothing_of_an_agent(world: World) -> None:
    task_id = world.ready(target_agent="runner")
    time_budget = TimeBudget(lease_seconds=60, time_left=lambda: 60.0)
    process_task(
        world.deps, Runner(), DispatchNotice(workspace=WORKSPACE, agent="runner", task_id=task_id), time_budget
    )
    assert world.task(task_id).state == "done"
    mark_contact(world.deps, system(WORKSPACE, PROCESS_TASK), "runner")
    assert contact(world, "runner") is None


class Runner:
    def run(self, _work: Any) -> RunSucceeded:
        return RunSucceeded({})


class Forgetful(WrappedStore):
    """Keeps no contact."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def mark_contact(self, workspace: str, agent: str, now: datetime, every: timedelta) -> None:
        raise self.error


@pytest.mark.parametrize("error", [Busy(), ValueError("a secret"), RecursionError()])
def test_a_claim_is_answered_whatever_becomes_of_the_mark(error: Exception) -> None:
    world = World(store=Forgetful(error)).settle()
    task_id = world.ready()
    claimed = claim_next(world.deps, auditor())
    assert claimed is not None
    assert claimed.details.task.id == task_id
    (line,) = [line for line in world.logged if line.get("action") == "contact_not_marked"]
    assert (line["agent"], line["error"]) == ("auditor", type(error).__name__)
    assert "secret" not in str(world.logged)


# Discovery


def slugs(found: Any) -> list[str]:
    return [each.agent.slug for each in found]


def makers(world: World, **accepts: tuple[str, ...]) -> None:
    for slug, types in accepts.items():
        register_agent(world.deps, human(), slug, {"accepts": types})


def test_all_agents_are_listed_by_slug_with_their_liveness(world: World) -> None:
    register_agent(world.deps, human(), "scout", {"active": False})
    claim_next(world.deps, auditor())
    world.clock.advance(300)
    mark_contact(world.deps, agent("scout"), "scout")
    found = seen_agents(world.deps, WORKSPACE)
    assert [(each.agent.slug, each.liveness.status) for each in found] == [
        ("auditor", "idle"),
        ("runner", "gone"),
        ("scout", "active"),
    ]
    assert found[0].liveness.last_contact_at == NOON
    assert seen_agent(world.deps, WORKSPACE, "auditor") == found[0]
    with pytest.raises(Unknown):
        seen_agent(world.deps, WORKSPACE, "nobody")


def test_agents_for_a_kind_of_work_come_best_match_first(world: World) -> None:
    makers(world, half=("code", "else"), whole=("code", "tests"), other=("else",))
    found = agents_for(world.deps, WORKSPACE, ["accepts:code", "accepts:tests"])
    assert [(each.agent.slug, each.match, each.score) for each in found] == [
        ("whole", 1.0, 0.7),
        ("auditor", 0.5, 0.35),
        ("half", 0.5, 0.35),
        ("runner", 0.5, 0.35),
        ("scout", 0.5, 0.35),
    ]


def test_a_lively_agent_goes_before_one_that_is_gone_but_not_before_a_far_better_match(world: World) -> None:
    makers(world, absent=("code", "tests"), lively=("code", "tests"), willing=("code",))
    for slug in ("lively", "willing"):
        mark_contact(world.deps, agent(slug), slug)
    found = agents_for(world.deps, WORKSPACE, ["accepts:code", "accepts:tests"])[:3]
    assert [(each.agent.slug, each.score) for each in found] == [("lively", 1.0), ("absent", 0.7), ("willing", 0.65)]


def test_inactive_agents_are_offered_to_nobody(world: World) -> None:
    makers(world, whole=("code",))
    register_agent(world.deps, human(), "whole", {"active": False})
    assert "whole" not in slugs(agents_for(world.deps, WORKSPACE, ["accepts:code"]))


class Looked(WrappedStore):
    """Counts the looks for claims."""

    def __init__(self) -> None:
        super().__init__()
        self.looks: list[str] = []

    def held(self, workspace: str, agent: str) -> Any:
        self.looks.append(agent)
        return self.inner.claims.held(workspace, agent)


def test_a_listing_looks_for_claims_fifty_times_at_most_and_only_where_it_has_to() -> None:
    store = Looked()
    world = World(store=store)
    for number in range(MAX_LOOKS_FOR_CLAIMS + 2):
        store.agents.save_agent(an_agent(f"a-{number:03d}", name=f"A {number}"), store.agents.roster(WORKSPACE))
    mark_contact(world.deps, agent("a-000"), "a-000")
    seen_agents(world.deps, WORKSPACE)
    assert store.looks == [f"a-{number:03d}" for number in range(1, MAX_LOOKS_FOR_CLAIMS + 1)]


def test_an_agent_that_holds_a_claim_is_active_however_long_it_works(world: World) -> None:
    world.claimed(lease_seconds=43_200)
    world.clock.advance(7_200)
    seen = seen_agent(world.deps, WORKSPACE, "auditor").liveness
    assert (seen.status, seen.last_contact_at) == ("active", world.clock.now() - timedelta(hours=2))
    assert agents_for(world.deps, WORKSPACE, ["accepts:code"])[0].agent.slug == "auditor"
