"""What one claim may keep in checkpoints and notes."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.tasks.calls import WorkerCall
from baton.services.claims.release_task import ReleasedWork, release_task
from support.gateway import Gateway, Reply
from support.worlds.world import World, agent, human

ALICE, AUDITOR = human(), agent("auditor")
LARGE = 249_000


@pytest.fixture
def claim(world: World, gateway: Gateway) -> Any:
    changed = {"kept_bytes_per_claim": 1_000_000, "kept_bytes_per_minute": 100_000_000}
    assert gateway.put(ALICE, "/workspace/settings", changed).status == 200
    return world.claimed()


def checkpoint(gateway: Gateway, claim: Any, size: int = LARGE, key: str | None = None) -> Reply:
    body = {"claim_id": claim.claim_id, "step_name": "s", "state": {"x": "y" * size}}
    return gateway.post(
        AUDITOR, f"/tasks/{claim.details.task.id}/checkpoints", body, headers={"idempotency-key": key} if key else None
    )


def note(gateway: Gateway, claim: Any, size: int) -> Reply:
    body = {"claim_id": claim.claim_id, "text": "y" * size}
    return gateway.post(AUDITOR, f"/tasks/{claim.details.task.id}/notes", body)


def test_checkpoints_and_notes_count_together(world: World, gateway: Gateway, claim: Any) -> None:
    task_id = claim.details.task.id
    assert [checkpoint(gateway, claim).status for _ in range(4)] == [201] * 4
    assert [note(gateway, claim, 1_500).status for _ in range(2)] == [201] * 2
    reply = checkpoint(gateway, claim, 1_500)
    assert (reply.status, reply.code, reply.json["limit"]) == (409, "claim_full", 1_000_000)
    assert "Retry-After" not in reply.headers
    reply = note(gateway, claim, 1_500)
    assert (reply.status, reply.code) == (409, "claim_full")
    assert world.task(task_id).checkpoints == 4
    assert note(gateway, claim, 500).status == 201
    assert gateway.post(AUDITOR, f"/tasks/{task_id}/heartbeat", {"claim_id": claim.claim_id}).status == 200
    assert checkpoint(gateway, claim, 500).code == "claim_full"
    done = gateway.post(AUDITOR, f"/tasks/{task_id}/complete", {"claim_id": claim.claim_id, "output": {"x": 1}})
    assert done.status == 200
    assert gateway.get(ALICE, f"/tasks/{task_id}/events/verify").json["intact"]


def test_a_new_claim_begins_with_nothing(world: World, gateway: Gateway, claim: Any) -> None:
    for _ in range(4):
        checkpoint(gateway, claim)
    assert checkpoint(gateway, claim).code == "claim_full"
    release_task(world.deps, WorkerCall(AUDITOR, claim.details.task.id, claim.claim_id, "h", None), ReleasedWork())
    world.clock.advance(60)
    assert checkpoint(gateway, world.claim()).status == 201


def test_a_repeat_counts_once(gateway: Gateway, claim: Any) -> None:
    for _ in range(10):
        assert checkpoint(gateway, claim, key="key-1").status == 201
    assert [checkpoint(gateway, claim).status for _ in range(4)] == [201, 201, 201, 409]


def test_neither_count_nor_claim_is_told_in_the_trail(world: World, gateway: Gateway, claim: Any) -> None:
    checkpoint(gateway, claim)
    events = gateway.get(ALICE, f"/tasks/{claim.details.task.id}/events").text
    assert "kept_bytes" not in events
    shown = gateway.get(ALICE, f"/tasks/{claim.details.task.id}").text
    assert "kept_bytes" not in shown
