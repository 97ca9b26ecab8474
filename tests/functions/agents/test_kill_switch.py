"""An agent that is switched off releases what it holds, fails it and reads its inbox; nothing else is done with its
token, or in its name."""

from __future__ import annotations

from typing import Any

import pytest

from baton.adapters.dynamodb.agents.agents import Agents
from baton.domain.agents.agent import Agent
from support.gateway import ROUTES, Gateway, Reply
from support.values.bodies import IDS
from support.worlds.http_agents import ALICE, HttpAgents, message
from support.worlds.world import World, agent, human, marker_body, service

OFF = (403, "inactive_agent")
CODER = agent("auto-code")
ACTING = (service(), human())
STILL = {
    ("POST", "/tasks/{task_id}/release"),
    ("POST", "/tasks/{task_id}/fail"),
    ("GET", "/agents/{slug}/inbox"),
    ("POST", "/mcp"),  # where it is decided per tool
}
ASKED = [route for route in ROUTES if route.needs_token]


def switch(gateway: Gateway, slug: str = "auto-code", *, on: bool) -> None:
    assert gateway.put(ALICE, f"/agents/{slug}", {"active": on}).status == 200


def refused(reply: Reply) -> None:
    assert (reply.status, reply.code) == OFF, reply.text


def kept(world: World) -> Any:
    """All that the store holds."""
    return world.stored()


def test_its_token_opens_few_routes_and_no_other(world: World, http_agents: HttpAgents) -> None:
    switch(http_agents.gateway, on=False)
    before = kept(world)
    for route in ASKED:
        path = route.path.format_map(IDS | {"slug": "auto-code"})
        reply = http_agents.gateway.send(CODER, route.method, path, None if route.body is None else {})
        if (route.method, route.path) in STILL:
            assert reply.status != 403, path
        else:
            refused(reply)
            assert "switched off" in reply.json["detail"], path
        assert kept(world) == before, f"{route.method} {path}"


def test_what_it_holds_it_releases_and_fails(world: World, http_agents: HttpAgents) -> None:
    claim, other = http_agents.begun(), http_agents.begun()
    switch(http_agents.gateway, on=False)
    assert http_agents.say(claim, "release").json["state"] == "delegated"
    failed = http_agents.say(other, "fail", failure={"type": "blocker", "description": "I was switched off"})
    assert (failed.status, failed.json["state"]) == (200, "failed")
    assert failed.json["rollback"]["target_agent"] == "architect", "as the handoff says"
    assert world.task(claim["task"]["id"]).attempt == 0


