"""What one caller may ask for in a minute, at every function; and nobody pays for another's haste."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from baton.domain.access.metering import HUMAN_FACTOR, LEAST_BYTES, LEAST_REQUESTS, SAMPLED
from baton.domain.errors import Busy
from baton.domain.settings.settings import Settings
from support.faults.soak import scaled
from support.faults.wrapped_store import WrappedStore
from support.gateway import Gateway, Reply, gateway_event, route_of
from support.worlds.world import World, agent, human, marker_body, service

ALICE, AUDITOR, SCOUT = human(), agent("auditor"), agent("scout")
PER_MINUTE = Settings().requests_per_minute
MOST = scaled(PER_MINUTE)
LARGE = 255_000
PATH = "/agents/scout"
ROUTE = route_of("GET", PATH)


class CountingStore(WrappedStore):
    """What is asked of it about settings and counts. ``breaks``: it doesn't answer."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        self.breaks = False

    def of(self, workspace: str) -> Any:
        self.asked["settings"] += 1
        return self.inner.settings.of(workspace)

    def count_use(self, *args: Any) -> Any:
        self.asked["counts"] += 1
        if self.breaks:
            raise Busy
        return self.inner.uses.count_use(*args)


@pytest.fixture(autouse=True)
def drawn_alike() -> Iterator[None]:
    random.seed(22)
    yield
    random.seed()


@pytest.fixture
def store() -> CountingStore:
    return CountingStore()


@pytest.fixture
def world(store: CountingStore) -> World:
    return World(store=store).settle()


def another_process(world: World) -> Gateway:
    return Gateway(World(store=world.store, clock=world.clock).deps)


def checkpoint(gateway: Gateway, claim: Any, size: int = LARGE) -> Reply:
    body = {"claim_id": claim.claim_id, "step_name": "s", "state": {"x": "y" * size}}
    return gateway.post(AUDITOR, f"/tasks/{claim.details.task.id}/checkpoints", body)


def asked(gateway: Gateway, by: Any = SCOUT, count: int = 100) -> list[int]:
    """The answers' statuses. Of thousands that are alike none is held against docs/openapi.json."""
    gateway.admit(by)
    event = gateway_event(by, "GET", PATH)
    return [gateway.handle(ROUTE, event)["statusCode"] for _ in range(count)]


def limited(gateway: Gateway, by: Any = SCOUT, most: int = 7_000) -> int:
    """How many requests are answered before one is refused."""
    gateway.admit(by)
    event = gateway_event(by, "GET", PATH)
    for number in range(most):
        answer = gateway.handle(ROUTE, event)
        if answer["statusCode"] == 429:
            reply = Reply(429, answer["headers"], answer["body"])
            assert reply.code == "rate_limited"
            assert int(reply.headers["Retry-After"]) >= 1
            return number
    raise AssertionError(most)


def lower(world: World, gateway: Gateway) -> None:
    """The limit, to a part of it."""
    gateway.put(human(name="bob"), "/workspace/settings", {"requests_per_minute": MOST})
    world.clock.advance(61)


def test_so_many_requests_and_no_more_and_again_as_time_goes_by(
    world: World, store: CountingStore, gateway: Gateway
) -> None:
    lower(world, gateway)
    store.breaks = True
    assert limited(gateway) == MOST
    reply = gateway.get(SCOUT, "/agents/scout")
    assert (reply.status, reply.json["limit"], reply.headers["Retry-After"]) == (429, "requests_per_minute", "1")
    world.clock.advance(1)
    assert limited(gateway) == MOST // 60
    world.clock.advance(60)
    assert limited(gateway) == MOST


def test_by_default_it_is_what_the_settings_say(store: CountingStore, gateway: Gateway) -> None:
    store.breaks = True
    assert limited(gateway) == PER_MINUTE


def test_thirty_large_checkpoints_in_two_seconds_are_too_many(world: World, gateway: Gateway) -> None:
    claim = world.claimed()
    replies = [checkpoint(gateway, claim) for _ in range(30)]
    kept = [reply.status for reply in replies].count(201)
    assert (kept + 1) * LARGE > Settings().kept_bytes_per_minute - LARGE >= (kept - 2) * LARGE
    last = replies[-1]
    assert (last.status, last.code) == (429, "rate_limited")
    assert world.task(claim.details.task.id).checkpoints == kept
    assert gateway.post(AUDITOR, f"/tasks/{claim.details.task.id}/heartbeat", {"claim_id": claim.claim_id}).status in {
        200,
        429,
    }
    world.clock.advance(60)
    assert checkpoint(gateway, claim).status == 201


