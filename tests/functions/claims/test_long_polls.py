"""Waiting is bounded: five long polls of one principal at once, whatever they wait for, and all of a function by what
is reserved for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from baton.domain.access.polls import SHORTEST_SECONDS, Room
from baton.domain.settings.settings import Settings
from baton.domain.times import seconds
from support.gateway import Gateway, Reply
from support.worlds.world import World, agent, human

MOST = Settings().polls_at_once
AUDITOR, SCOUT = agent("auditor"), agent("scout")


def busy(world: World, by: Any = AUDITOR, count: int = MOST) -> None:
    """So many polls of it wait elsewhere."""
    now = world.clock.now()
    for number in range(count):
        world.store.uses.begin_poll(by, MOST, f"elsewhere_{number}", now, now + seconds(25))


def polls(gateway: Gateway, task_id: str, timeout: int = 2) -> dict[str, Callable[[], Reply]]:
    of_claims = f"/agents/auditor/claims/wait?timeout={timeout}".split("?")
    return {
        "await": lambda: gateway.get(AUDITOR, f"/tasks/{task_id}/await", query=f"timeout={timeout}"),
        "events": lambda: gateway.get(AUDITOR, f"/tasks/{task_id}/events/wait", query=f"after=9&timeout={timeout}"),
        "claims": lambda: gateway.post(AUDITOR, of_claims[0], {}, query=of_claims[1]),
    }


@pytest.mark.parametrize("route", ["await", "events", "claims"])
def test_a_sixth_poll_is_refused_until_another_ends(world: World, gateway: Gateway, route: str) -> None:
    task_id = world.needing()
    busy(world)
    reply = polls(gateway, task_id)[route]()
    assert (reply.status, reply.code, reply.json["limit"]) == (429, "too_many_polls", MOST)
    assert 1 <= int(reply.headers["Retry-After"]) <= 25
    assert world.clock.slept == []
    world.clock.advance(25)
    assert polls(gateway, task_id)[route]().status in {200, 204}


def test_all_three_routes_count_together(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    busy(world, count=MOST - 1)
    inner_replies: list[Reply] = []

    def ask(route: str) -> None:
        inner_replies.append(polls(gateway, task_id)[route]())

    for inner in ("await", "events", "claims"):
        world.clock.meanwhile = partial(ask, inner)
        outer = polls(gateway, task_id)["events"]()
        assert outer.status == 200
    assert [reply.status for reply in inner_replies] == [429, 429, 429]


@pytest.mark.parametrize("route", ["await", "events", "claims"])
def test_a_poll_gives_its_place_back_however_it_ends(world: World, gateway: Gateway, route: str) -> None:
    task_id = world.needing()
    busy(world, count=MOST - 1)
    for _ in range(3):
        assert polls(gateway, task_id)[route]().status in {200, 204}

    def breaks() -> None:
        raise RuntimeError("the table is gone")

    world.clock.meanwhile = breaks
    assert polls(gateway, task_id)[route]().status == 500
    assert polls(gateway, task_id)[route]().status in {200, 204}


def test_whoever_finds_at_once_what_it_waits_for_needs_no_place(world: World, gateway: Gateway) -> None:
    task_id = world.ready()
    busy(world)
    assert gateway.get(AUDITOR, f"/tasks/{task_id}/await", query="state=delegated").status == 200
    assert gateway.get(AUDITOR, f"/tasks/{task_id}/events/wait").json["events"]
    assert gateway.post(AUDITOR, "/agents/auditor/claims/wait").status == 200
    assert gateway.post(AUDITOR, "/agents/auditor/claims/wait", query="timeout=0").status == 204


def test_others_wait_and_work_as_before(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    busy(world)
    for by in (SCOUT, human()):
        assert gateway.get(by, f"/tasks/{task_id}/await", query="timeout=1").status == 200
    assert gateway.post(human(), f"/tasks/{task_id}/approve").status == 200
    world.clock.advance(3)
    assert gateway.post(AUDITOR, "/agents/auditor/claims").status == 200


def in_a_room(world: World, reserve: int = 10, waiting: int = 0) -> Gateway:
    """A gateway before a function with a reserve, in which so many others wait already."""
    for _ in range(waiting):
        world.store.uses.enter_room("wait", world.clock.now())
    return Gateway(replace(world.deps, room=Room("wait", reserve)))


@pytest.mark.parametrize("route", ["await", "events", "claims"])
def test_where_many_wait_a_poll_ends_sooner_with_the_same_answer(world: World, route: str) -> None:
    task_id = world.needing()
    slept = {}
    for waiting in (4, 7):
        gateway = in_a_room(world, waiting=waiting)
        world.clock.slept.clear()
        assert polls(gateway, task_id, timeout=20)[route]().status in {200, 204}
        slept[waiting] = sum(world.clock.slept)
        world.clock.advance(60)
    assert slept == {4: pytest.approx(20, abs=0.01), 7: pytest.approx(SHORTEST_SECONDS, abs=0.01)}


@pytest.mark.parametrize("route", ["await", "events", "claims"])
def test_where_all_places_are_taken_a_poll_is_told_when_to_come_back(world: World, route: str) -> None:
    task_id = world.needing()
    gateway = in_a_room(world, waiting=8)
    for _ in range(2):
        reply = polls(gateway, task_id)[route]()
        assert (reply.status, reply.code, reply.headers["Retry-After"]) == (429, "too_many_polls", "2")
        assert "this deployment" in reply.json["detail"]
    assert world.clock.slept == []
    world.store.uses.leave_room("wait", world.clock.now())
    assert polls(gateway, task_id)[route]().status in {200, 204}


@pytest.mark.parametrize("route", ["await", "events", "claims"])
def test_a_poll_leaves_the_room_however_it_ends(world: World, route: str) -> None:
    task_id = world.needing()
    gateway = in_a_room(world, reserve=2)

    def breaks() -> None:
        raise RuntimeError("the table is gone")

    for _ in range(3):
        assert polls(gateway, task_id)[route]().status in {200, 204}
        world.clock.meanwhile = breaks
        assert polls(gateway, task_id)[route]().status == 500


def test_a_workspace_says_how_many_polls_of_one_principal_wait(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    busy(world)
    for number, status in ((2, 429), (6, 200), (5, 429)):
        assert gateway.put(human(), "/workspace/settings", {"polls_at_once": number}).status == 200
        reply = polls(gateway, task_id)["await"]()
        assert (reply.status, reply.json.get("limit", number)) == (status, number)


@pytest.mark.parametrize("number", [0, 26])
def test_the_number_has_bounds(gateway: Gateway, number: int) -> None:
    assert gateway.put(human(), "/workspace/settings", {"polls_at_once": number}).code == "invalid_input"