def test_failing_a_task_hands_it_to_nobody_of_its_choice(world: World, http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    switch(http_agents.gateway, on=False)
    report = {"failure": {"type": "blocker", "description": "no"}, "rollback_request": {"target_agent": "qa"}}
    before = kept(world)
    refused(http_agents.say(claim, "fail", **report))
    assert kept(world) == before
    report["rollback_request"] = {"reason": "Go on without me"}
    assert http_agents.say(claim, "fail", **report).json["rollback"]["target_agent"] == "architect"


def test_its_inbox_is_read_and_stays_as_it_is(http_agents: HttpAgents) -> None:
    http_agents.hand_off("auto-code", "qa")
    done = http_agents.take("qa")
    assert http_agents.say(done, "complete").status == 200
    switch(http_agents.gateway, on=False)
    (item,) = http_agents.gateway.get(CODER, "/agents/auto-code/inbox").json["items"]
    for by in (CODER, *ACTING):
        refused(http_agents.gateway.post(by, "/agents/auto-code/inbox/ack", {"ids": [item["id"]]}))
    switch(http_agents.gateway, on=True)
    assert http_agents.gateway.get(CODER, "/agents/auto-code/inbox").json["items"] == [item]
    assert http_agents.gateway.post(CODER, "/agents/auto-code/inbox/ack", {"ids": [item["id"]]}).json == {
        "acknowledged": 1
    }


def test_switched_on_again_it_goes_on_under_the_same_claim(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    switch(http_agents.gateway, on=False)
    refused(http_agents.say(claim, "heartbeat"))
    switch(http_agents.gateway, on=True)
    assert http_agents.say(claim, "heartbeat").status == 200
    assert http_agents.say(claim, "complete").status == 200


def test_a_token_of_an_agent_that_was_never_registered_is_taken_as_before(gateway: Gateway) -> None:
    assert gateway.get(agent("ghost"), "/agents").status == 200


# In its name


VERBS: dict[str, dict[str, Any]] = {
    "heartbeat": {},
    "checkpoints": {"step_name": "half", "state": {"a": 1}},
    "notes": {"text": "Still at it"},
    "complete": {"output": {"done": True}},
    "reject": {"reason": "no"},
    "transfer": {"target": {"agent": "qa", "reason": "yours"}},
    "delegate": {"branches": [{"target": {"agent": "qa", "reason": "a part"}}]},
    "wait-callback": {"interaction_id": "call-1"},
}


@pytest.mark.parametrize("by", ACTING, ids=["service", "human"])
@pytest.mark.parametrize("verb", VERBS)
def test_nobody_who_acts_for_it_goes_on_under_its_claim(
    world: World, http_agents: HttpAgents, by: Any, verb: str
) -> None:
    http_agents.hand_off()
    claim = http_agents.gateway.post(by, "/agents/auto-code/claims").json
    path, body = f"/tasks/{claim['task']['id']}", {"claim_id": claim["claim_id"]}
    switch(http_agents.gateway, on=False)
    before = kept(world)
    refused(http_agents.gateway.post(by, f"{path}/{verb}", {**body, **VERBS[verb]}))
    assert kept(world) == before
    assert http_agents.gateway.post(by, f"{path}/release", body).status == 200


@pytest.mark.parametrize("by", ACTING, ids=["service", "human"])
def test_nobody_who_acts_for_it_claims_or_hands_off(world: World, http_agents: HttpAgents, by: Any) -> None:
    task_id = http_agents.hand_off()["task"]["id"]
    switch(http_agents.gateway, on=False)
    before = kept(world)
    refused(http_agents.gateway.post(by, "/agents/auto-code/claims"))
    refused(http_agents.gateway.post(by, "/agents/auto-code/claims/wait", query="timeout=0"))
    refused(http_agents.gateway.post(by, f"/tasks/{task_id}/claim", {"agent": "auto-code"}))
    refused(http_agents.gateway.post(by, "/handoffs", message("auto-code", "qa")))
    marker = marker_body(source_agent="auto-code", target_agent="qa")
    assert http_agents.gateway.post(by, "/handoff-markers", marker).status == 422, "no active agent of that name"
    assert kept(world) == before


def test_a_service_retries_nothing_in_its_name_but_a_person_does_in_their_own(http_agents: HttpAgents) -> None:
    handed = http_agents.hand_off("auto-code", "qa")
    taken = http_agents.take("qa")
    assert http_agents.say(taken, "fail", failure={"type": "error", "description": "no"}).status == 200
    switch(http_agents.gateway, on=False)
    path = f"/handoffs/{handed['handoff']['handoff_id']}/retry"
    refused(http_agents.gateway.post(service(), path))
    assert http_agents.gateway.post(ALICE, path).status == 201


def test_a_person_still_acts_on_its_tasks_as_a_person(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    switch(http_agents.gateway, on=False)
    assert (
        http_agents.gateway.post(ALICE, f"/tasks/{claim['task']['id']}/resolve", {"output": 1}).json["state"] == "done"
    )


# Long polls


def test_who_waits_for_a_task_gets_none_once_it_is_off(world: World, http_agents: HttpAgents) -> None:
    def handed_off_and_switched_off() -> None:
        http_agents.hand_off()
        switch(http_agents.gateway, on=False)

    world.clock.meanwhile = handed_off_and_switched_off
    refused(http_agents.gateway.post(CODER, "/agents/auto-code/claims/wait", query="timeout=5"))
    (task,) = world.store.lists.tasks_of_agent("acme", "auto-code", 5, None).items
    assert (task.state, task.fence) == ("delegated", 0)


@pytest.mark.parametrize("path", ["await", "events/wait"])
def test_who_waits_for_news_gets_none_once_it_is_off(world: World, http_agents: HttpAgents, path: str) -> None:
    task_id = http_agents.hand_off("auto-code", "qa")["task"]["id"]
    after = len(world.trail(task_id))

    def switched_off_and_taken() -> None:
        switch(http_agents.gateway, on=False)
        http_agents.take("qa")

    world.clock.meanwhile = switched_off_and_taken
    query = "timeout=5&" + (f"after={after}" if "events" in path else "state=claimed")
    refused(http_agents.gateway.get(CODER, f"/tasks/{task_id}/{path}", query=query))


# What it costs


def test_the_check_is_one_reading_for_agents_and_none_for_others(
    world: World, http_agents: HttpAgents, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    read = Agents.agent

    def agent(agents: Agents, workspace: str, slug: str) -> Agent | None:
        asked.append(slug)
        return read(agents, workspace, slug)

    monkeypatch.setattr(Agents, "agent", agent)
    for by in (CODER, ALICE, service()):
        assert http_agents.gateway.get(by, "/routes").status == 200
    assert asked == ["auto-code"]
