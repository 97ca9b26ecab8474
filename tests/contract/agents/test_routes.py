"""Routes by work type in the store: each changes only from the version that was read, and every version is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.agents import route_items
from baton.adapters.dynamodb.table import from_wire
from baton.domain.agents.route import Mode, Route, RoutingTable
from baton.domain.errors import Conflict
from baton.ports.store import Store
from baton.services.agents.change_route import change_route, remove_route
from support.clock import NOON
from support.values.records import a_route
from support.values.tasks import MS
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human

FULL = a_route(agent="client-repo-auditor", mode=Mode.MANUAL, dispatch_rank=0, updated_at=NOON + MS)


def save(store: Store, *routes: Route) -> None:
    for each in routes:
        store.routes.save_route(each, store.routes.table(each.workspace))


def test_an_empty_workspace_routes_nothing(store: Store) -> None:
    assert store.routes.table(WORKSPACE) == RoutingTable()
    assert store.routes.route(WORKSPACE, "audit") is None


@pytest.mark.parametrize("route", [FULL, a_route()])
def test_a_route_is_read_back_as_it_was_saved(store: Store, route: Any) -> None:
    save(store, route)
    assert store.routes.route(WORKSPACE, "audit") == route
    assert store.routes.table(WORKSPACE) == RoutingTable((route,), 1)


def test_work_types_that_begin_alike_are_routed_apart(store: Store) -> None:
    save(store, a_route("audit"), a_route("audit-more", agent="scout"))
    assert store.routes.route(WORKSPACE, "audit") == a_route("audit")
    assert store.routes.route(WORKSPACE, "audi") is None
    assert [route.work_type for route in store.routes.table(WORKSPACE)] == ["audit", "audit-more"]


def test_a_change_decided_before_another_routes_change_is_refused(store: Store) -> None:
    read = store.routes.table(WORKSPACE)
    save(store, a_route("a"))
    with pytest.raises(Conflict):
        store.routes.save_route(a_route("b"), read)
    assert store.routes.route(WORKSPACE, "b") is None
    assert store.routes.table(WORKSPACE).version == 1


@pytest.mark.parametrize("version", [1, 3])
def test_a_route_changes_only_from_the_version_that_was_read(store: Store, version: int) -> None:
    save(store, a_route())
    with pytest.raises(Conflict):
        save(store, a_route(version=version, agent="scout"))
    assert store.routes.route(WORKSPACE, "audit") == a_route()


def test_a_removed_route_is_none_and_is_remembered(store: Store) -> None:
    removed = a_route(version=2, removed=True)
    save(store, a_route(), removed, a_route("other"))
    assert store.routes.route(WORKSPACE, "audit") is None
    table = store.routes.table(WORKSPACE)
    assert [route.work_type for route in table] == ["other"]
    assert (len(table), table.last("audit"), table.version) == (1, removed, 3)
    anew = replace(removed, version=3, removed=False, agent="scout")
    save(store, anew)
    assert store.routes.route(WORKSPACE, "audit") == anew


def test_every_version_is_kept_for_good(rig: Rig) -> None:
    for agent, mode in (("auditor", Mode.DISPATCH), ("scout", Mode.NEXT)):
        change_route(rig.world.deps, human(), "audit", {"agent": agent, "mode": mode})
    remove_route(rig.world.deps, human(name="bob"), "audit")
    partition = keys.route_version(WORKSPACE, "audit", 1).pk
    kept = [item for item in map(from_wire, rig.items()) if item["pk"] == partition]
    routes = [route_items.last_route_from(item) for item in sorted(kept, key=lambda item: item["sk"])]
    assert [(route.version, route.agent, route.removed, route.updated_by) for route in routes] == [
        (1, "auditor", False, "human:alice"),
        (2, "scout", False, "human:alice"),
        (3, "scout", True, "human:bob"),
    ]


def test_a_route_takes_two_calls(rig: Rig) -> None:
    values = {"agent": "auditor", "mode": Mode.DISPATCH}
    calls = rig.requested(lambda: change_route(rig.world.deps, human(), "audit", values))
    assert calls == ["query", "transact_write_items"]
    assert rig.count(lambda: rig.store.routes.route(WORKSPACE, "audit")) == ["get_item"]
