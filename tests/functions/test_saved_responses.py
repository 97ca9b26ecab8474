"""The same Idempotency-Key gets the first answer for seven days; after that it is a new request."""

from __future__ import annotations

from typing import Any

from support.gateway import Gateway
from support.worlds.world import World, agent, human, marker_body

DAY = 86_400
KEY = {"idempotency-key": "key-1"}


def test_a_marker_is_repeated_for_a_week_and_new_after_it(world: World, gateway: Gateway) -> None:
    def mark(**changes: Any) -> Any:
        return gateway.post(agent("scout"), "/handoff-markers", marker_body(**changes), headers=KEY)

    first = mark().json
    world.clock.advance(7 * DAY - 1)
    assert mark().json["task_id"] == first["task_id"]
    assert mark(escalation_reason="another").status == 422
    world.clock.advance(1)
    second = mark(escalation_reason="another")
    assert second.status in {200, 201}
    assert second.json["task_id"] != first["task_id"]
    assert mark(escalation_reason="another").json["task_id"] == second.json["task_id"]


def test_a_completion_is_repeated_for_a_week(world: World, gateway: Gateway) -> None:
    claim = world.claimed()
    path = f"/tasks/{claim.details.task.id}/complete"
    for headers in ({}, KEY):
        body = {"claim_id": claim.claim_id, "output": {"x": 1}}
        assert gateway.post(agent("auditor"), path, body, headers=headers).status == 200
    world.clock.advance(7 * DAY - 1)
    assert gateway.post(agent("auditor"), path, body).status == 200
    world.clock.advance(1)
    reply = gateway.post(agent("auditor"), path, body)
    assert (reply.status, reply.code) == (409, "stale_claim")
    assert gateway.get(human(), path.removesuffix("/complete")).json["output"] == {"x": 1}