def test_a_human_approves_whatever_an_agent_asks_for(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    lower(world, gateway)
    limited(gateway)
    assert gateway.get(AUDITOR, "/agents/scout").status == 200
    assert gateway.get(agent("scout", "other"), "/agents").status == 200
    assert gateway.post(ALICE, f"/tasks/{task_id}/approve").status == 200


def test_a_human_may_do_five_times_as_much(world: World, store: CountingStore, gateway: Gateway) -> None:
    lower(world, gateway)
    store.breaks = True
    assert limited(gateway, ALICE) == HUMAN_FACTOR * MOST
    assert limited(gateway, service()) == MOST


def test_every_function_refuses(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    gateway.put(ALICE, "/workspace/settings", {"requests_per_minute": 60})
    refusals: list[Reply] = []
    requests: list[Callable[[], Reply]] = [
        lambda: gateway.get(SCOUT, f"/tasks/{task_id}"),
        lambda: gateway.post(SCOUT, "/handoff-markers", marker_body(create_task=False)),
        lambda: gateway.get(SCOUT, f"/tasks/{task_id}/await", query="timeout=0"),
    ]
    for ask in requests:
        world.clock.advance(120)
        # Each function has processes of its own; here they share one.
        statuses = [ask().status for _ in range(LEAST_REQUESTS + 1)]
        assert set(statuses[:-1]) == {200}
        refusals.append(ask())
    assert {reply.status for reply in refusals} == {429}
    assert refusals[1].json["success"] is False, "as callers of this route know it"


def test_a_refused_request_costs_the_check_of_its_token_and_nothing_else(world: World, gateway: Gateway) -> None:
    class Untouchable:
        tokens = SimpleNamespace(present_token=world.store.tokens.present_token)

        def at_one_version(self) -> Any:
            return self

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    lower(world, gateway)
    limited(gateway)
    object.__setattr__(world.deps, "store", Untouchable())
    for body in ("{not json", b"\xff" * 300_000, {"x": "y" * 200_000}):
        assert gateway.post(SCOUT, "/handoffs", body).status == 429


def test_ordinary_callers_cost_no_further_reading_and_no_write(world: World, gateway: Gateway) -> None:
    store: Any = world.store
    store.asked.clear()
    asked(gateway, count=LEAST_REQUESTS)
    assert not store.asked
    asked(gateway, count=200)
    assert store.asked["settings"] == 1
    assert 0 < store.asked["counts"] < 3 * 200 / SAMPLED


def test_processes_that_know_nothing_of_each_other_let_through_little_more_than_one(world: World) -> None:
    """Ten of them, in turn: each lets its first sixty through, and its next ones until a sample tells it."""
    gateways = [another_process(world) for _ in range(10)]
    lower(world, gateways[0])
    most = MOST * 1.4 + 10 * (LEAST_REQUESTS + 2 * SAMPLED)
    answered = sum(asked(gateway, count=1).count(200) for _ in range(int(most * 1.1) // 10) for gateway in gateways)
    assert 10 * LEAST_REQUESTS <= answered <= most
    reply = gateways[0].get(SCOUT, "/agents/scout")
    assert (reply.status, reply.json["limit"]) == (429, "all")
    assert 1 <= int(reply.headers["Retry-After"]) <= 60
    world.clock.advance(60)
    assert gateways[0].get(SCOUT, "/agents/scout").status == 200


def test_large_bodies_are_counted_across_processes(world: World) -> None:
    claim = world.claimed()
    gateways = [another_process(world) for _ in range(10)]
    kept = [checkpoint(gateway, claim).status for _ in range(10) for gateway in gateways].count(201)
    assert kept * LARGE <= Settings().kept_bytes_per_minute + 10 * (LEAST_BYTES + LARGE)


def test_a_count_that_cannot_be_had_is_in_nobodys_way(world: World, store: CountingStore, gateway: Gateway) -> None:
    store.breaks = True
    assert set(asked(gateway, count=500)) == {200}
    assert any(line.get("action") == "use_not_counted" for line in world.logged)


def test_limits_are_settings_that_only_humans_change(world: World, gateway: Gateway) -> None:
    shown = gateway.get(ALICE, "/workspace/settings").json
    assert (shown["requests_per_minute"], shown["kept_bytes_per_minute"]) == (1_200, 6_000_000)
    changed = {"requests_per_minute": 100, "kept_bytes_per_minute": 300_000}
    assert gateway.put(service(), "/workspace/settings", changed).status == 403
    assert gateway.put(ALICE, "/workspace/settings", changed).status == 200
    assert limited(gateway) == 100
    for name in changed:
        for wrong in (0, 59, 10**10):
            reply = gateway.put(ALICE, "/workspace/settings", {name: wrong})
            assert (reply.status, reply.fields) == (422, [name])


def test_a_changed_limit_holds_within_a_minute(world: World, gateway: Gateway) -> None:
    lower(world, gateway)
    asked(gateway, count=100)
    gateway.put(ALICE, "/workspace/settings", {"requests_per_minute": 60_000})
    world.clock.advance(60)
    assert set(asked(gateway, count=MOST + 100)) == {200}
