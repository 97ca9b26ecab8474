"""Routes by work type (docs/spec/lifecycle.md §2): whose work it is, set by humans, one version after the other."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.agents.route import Mode, Route
from baton.domain.errors import (
    HumanNeeded,
    InvalidInput,
    LimitReached,
    TargetInactive,
    Unknown,
    UnknownAgent,
    VersionConflict,
)
from baton.services.agents.change_route import change_route, remove_route
from baton.services.agents.register_agent import register_agent
from support.faults.hooked_store import HookedStore
from support.worlds.world import WORKSPACE, World, agent, human, service

ALICE, BOB = human(), human(name="bob")
AUDIT = {"agent": "auditor", "mode": Mode.DISPATCH}


def put(
    world: World, work_type: str = "audit", by: Principal = ALICE, version: int | None = None, **values: Any
) -> Route:
    return change_route(world.deps, by, work_type, {**AUDIT, **values}, version)[0]


def test_a_route_is_made_once_and_changed_after(world: World) -> None:
    first, is_new = change_route(world.deps, ALICE, "audit", AUDIT)
    assert is_new
    assert (first.agent, first.mode, first.dispatch_rank, first.version) == ("auditor", Mode.DISPATCH, 100, 1)
    world.clock.advance(60)
    second, is_new = change_route(world.deps, BOB, "audit", {"agent": "runner", "mode": Mode.NEXT}, 1)
    assert not is_new
    assert (second.agent, second.mode, second.version) == ("runner", Mode.NEXT, 2)
    assert (second.updated_by, second.updated_at) == ("human:bob", world.clock.now())
    assert world.store.routes.route(WORKSPACE, "audit") == second


def test_a_rank_that_is_left_out_stays(world: World) -> None:
    put(world, dispatch_rank=7)
    assert put(world, mode=Mode.MANUAL).dispatch_rank == 7


def test_routes_are_listed_by_rank_and_then_by_work_type(world: World) -> None:
    for work_type, rank in (("zoo", 1), ("b", 100), ("a", 100), ("last", 1_000), ("first", 0)):
        put(world, work_type, dispatch_rank=rank)
    assert [route.work_type for route in world.store.routes.table(WORKSPACE)] == ["first", "zoo", "a", "b", "last"]


@pytest.mark.parametrize("version", [0, 2])
def test_a_change_on_another_version_is_refused(world: World, version: int) -> None:
    before = put(world)
    with pytest.raises(VersionConflict) as refused:
        put(world, version=version, agent="runner")
    assert refused.value.fields["version"] == 1
    assert world.store.routes.route(WORKSPACE, "audit") == before


def test_an_agent_has_to_be_there_and_active(world: World) -> None:
    register_agent(world.deps, ALICE, "auditor", {"active": False})
    for slug, error, code in (
        ("nobody", UnknownAgent, "unknown_agent"),
        ("Auditor", UnknownAgent, "unknown_agent"),
        ("auditor", TargetInactive, "inactive_agent"),
    ):
        with pytest.raises(error) as refused:
            put(world, agent=slug)
        assert isinstance(refused.value, InvalidInput)
        assert (refused.value.code, refused.value.field) == (code, "agent")
    assert world.store.routes.route(WORKSPACE, "audit") is None


def test_another_workspaces_agent_is_unknown(world: World) -> None:
    with pytest.raises(UnknownAgent):
        put(world, by=human("other"))


@pytest.mark.parametrize("by", [agent("auditor"), agent("scout"), service()])
def test_only_humans_route_work(world: World, by: Principal) -> None:
    before = put(world)
    with pytest.raises(HumanNeeded):
        put(world, by=by, agent="runner")
    with pytest.raises(HumanNeeded):
        remove_route(world.deps, by, "audit")
    assert world.store.routes.route(WORKSPACE, "audit") == before


def test_a_removed_route_is_there_no_more(world: World) -> None:
    put(world)
    remove_route(world.deps, ALICE, "audit")
    assert world.store.routes.route(WORKSPACE, "audit") is None
    assert list(world.store.routes.table(WORKSPACE)) == []
    with pytest.raises(Unknown):
        remove_route(world.deps, ALICE, "audit")


def test_another_workspaces_route_is_unknown_like_one_that_never_was(world: World) -> None:
    before = put(world)
    messages = set()
    for by, work_type in ((human("other"), "audit"), (ALICE, "nothing")):
        with pytest.raises(Unknown) as refused:
            remove_route(world.deps, by, work_type)
        messages.add(refused.value.message)
    assert len(messages) == 1
    assert world.store.routes.route(WORKSPACE, "audit") == before


def test_a_version_never_means_two_things_even_after_a_removal(world: World) -> None:
    put(world, dispatch_rank=5)
    remove_route(world.deps, ALICE, "audit")
    anew, is_new = change_route(world.deps, BOB, "audit", {"agent": "runner", "mode": Mode.MANUAL}, 0)
    assert is_new
    assert (anew.version, anew.dispatch_rank, anew.agent) == (3, 100, "runner")
    with pytest.raises(VersionConflict):
        put(world, version=1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """Routes that a workspace may have: tests/functions/test_long_lists.py fills one to the real limit."""
    monkeypatch.setattr("baton.services.agents.change_route.MAX_ROUTES", 7)
    return 7


def test_a_workspace_holds_so_many_routes_and_no_more(world: World, few: int) -> None:
    for number in range(few):
        put(world, f"type-{number}")
    with pytest.raises(LimitReached):
        put(world, "one-more")
    assert put(world, "type-0", mode=Mode.NEXT).version == 2
    remove_route(world.deps, ALICE, "type-1")
    put(world, "one-more")
    with pytest.raises(LimitReached):
        put(world, "type-1")


def test_two_last_routes_at_once_make_one(few: int) -> None:
    store = HookedStore()
    world = World(store=store).settle()
    for number in range(few - 1):
        put(world, f"type-{number}")
    store.before["save_route"] = lambda: put(world, "last", by=BOB)
    with pytest.raises(LimitReached):
        put(world, "last-too")
    assert len(world.store.routes.table(WORKSPACE)) == few


def test_of_two_changes_at_once_the_second_is_decided_on_the_first() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    put(world)
    store.before["save_route"] = lambda: put(world, by=BOB, agent="runner")
    assert put(world, dispatch_rank=3).version == 3
    store.before["save_route"] = lambda: put(world, by=BOB, agent="scout")
    with pytest.raises(VersionConflict):
        put(world, version=3, dispatch_rank=4)
    route = world.store.routes.route(WORKSPACE, "audit")
    assert route is not None
    assert (route.agent, route.updated_by, route.version) == ("scout", "human:bob", 4)
