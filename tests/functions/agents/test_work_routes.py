"""Routes by work type over HTTP (docs/spec/lifecycle.md §2)."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway
from support.worlds.world import World, agent, human, service

ALICE, BOB, SCOUT, STRANGER = human(), human(name="bob"), agent("scout"), human("other")
BODY = {"agent": "auditor", "mode": "dispatch"}


def test_route_is_made_once_and_changed_after(world: World, gateway: Gateway) -> None:
    first = gateway.put(ALICE, "/routes/audit", BODY)
    assert (first.status, first.headers["Location"]) == (201, "/routes/audit")
    assert first.json == {
        "mode_setter": "human:alice",
        "mode_set_at": "2026-11-18T12:00:00.000Z",
        "work_type": "audit",
        "agent": "auditor",
        "mode": "dispatch",
        "dispatch_rank": 100,
        "version": 1,
        "updated_at": first.json["updated_at"],
        "updated_by": "human:alice",
    }
    world.clock.advance(60)
    second = gateway.put(BOB, "/routes/audit", {"agent": "scout", "mode": "manual", "dispatch_rank": 0, "version": 1})
    assert second.status == 200
    assert {**second.json, "updated_at": ""} == {
        **first.json,
        "agent": "scout",
        "mode": "manual",
        "dispatch_rank": 0,
        "version": 2,
        "updated_by": "human:bob",
        "updated_at": "",
        "mode_setter": "human:bob",
        "mode_set_at": second.json["updated_at"],
    }
    assert gateway.get(SCOUT, "/routes/audit").json == second.json


def test_change_on_an_old_version_is_refused(gateway: Gateway) -> None:
    gateway.put(ALICE, "/routes/audit", BODY)
    for version in (0, 2):
        reply = gateway.put(ALICE, "/routes/audit", {**BODY, "version": version})
        assert (reply.status, reply.code, reply.json["version"]) == (409, "version_conflict", 1)


def test_routes_are_listed_by_rank_and_then_by_work_type(gateway: Gateway) -> None:
    for work_type, rank in (("b", 5), ("a", 5), ("z", 1)):
        gateway.put(ALICE, f"/routes/{work_type}", {**BODY, "dispatch_rank": rank})
    listed = gateway.get(SCOUT, "/routes").json
    assert [route["work_type"] for route in listed["items"]] == ["z", "a", "b"]
    assert listed["next_cursor"] is None


def test_removed_route_is_gone_and_may_come_back(gateway: Gateway) -> None:
    gateway.put(ALICE, "/routes/audit", BODY)
    assert gateway.delete(ALICE, "/routes/audit").status == 204
    assert gateway.get(ALICE, "/routes/audit").status == 404
    assert gateway.delete(ALICE, "/routes/audit").status == 404
    assert gateway.get(ALICE, "/routes").json["items"] == []
    again = gateway.put(ALICE, "/routes/audit", {**BODY, "version": 0})
    assert (again.status, again.json["version"]) == (201, 3)


@pytest.mark.parametrize(("slug", "code"), [("nobody", "unknown_agent"), ("auditor", "inactive_agent")])
def test_agent_that_gets_no_work_is_named(gateway: Gateway, slug: str, code: str) -> None:
    gateway.put(ALICE, "/agents/auditor", {"active": False})
    reply = gateway.put(ALICE, "/routes/audit", {**BODY, "agent": slug})
    assert (reply.status, reply.code, reply.fields) == (422, code, ["agent"])
    assert gateway.get(ALICE, "/routes").json["items"] == []


@pytest.mark.parametrize("by", [SCOUT, agent("auditor"), service()])
def test_only_humans_route_work(gateway: Gateway, by: Any) -> None:
    gateway.put(ALICE, "/routes/audit", BODY)
    for reply in (gateway.put(by, "/routes/audit", BODY), gateway.delete(by, "/routes/audit")):
        assert (reply.status, reply.code) == (403, "human_required")
    assert gateway.get(ALICE, "/routes/audit").json["version"] == 1


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_other_workspaces_route_answers_like_an_unknown_one(world: World, gateway: Gateway, method: str) -> None:
    world.settle("other")
    route = gateway.put(ALICE, "/routes/audit", BODY).json
    foreign = gateway.send(STRANGER, method, "/routes/audit")
    unknown = gateway.send(STRANGER, method, "/routes/nothing")
    impossible = gateway.send(STRANGER, method, "/routes/No.Thing")
    assert foreign.status == 404
    assert foreign.json == unknown.json == impossible.json
    assert gateway.get(STRANGER, "/routes").json["items"] == []
    assert gateway.put(STRANGER, "/routes/audit", {**BODY, "agent": "scout"}).json["version"] == 1
    assert gateway.get(ALICE, "/routes/audit").json == route


WRONG: list[tuple[str, Any, list[str]]] = [
    ("audit", {}, ["agent", "mode"]),
    ("audit", {**BODY, "agent": "Not A Slug"}, ["agent"]),
    ("audit", {**BODY, "agent": None}, ["agent"]),
    ("audit", {**BODY, "mode": "auto"}, ["mode"]),
    ("audit", {**BODY, "dispatch_rank": -1}, ["dispatch_rank"]),
    ("audit", {**BODY, "dispatch_rank": 1_001}, ["dispatch_rank"]),
    ("audit", {**BODY, "dispatch_rank": "1"}, ["dispatch_rank"]),
    ("audit", {**BODY, "dispatch_rank": True}, ["dispatch_rank"]),
    ("audit", {**BODY, "version": -1}, ["version"]),
    ("audit", {**BODY, "work_type": "other"}, ["work_type"]),
    ("Audit", BODY, ["work_type"]),
    ("-audit", BODY, ["work_type"]),
    ("x" * 64, BODY, ["work_type"]),
]


@pytest.mark.parametrize(("work_type", "body", "fields"), WRONG)
def test_wrong_field_is_named_and_writes_nothing(
    gateway: Gateway, work_type: str, body: Any, fields: list[str]
) -> None:
    reply = gateway.put(ALICE, f"/routes/{work_type}", body)
    assert (reply.status, reply.fields) == (422, fields)
    assert gateway.get(ALICE, "/routes").json["items"] == []
