"""A new tracker token and the tracker's webhook in the list of changes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from baton.domain import errors
from baton.domain.tracker.webhook import digest
from support.fakes.ports import FakeSecrets
from support.faults.hooked_store import HookedStore
from support.gateway import Gateway
from support.worlds.notion_world import NotionWorld
from support.worlds.world import World, human, service

ALICE, BOB = human(), human(name="bob")
TOKEN, WEBHOOK = "/tracker/token", "/tracker/webhook"


class AwaySecrets(FakeSecrets):
    """Secrets Manager can be read, and takes nothing."""

    def put(self, workspace: str, token: str) -> None:
        raise errors.Busy


def busy() -> None:
    raise errors.Busy


@pytest.fixture
def tracked() -> NotionWorld:
    return NotionWorld().settle()


@pytest.fixture
def edge(tracked: NotionWorld) -> Gateway:
    return Gateway(tracked.deps)


def changes(gateway: Gateway) -> list[dict[str, Any]]:
    """Returns the tracker's changes, oldest first."""
    items: list[dict[str, Any]] = gateway.get(service(), "/workspace/changes", query="subject=tracker").json["items"]
    return items[::-1]


def told(gateway: Gateway) -> list[tuple[Any, ...]]:
    return [tuple(each[name] for name in ("by", "names", "state", "before", "after")) for each in changes(gateway)]


def test_new_token_is_a_change_without_the_token(world: World, gateway: Gateway) -> None:
    gateway.put(ALICE, TOKEN, {"token": "ntn_hush_1"})
    world.clock.advance(1)
    gateway.put(BOB, TOKEN, {"token": "ntn_hush_2"})
    assert told(gateway) == [
        ("human:alice", ["token"], "applied", None, {"token": "set"}),
        ("human:bob", ["token"], "applied", {"token": "set"}, {"token": "replaced"}),
    ]
    assert "hush" not in json.dumps(changes(gateway))


def test_repeated_token_is_recorded_once(world: World, gateway: Gateway) -> None:
    for _ in range(2):
        headers = {"idempotency-key": "t-1"}
        assert gateway.send(ALICE, "PUT", TOKEN, {"token": "ntn_hush"}, headers=headers).status == 204
    assert len(changes(gateway)) == 1
    assert world.deps.secrets.get("acme") == "ntn_hush"


def test_token_that_comes_back_is_recorded_again(gateway: Gateway) -> None:
    for token in ("ntn_1", "ntn_2", "ntn_1"):
        gateway.put(ALICE, TOKEN, {"token": token})
    assert len(changes(gateway)) == 3


def test_token_is_recorded_before_it_is_replaced(world: World, gateway: Gateway) -> None:
    """A crash between the two writes leaves a record of an attempt, and never a token without one."""
    cut = Gateway(replace(world.deps, secrets=AwaySecrets()))
    assert cut.put(ALICE, TOKEN, {"token": "ntn_hush"}).status == 503
    assert len(changes(gateway)) == 1


def test_token_is_not_replaced_without_a_record(world: World) -> None:
    store = HookedStore(world.store)
    store.before["commit"] = busy
    cut = Gateway(replace(world.deps, store=store))
    assert cut.put(ALICE, TOKEN, {"token": "ntn_hush"}).status == 503
    assert world.deps.secrets.get("acme") is None


def test_opened_and_removed_webhook_are_changes_without_its_address(tracked: NotionWorld, edge: Gateway) -> None:
    before = len(changes(edge))
    tracked.clock.advance(1)
    secret = edge.post(ALICE, WEBHOOK).json["url"].rpartition(".")[2]
    tracked.clock.advance(1)
    edge.post(BOB, WEBHOOK)
    tracked.clock.advance(1)
    edge.send(ALICE, "DELETE", WEBHOOK)
    assert edge.send(ALICE, "DELETE", WEBHOOK).status == 404
    opened = {"opened_at": changes(edge)[before]["at"], "state": "open"}
    renewed = {**opened, "opened_at": changes(edge)[before + 1]["at"]}
    assert told(edge)[before:] == [
        ("human:alice", ["webhook"], "applied", None, opened),
        ("human:bob", ["webhook"], "applied", opened, renewed),
        ("human:alice", ["webhook"], "applied", renewed, None),
    ]
    said = json.dumps(changes(edge))
    assert secret not in said
    assert digest(secret) not in said


@pytest.mark.parametrize("when", ["before", "after"])
def test_webhook_and_its_record_are_one_write(tracked: NotionWorld, when: str) -> None:
    store = HookedStore(tracked.deps.store)
    getattr(store, when)["commit"] = busy
    assert Gateway(replace(tracked.deps, store=store)).post(ALICE, WEBHOOK).status == 503
    edge = Gateway(tracked.deps)
    is_opened = edge.get(ALICE, WEBHOOK).status == 200
    assert is_opened == (when == "after")
    assert is_opened == (["webhook"] in [each["names"] for each in changes(edge)])
