"""What an agent holds over HTTP, how a worker goes on with its own claim, and the first lease of one that was waited
for."""

from __future__ import annotations

from typing import Any

import pytest

from support.worlds.http_agents import HttpAgents
from support.worlds.world import World, agent

CODE = agent("auto-code")
WAIT = "/agents/auto-code/claims/wait"


def test_an_agent_sees_what_it_holds_and_goes_on_with_its_own_claim(http_agents: HttpAgents) -> None:
    gateway = http_agents.gateway
    lost = http_agents.begun(summary="held")
    http_agents.hand_off(summary="open")
    (held,) = gateway.get(CODE, "/agents/auto-code/claims").json["items"]
    assert (held["id"], held["claim"]["fence"]) == (lost["task"]["id"], lost["fence"])
    assert "claim_id" not in held["claim"]
    path = f"/tasks/{held['id']}/claim"
    refused = gateway.post(CODE, path, {})
    assert (refused.code, refused.json["fence"], refused.json["claimed_at"]) == (
        "already_claimed",
        lost["fence"],
        held["claim"]["claimed_at"],
    )
    again = gateway.post(CODE, path, {"resume_fence": lost["fence"], "worker": "second"})
    assert (again.status, again.json["fence"], again.json["task"]["attempt"]) == (200, lost["fence"] + 1, 1)
    assert again.json["claim_id"] != lost["claim_id"]
    assert gateway.post(CODE, path, {"resume_fence": lost["fence"]}).code == "claim_changed"
    beat = f"/tasks/{held['id']}/heartbeat"
    assert gateway.post(CODE, beat, {"claim_id": lost["claim_id"]}).code == "stale_claim"
    assert gateway.post(CODE, beat, {"claim_id": again.json["claim_id"]}).status == 200


def test_what_an_agent_holds_comes_in_pages(http_agents: HttpAgents) -> None:
    mine = sorted(http_agents.begun(summary=f"n{number}")["task"]["id"] for number in range(3))
    page = http_agents.gateway.get(CODE, "/agents/auto-code/claims", query="limit=2").json
    rest = http_agents.gateway.get(CODE, "/agents/auto-code/claims", query=f"limit=2&cursor={page['next_cursor']}").json
    assert [each["id"] for each in (*page["items"], *rest["items"])] == mine
    assert rest["next_cursor"] is None


@pytest.mark.parametrize("fence", [0, -1, "1", 1.5, True])
def test_a_wrong_fence_to_resume_is_named(http_agents: HttpAgents, fence: Any) -> None:
    task_id = http_agents.begun()["task"]["id"]
    reply = http_agents.gateway.post(CODE, f"/tasks/{task_id}/claim", {"resume_fence": fence})
    assert (reply.status, reply.fields) == (422, ["resume_fence"])


def test_only_a_claim_by_its_id_resumes_and_only_a_wait_has_a_first_lease(http_agents: HttpAgents) -> None:
    gateway, task_id = http_agents.gateway, http_agents.begun()["task"]["id"]
    for path, field in (
        ("/agents/auto-code/claims", "resume_fence"),
        ("/agents/auto-code/claims/wait", "resume_fence"),
        ("/agents/auto-code/claims", "first_lease_seconds"),
        (f"/tasks/{task_id}/claim", "first_lease_seconds"),
    ):
        reply = gateway.post(CODE, path, {field: 15})
        assert (reply.status, reply.fields) == (422, [field]), path


def waited_for(http_agents: HttpAgents, world: World, **body: Any) -> Any:
    """The answer to a wait during which work comes."""
    world.clock.meanwhile = http_agents.hand_off
    reply = http_agents.gateway.post(CODE, WAIT, {"lease_seconds": 300, **body}, query="timeout=10")
    assert reply.status == 200
    return reply.json


def lease_of(claim: Any, world: World) -> float:
    held = world.task(claim["task"]["id"]).claim
    assert held is not None
    return (held.expires_at - held.claimed_at).total_seconds()


def test_a_claim_that_was_waited_for_has_the_first_lease_that_was_asked_for(
    http_agents: HttpAgents, world: World
) -> None:
    claim = waited_for(http_agents, world, first_lease_seconds=60)
    assert (lease_of(claim, world), claim["lease_seconds"]) == (60, 300)
    beat = http_agents.gateway.post(CODE, f"/tasks/{claim['task']['id']}/heartbeat", {"claim_id": claim["claim_id"]})
    assert beat.status == 200
    assert lease_of(claim, world) >= 300


def test_without_it_a_claim_that_was_waited_for_has_its_whole_lease(http_agents: HttpAgents, world: World) -> None:
    assert lease_of(waited_for(http_agents, world), world) == 300


def test_work_that_is_there_at_once_is_claimed_for_the_whole_lease(http_agents: HttpAgents, world: World) -> None:
    http_agents.hand_off()
    claim = http_agents.gateway.post(CODE, WAIT, {"first_lease_seconds": 60}, query="timeout=10").json
    assert lease_of(claim, world) == 300
