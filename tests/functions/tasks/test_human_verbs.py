"""What only humans do: put off, dismiss, split, and approve many at once; over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support.faults.hooked_store import BusyStore
from support.gateway import ROUTES, Gateway
from support.values.bodies import BODIES, IDS
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import World, agent, human, service

NOBODY = {"agent": "nobody"}
TOMORROW = "2026-11-19T12:00:00Z"


@pytest.fixture
def http_agents(gateway: Gateway) -> HttpAgents:
    """Nothing is approved by itself."""
    return HttpAgents(gateway).hire(approval="manual")


def waiting(http_agents: HttpAgents, *, slug: str = "auto-code", **changes: Any) -> str:
    task_id: str = http_agents.hand_off("architect", slug, **changes)["task"]["id"]
    return task_id


def queue(http_agents: HttpAgents) -> list[str]:
    return [each["id"] for each in http_agents.gateway.get(ALICE, "/tasks", query="state=needs").json["items"]]


def test_deferred_task_is_out_of_the_queue_until_then(http_agents: HttpAgents, world: World) -> None:
    task_id = waiting(http_agents)
    assert queue(http_agents) == [task_id]
    reply = http_agents.gateway.post(ALICE, f"/tasks/{task_id}/defer", {"until": TOMORROW, "revision": 1})
    assert (reply.status, reply.json["state"]) == (200, "needs")
    assert reply.json["deferred_until"] == "2026-11-19T12:00:00.000Z"
    assert queue(http_agents) == []
    assert http_agents.gateway.post(ALICE, f"/tasks/{task_id}/approve").json["deferred_until"] is None


@pytest.mark.parametrize(
    ("verb", "body", "fields"),
    [
        ("defer", {}, ["until"]),
        ("defer", {"until": "2026-11-18T11:00:00Z"}, ["until"]),
        ("defer", {"until": "2028-11-18T11:00:00Z"}, ["until"]),
        ("defer", {"until": 5}, ["until"]),
        ("defer", {"until": "0001-01-01T00:00:00+01:00"}, ["until"]),
        ("defer", {"until": "9999-12-31T23:59:59-01:00"}, ["until"]),
        ("dismiss", {}, ["reason"]),
        ("dismiss", {"reason": " "}, ["reason"]),
        ("split", {"parts": [{"summary": "one"}]}, ["parts"]),
        ("split", {"parts": [{"summary": "x"}] * 11}, ["parts"]),
        ("split", {"parts": [{"summary": "x"}, {}]}, ["parts.1.summary"]),
        (
            "split",
            {"parts": [{"summary": "x"}, {"summary": "y", "target": {"agent": "nobody"}}]},
            ["parts.1.target.agent"],
        ),
    ],
)
def test_wrong_field_is_named_and_the_task_stays(
    http_agents: HttpAgents, verb: str, body: Any, fields: list[str]
) -> None:
    task_id = waiting(http_agents)
    reply = http_agents.gateway.post(ALICE, f"/tasks/{task_id}/{verb}", body)
    assert (reply.status, reply.fields) == (422, fields)
    assert queue(http_agents) == [task_id]


@pytest.mark.parametrize(
    ("verb", "body"),
    [("defer", {"until": TOMORROW}), ("split", {"parts": [{"summary": "one"}, {"summary": "two"}]})],
)
def test_another_revision_is_refused(http_agents: HttpAgents, verb: str, body: dict[str, Any]) -> None:
    reply = http_agents.gateway.post(ALICE, f"/tasks/{waiting(http_agents)}/{verb}", {**body, "revision": 2})
    assert (reply.status, reply.code, reply.json["revision"]) == (409, "revision_changed", 1)


def test_dismissed_task_is_cancelled_with_its_reason(http_agents: HttpAgents) -> None:
    task_id = waiting(http_agents)
    assert (
        http_agents.gateway.post(ALICE, f"/tasks/{task_id}/dismiss", {"reason": "not now"}).json["state"] == "cancelled"
    )
    event = http_agents.gateway.get(ALICE, f"/tasks/{task_id}/events").json["events"][-1]
    assert (event["type"], event["data"]["reason"]) == ("dismissed", "not now")


def test_split_task_is_cancelled_and_its_parts_wait_each_for_itself(http_agents: HttpAgents) -> None:
    task_id = waiting(http_agents, context={"state": {"a": 1}})
    parts = [{"summary": "First half"}, {"summary": "Second half", "target": {"agent": "ciso", "reason": "Theirs"}}]
    key = {"headers": {"idempotency-key": "s-1"}}
    path, body = f"/tasks/{task_id}/split", {"parts": parts, "revision": 1}
    reply = http_agents.gateway.post(ALICE, path, body, **key)
    assert (reply.status, reply.json["task"]["state"]) == (200, "cancelled")
    made = reply.json["parts"]
    assert reply.json["task"]["successors"] == [each["task"]["id"] for each in made]
    assert [each["task"]["title"] for each in made] == ["First half", "Second half"]
    assert [each["task"]["target_agent"] for each in made] == ["auto-code", "ciso"]
    assert [each["task"]["state"] for each in made] == ["needs", "needs"]
    assert made[0]["handoff"]["context"] == {"state": {"a": 1}}
    assert made[1]["handoff"]["part_of"]["number"] == 2
    assert http_agents.gateway.post(ALICE, path, body, **key).json == reply.json


def test_many_are_approved_with_an_answer_each(http_agents: HttpAgents, world: World) -> None:
    first, second, third = (waiting(http_agents, summary=str(number)) for number in range(3))
    world.settle("other")
    foreign = world.needing(agent("scout", "other"))
    http_agents.gateway.post(ALICE, f"/tasks/{third}/dismiss", {"reason": "x"})
    items: list[dict[str, Any]] = [
        {"task_id": first, "revision": 1},
        {"task_id": second, "for": "next"},
        {"task_id": third},
        {"task_id": second, "revision": 9},
        {"task_id": "task_unknown"},
        {"task_id": foreign},
    ]
    key = {"headers": {"idempotency-key": "a-1"}}
    reply = http_agents.gateway.post(ALICE, "/approvals", {"items": items}, **key)
    assert reply.status == 200
    answers = reply.json["items"]
    assert [each["task_id"] for each in answers] == [each["task_id"] for each in items]
    assert [each["status"] for each in answers] == ["approved"] * 2 + ["refused"] * 4
    assert [each["task"]["state"] for each in answers[:2]] == ["delegated", "next"]
    assert [(each["problem"]["status"], each["problem"]["code"]) for each in answers[2:]] == [
        (409, "task_ended"),
        (409, "not_allowed"),
        (404, "not_found"),
        (404, "not_found"),
    ]
    assert answers[4]["problem"] == answers[5]["problem"]
    assert (answers[0]["problem"], answers[2]["task"]) == (None, None)
    assert http_agents.gateway.post(ALICE, "/approvals", {"items": items}, **key).json == reply.json


@pytest.mark.parametrize(
    ("items", "field"),
    [
        ([{"task_id": "t"}] * 25, "items"),
        ([{}], "items.1.task_id"),
        ([{"task_id": "t", "for": "later"}], "items.1.for"),
        ([{"task_id": "t", "purpose": "next"}], "items.1.purpose"),
        ([{"task_id": "t", "revision": 0}], "items.1.revision"),
    ],
)
def test_wrong_list_of_approvals_is_named_and_approves_nothing(http_agents: HttpAgents, items: Any, field: str) -> None:
    task_id = waiting(http_agents)
    reply = http_agents.gateway.post(ALICE, "/approvals", {"items": [{"task_id": task_id}, *items]})
    assert (reply.status, reply.fields) == (422, [field])
    assert http_agents.gateway.post(ALICE, "/approvals", {"items": []}).fields == ["items"]
    assert queue(http_agents) == [task_id]


@pytest.mark.parametrize("by", [agent("architect"), service()])
def test_nobody_else_approves_puts_off_or_splits(http_agents: HttpAgents, by: Any) -> None:
    task_id = waiting(http_agents)
    for path, body in {
        "/approvals": {"items": [{"task_id": task_id}]},
        f"/tasks/{task_id}/defer": {"until": TOMORROW},
        f"/tasks/{task_id}/dismiss": {"reason": "x"},
        f"/tasks/{task_id}/split": {"parts": [{"summary": "one"}, {"summary": "two"}]},
    }.items():
        reply = http_agents.gateway.post(by, path, body)
        assert (reply.status, reply.code) == (403, "human_required")
    assert http_agents.gateway.get(ALICE, f"/tasks/{task_id}").json["version"] == 1


def test_settings_of_the_loop_guard_are_bounded_and_take_effect(http_agents: HttpAgents) -> None:
    for name, wrong in {
        "max_depth": 51,
        "ping_pong_window": 3,
        "root_handoffs_per_hour": 301,
        "max_attempts": 0,
    }.items():
        assert http_agents.gateway.put(ALICE, "/workspace/settings", {name: wrong}).fields == [name]
    http_agents.gateway.put(ALICE, "/workspace/settings", {"root_handoffs_per_hour": 1})
    http_agents.hand_off()
    body = {"source": {"agent": "architect"}, "target": {"agent": "auto-code", "reason": "more"}}
    refused = http_agents.gateway.post(agent("architect"), "/handoffs", body)
    assert (refused.status, refused.json["rule"]) == (409, "root_rate")
    http_agents.gateway.put(ALICE, "/workspace/settings", {"loop_guard": False})
    assert http_agents.gateway.post(agent("architect"), "/handoffs", body).status == 201
    assert http_agents.gateway.get(human("other"), "/workspace/settings").json["loop_guard"] is True


def test_approval_that_the_store_does_not_answer_may_be_asked_for_again(http_agents: HttpAgents, world: World) -> None:
    """The others are approved by then, and a repeat with the same key answers for them as before."""
    body = {"items": [{"task_id": waiting(http_agents), "for": "next"}]}
    key = {"headers": {"idempotency-key": "b-1"}}
    away = Gateway(replace(world.deps, store=BusyStore(world.store, "load", frozenset({"acme"})))).post(
        ALICE, "/approvals", body, **key
    )
    (item,) = away.json["items"]
    assert (away.status, item["status"]) == (200, "refused")
    assert (item["problem"]["status"], item["problem"]["code"]) == (503, "busy")
    again = http_agents.gateway.post(ALICE, "/approvals", body, **key)
    assert again.json["items"][0]["task"]["state"] == "next"


def test_no_refusal_shows_how_python_writes_a_value(world: World, gateway: Gateway) -> None:
    """A state, a kind or a verb is told by its own word, in every state and for every verb."""
    held, ended = world.claimed(), world.needing(agent("auditor"), source_agent="auditor", target_agent="scout")
    waiting = world.needing(agent("runner"), source_agent="runner")
    gateway.post(human(), f"/tasks/{ended}/cancel")
    verbs = [route for route in ROUTES if route.method == "POST" and "{task_id}" in route.path]
    assert len(verbs) > 15
    for task_id in (ended, held.details.task.id, waiting):
        for verb in verbs:
            reply = gateway.post(human(), verb.path.format_map({**IDS, "task_id": task_id}), BODIES.get(verb.name, {}))
            assert "<" not in reply.text, reply.text
            assert "State." not in reply.text, reply.text
