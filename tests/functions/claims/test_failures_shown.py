"""A failure as its handoff and its workflow's chain show it."""

from __future__ import annotations

from support.gateway import Gateway
from support.worlds.world import World, agent, human

FAILURE = {"type": "error", "description": "It broke"}


def test_failure_is_shown_with_its_handoff_and_in_the_chain(world: World, gateway: Gateway) -> None:
    claim = gateway.post(human(), f"/tasks/{world.ready()}/claim", {"agent": "auditor"}).json
    task = claim["task"]
    body = {"claim_id": claim["claim_id"], "failure": FAILURE}
    gateway.post(human(), f"/tasks/{task['id']}/fail", body)

    shown = gateway.get(human(), f"/handoffs/{task['handoff_id']}").json["failure"]
    assert shown.items() >= FAILURE.items()
    assert shown["handoff_id"] == task["handoff_id"]
    assert shown["failure_id"].startswith("fail_")

    chain = gateway.get(agent("scout"), f"/workflows/{task['workflow_id']}/chain")
    assert chain.status == 200
    assert "It broke" in chain.text
