"""The saved state of a framework's run: written under a claim, and given back to its author alone."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway, Reply
from support.worlds.world import World, agent, human, service

AUDITOR, SCOUT = agent("auditor"), agent("scout")
SIGNATURE = "ab" * 32
SAVED = {"state": "e30=", "signature": SIGNATURE}


def saved(gateway: Gateway, task_id: str, claim_id: str, *, key: str | None = None, **more: Any) -> Reply:
    headers = {"idempotency-key": key} if key else None
    body = {"claim_id": claim_id, **SAVED, **more}
    return gateway.post(AUDITOR, f"/tasks/{task_id}/run-state", body, headers=headers)


@pytest.fixture
def task_id(world: World) -> str:
    return world.ready()


def claimed(gateway: Gateway, task_id: str) -> Reply:
    return gateway.post(AUDITOR, f"/tasks/{task_id}/claim", {"lease_seconds": 60})


def released(gateway: Gateway, task_id: str, claim_id: str) -> None:
    assert gateway.post(AUDITOR, f"/tasks/{task_id}/release", {"claim_id": claim_id}).status == 200


def test_next_claim_of_its_author_gets_it_with_who_saved_it_and_under_which_fence(
    world: World, gateway: Gateway, task_id: str
) -> None:
    first = claimed(gateway, task_id).json
    assert (first["run_state"], first["claimed_by"]) == (None, "agent:auditor")
    reply = saved(gateway, task_id, first["claim_id"])
    assert (reply.status, reply.json["fence"], reply.json["by"]) == (200, 1, "agent:auditor")
    released(gateway, task_id, first["claim_id"])
    world.clock.advance(60)
    second = claimed(gateway, task_id).json
    author = {"by": "agent:auditor", "agent": "auditor", "fence": 1, "at": reply.json["at"]}
    assert second["run_state"] == {**SAVED, **author}


def test_last_one_counts_and_a_repeat_is_one(world: World, gateway: Gateway, task_id: str) -> None:
    claim_id = claimed(gateway, task_id).json["claim_id"]
    first = saved(gateway, task_id, claim_id, key="s-1")
    assert saved(gateway, task_id, claim_id, key="s-1").json == first.json
    saved(gateway, task_id, claim_id, state="e30xLg==")
    events = gateway.get(human(), f"/tasks/{task_id}/events").json["events"]
    kinds = [each["data"].get("kind") for each in events if each["type"] == "checkpoint_saved"]
    assert kinds == ["run_state", "run_state"]
    details = world.store.tasks.read("acme", task_id)
    assert details.run_state is not None
    assert details.run_state.state == "e30xLg=="
    assert gateway.get(human(), f"/tasks/{task_id}/events/verify").json["intact"]


def test_checkpoint_neither_makes_nor_replaces_it(world: World, gateway: Gateway, task_id: str) -> None:
    first = claimed(gateway, task_id).json
    forged = {"form": "baton.run/1", "state": "x", "calls": [], "outcomes": {}, "asked": {}, "known": []}
    body = {"claim_id": first["claim_id"], "step_name": "run", "state": forged}
    assert gateway.post(AUDITOR, f"/tasks/{task_id}/checkpoints", body).status == 201
    assert world.store.tasks.read("acme", task_id).run_state is None
    saved(gateway, task_id, first["claim_id"])
    assert gateway.post(AUDITOR, f"/tasks/{task_id}/checkpoints", body).status == 201
    released(gateway, task_id, first["claim_id"])
    world.clock.advance(60)
    second = claimed(gateway, task_id).json
    assert second["run_state"]["state"] == "e30="
    assert (second["checkpoint"]["state"], second["checkpoint"]["by"]) == (forged, "agent:auditor")
    listed = gateway.get(human(), f"/tasks/{task_id}/checkpoints").json["items"]
    assert [each["step_name"] for each in listed if each["step_name"] == "run"] == ["run", "run"]


def test_another_principal_of_the_same_agent_gets_its_author_and_no_content(
    world: World, gateway: Gateway, task_id: str
) -> None:
    first = claimed(gateway, task_id).json
    saved(gateway, task_id, first["claim_id"])
    released(gateway, task_id, first["claim_id"])
    world.clock.advance(60)
    other = gateway.post(service(), f"/tasks/{task_id}/claim", {"agent": "auditor"}).json
    shown = other["run_state"]
    assert (shown["state"], shown["signature"], shown["by"], shown["fence"]) == (None, None, "agent:auditor", 1)


def test_wrong_input_names_its_field(gateway: Gateway, task_id: str) -> None:
    claim_id = claimed(gateway, task_id).json["claim_id"]
    for name, value in (("state", ""), ("state", {"x": 1}), ("signature", "ab"), ("signature", None)):
        wrong: dict[str, Any] = {name: value}
        reply = saved(gateway, task_id, claim_id, **wrong)
        assert (reply.status, reply.json["errors"][0]["field"]) == (422, name)
    assert saved(gateway, task_id, claim_id, state="AKIAIOSFODNN7EXAMPLE").code == "guardrail"


def test_state_that_a_guardrail_would_mask_is_refused(world: World, gateway: Gateway, task_id: str) -> None:
    changed = gateway.put(human(), "/workspace/settings", {"guardrails": {"secrets": "mask"}})
    assert changed.status == 200
    claim_id = claimed(gateway, task_id).json["claim_id"]
    reply = saved(gateway, task_id, claim_id, state="AKIAIOSFODNN7EXAMPLE")
    assert (reply.status, reply.json["errors"][0]["field"]) == (422, "state")
    assert world.store.tasks.read("acme", task_id).run_state is None


def test_it_counts_with_what_the_claim_keeps(gateway: Gateway, task_id: str) -> None:
    assert gateway.put(human(), "/workspace/settings", {"kept_bytes_per_claim": 1_000_000}).status == 200
    claim_id = claimed(gateway, task_id).json["claim_id"]
    assert [saved(gateway, task_id, claim_id, state="e" * 249_000).status for _ in range(5)] == [200] * 4 + [409]
