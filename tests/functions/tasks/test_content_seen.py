"""What a human had before their eyes: a decision that names its digest is for exactly that (invariant 8)."""

from __future__ import annotations

from typing import Any

import pytest

from support.fakes.store import InMemoryStore
from support.gateway import Gateway
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import World

ANOTHER = "0" * 64
ONE, MANY = {"variables": {"amount": 1, "to": "x"}}, {"variables": {"amount": 1_000_000, "to": "mallory"}}
DECISIONS: dict[str, dict[str, Any]] = {
    "approve": {},
    "approve-next": {},
    "defer": {"until": "2026-11-19T12:00:00Z"},
    "split": {"parts": [{"summary": "one"}, {"summary": "two"}]},
}


@pytest.fixture
def http_agents(gateway: Gateway) -> HttpAgents:
    """Nothing is approved by itself."""
    return HttpAgents(gateway).hire(approval="manual")


def waiting(http_agents: HttpAgents, *, slug: str = "auto-code", **changes: Any) -> dict[str, Any]:
    task: dict[str, Any] = http_agents.hand_off("architect", slug, **changes)["task"]
    return task


def last_event(gateway: Gateway, task_id: str) -> dict[str, Any]:
    event: dict[str, Any] = gateway.get(ALICE, f"/tasks/{task_id}/events").json["events"][-1]
    return event


@pytest.mark.parametrize("verb", DECISIONS)
def test_decision_on_another_content_is_refused_and_nothing_happens(http_agents: HttpAgents, verb: str) -> None:
    gateway, task = http_agents.gateway, waiting(http_agents)
    path, body = f"/tasks/{task['id']}", DECISIONS[verb]
    refused = gateway.post(ALICE, f"{path}/{verb}", {**body, "revision": 1, "digest": ANOTHER})
    assert (refused.status, refused.code, refused.json["seen"]) == (409, "revision_changed", ANOTHER)
    assert (refused.json["revision"], refused.json["digest"]) == (1, task["digest"])
    assert gateway.get(ALICE, path).json["version"] == task["version"]
    assert gateway.post(ALICE, f"{path}/{verb}", {**body, "revision": 1, "digest": task["digest"]}).status == 200
    assert last_event(gateway, task["id"])["data"]["seen"] == task["digest"]


@pytest.mark.parametrize("verb", DECISIONS)
def test_decision_without_a_digest_says_of_none_that_it_was_seen(http_agents: HttpAgents, verb: str) -> None:
    gateway, task = http_agents.gateway, waiting(http_agents)
    assert gateway.post(ALICE, f"/tasks/{task['id']}/{verb}", DECISIONS[verb]).status == 200
    assert "seen" not in last_event(gateway, task["id"])["data"]


def test_each_of_many_is_approved_as_it_was_seen(http_agents: HttpAgents) -> None:
    one, other = waiting(http_agents, context=ONE), waiting(http_agents, context=MANY)
    items = [{"task_id": each["id"], "digest": one["digest"]} for each in (one, other)]
    reply = http_agents.gateway.post(ALICE, "/approvals", {"items": items})
    assert [each["status"] for each in reply.json["items"]] == ["approved", "refused"]
    assert http_agents.gateway.get(ALICE, f"/tasks/{other['id']}").json["state"] == "needs"


@pytest.mark.parametrize("digest", ["", "0" * 63, "0" * 65, "G" * 64, "A" * 64, 5])
def test_digest_that_is_none_is_named(http_agents: HttpAgents, digest: Any) -> None:
    task = waiting(http_agents)
    reply = http_agents.gateway.post(ALICE, f"/tasks/{task['id']}/approve", {"digest": digest})
    assert (reply.status, reply.fields) == (422, ["digest"])


def test_same_request_has_the_same_digest_and_any_other_another(http_agents: HttpAgents) -> None:
    first, again = (waiting(http_agents, context=ONE)["digest"] for _ in range(2))
    assert first == again
    asks: list[dict[str, Any]] = [
        {"context": MANY},
        {"context": ONE, "budget": {"max_handoffs": 3}},
        {"context": ONE, "rollback": {"on_failure": "architect", "failure_context": ["The log"]}},
        {"context": ONE, "metadata": {"priority": "P0"}},
        {"context": ONE, "expectations": {"deadline": "2026-11-20T12:00:00Z"}},
    ]
    found = {waiting(http_agents, **each)["digest"] for each in asks}
    assert len(found | {first}) == len(asks) + 1


def test_digest_stands_beside_the_revision_wherever_either_is_shown(http_agents: HttpAgents) -> None:
    gateway, begun = http_agents.gateway, http_agents.hand_off("architect", "auto-code")
    task = begun["task"]
    seen = {"revision": 1, "digest": task["digest"]}
    views = [
        begun["handoff"],
        gateway.get(ALICE, f"/tasks/{task['id']}").json,
        gateway.get(ALICE, "/tasks", query="state=needs").json["items"][0],
        gateway.get(ALICE, f"/handoffs/{task['handoff_id']}").json,
        gateway.get(ALICE, "/handoffs").json["items"][0],
    ]
    assert [{name: view[name] for name in seen} for view in views] == [seen] * len(views)


def test_task_of_an_earlier_release_is_decided_by_its_revision(world: World, gateway: Gateway) -> None:
    assert isinstance(world.store, InMemoryStore)
    task_id = world.needing()
    dynamo = world.store.dynamo
    for (_, sk), item in dynamo.contents().items():
        if sk == "HEAD":
            dynamo.put({name: value for name, value in item.items() if name != "digest"})  # as an earlier one put it
    assert gateway.get(ALICE, f"/tasks/{task_id}").json["digest"] is None
    assert gateway.post(ALICE, f"/tasks/{task_id}/approve", {"digest": ANOTHER}).code == "revision_changed"
    assert gateway.post(ALICE, f"/tasks/{task_id}/approve", {"revision": 1}).status == 200
