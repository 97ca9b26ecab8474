"""``claim_next``: the request that ends a claim brings the worker its next task."""

from __future__ import annotations

from typing import Any

import pytest

from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import World, agent, service

FAILURE = {"failure": {"type": "error", "description": "It broke"}}
ENDINGS: dict[str, dict[str, Any]] = {"complete": {"output": {"ok": 1}}, "fail": FAILURE}


@pytest.mark.parametrize("verb", ENDINGS)
def test_the_answer_holds_the_next_claim_of_the_same_worker(http_agents: HttpAgents, verb: str) -> None:
    claim = http_agents.begun()
    following = http_agents.hand_off("qa", summary="The next one")
    ended = http_agents.say(claim, verb, claim_next=True, **ENDINGS[verb])
    assert ended.status == 200, ended.text
    next_ = ended.json["next_claim"]
    assert next_["task"]["id"] == following["task"]["id"]
    assert next_["task"]["claim"]["agent"] == "auto-code"
    assert next_["claim_id"] != claim["claim_id"]
    assert http_agents.say(next_, "heartbeat").status == 200
    alone = http_agents.begun("qa")
    assert next_.keys() == alone.keys()


def test_worker_and_lease_go_on(http_agents: HttpAgents) -> None:
    http_agents.hand_off()
    wanted = {"worker": "laptop-1", "lease_seconds": 900}
    claim = http_agents.gateway.post(agent("auto-code"), "/agents/auto-code/claims", wanted).json
    http_agents.hand_off("qa")
    next_ = http_agents.say(claim, "complete", claim_next=True).json["next_claim"]
    assert (next_["lease_seconds"], next_["task"]["claim"]["worker"]) == (900, "laptop-1")


@pytest.mark.parametrize("verb", ENDINGS)
def test_without_work_there_is_none(http_agents: HttpAgents, verb: str) -> None:
    ended = http_agents.say(http_agents.begun(), verb, claim_next=True, **ENDINGS[verb])
    assert (ended.status, ended.json["next_claim"]) == (200, None)


@pytest.mark.parametrize("verb", ENDINGS)
def test_nothing_is_claimed_for_whoever_does_not_ask(http_agents: HttpAgents, verb: str) -> None:
    for asked in ({}, {"claim_next": False}):
        claim = http_agents.begun()
        waiting = http_agents.hand_off("qa")["task"]["id"]
        ended = http_agents.say(claim, verb, **asked, **ENDINGS[verb])
        assert "next_claim" not in ended.json
        assert http_agents.gateway.get(ALICE, f"/tasks/{waiting}").json["state"] == "delegated"
        assert http_agents.gateway.post(ALICE, f"/tasks/{waiting}/cancel").status == 200


@pytest.mark.parametrize("verb", ENDINGS)
def test_an_exact_repeat_gets_the_same_claim_and_takes_no_other(http_agents: HttpAgents, verb: str) -> None:
    claim = http_agents.begun()
    waiting = {http_agents.hand_off(source)["task"]["id"] for source in ("qa", "ciso")}
    body = {"claim_next": True, **ENDINGS[verb]}
    ended = http_agents.say(claim, verb, **body).json
    assert http_agents.say(claim, verb, **body).json == ended
    (second,) = waiting - {ended["next_claim"]["task"]["id"]}
    assert http_agents.gateway.get(ALICE, f"/tasks/{second}").json["state"] == "delegated"
    assert http_agents.say(ended["next_claim"], "complete").status == 200
    repeated = http_agents.say(claim, verb, **body).json
    assert {**repeated, "next_claim": None} == {**ended, "next_claim": None}
    assert repeated["next_claim"] is None
    assert http_agents.gateway.get(ALICE, f"/tasks/{second}").json["state"] == "delegated"


def test_a_repeat_whose_first_call_died_between_claims_for_the_same_worker(http_agents: HttpAgents) -> None:
    """The first request ended the claim and got no further, as if ``claim_next`` had come to nothing."""
    wanted = {"worker": "laptop-1", "lease_seconds": 900}
    http_agents.hand_off()
    claim = http_agents.gateway.post(agent("auto-code"), "/agents/auto-code/claims", wanted).json
    assert http_agents.say(claim, "complete", claim_next=True).json["next_claim"] is None
    waiting = http_agents.hand_off("qa")["task"]["id"]
    next_ = http_agents.say(claim, "complete", claim_next=True).json["next_claim"]
    assert (next_["task"]["id"], next_["lease_seconds"]) == (waiting, 900)
    assert next_["task"]["claim"]["worker"] == "laptop-1"


def test_with_another_claim_next_it_is_another_request(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    http_agents.hand_off("qa")
    assert http_agents.say(claim, "complete").status == 200
    assert http_agents.say(claim, "complete", claim_next=True).code == "stale_claim"


def test_a_refused_end_claims_nothing(http_agents: HttpAgents) -> None:
    expected = {"deliverables": [{"type": "code", "description": "It", "acceptance_criteria": ["It works"]}]}
    claim = http_agents.begun(expectations=expected)
    waiting = http_agents.hand_off("qa")["task"]["id"]
    assert http_agents.say(claim, "complete", claim_next=True).code == "criteria_unreported"
    assert http_agents.gateway.get(ALICE, f"/tasks/{waiting}").json["state"] == "delegated"


def test_an_agent_that_is_switched_off_ends_its_task_and_gets_no_other(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    http_agents.hand_off("qa")
    switched = http_agents.gateway.put(ALICE, "/agents/auto-code", {"active": False})
    assert switched.status == 200, switched.text
    failed = http_agents.say(claim, "fail", claim_next=True, **FAILURE)
    assert (failed.status, failed.json["next_claim"]) == (200, None)


def test_a_caller_who_may_end_a_claim_and_make_none_is_told_of_the_end(http_agents: HttpAgents) -> None:
    """Another token of the same service, without the scope ``act_as``."""
    http_agents.hand_off()
    claim = http_agents.gateway.post(service(), "/agents/auto-code/claims").json
    waiting = http_agents.hand_off("qa")["task"]["id"]
    path, body = f"/tasks/{claim['task']['id']}/complete", {"claim_id": claim["claim_id"], "claim_next": True}
    for _ in range(2):
        done = http_agents.gateway.post(service(act_as=False), path, body)
        assert (done.status, done.json["state"], done.json["next_claim"]) == (200, "done", None)
    assert http_agents.gateway.get(ALICE, f"/tasks/{waiting}").json["state"] == "delegated"


def test_a_worker_whose_name_is_refused_by_now_is_told_of_the_end(http_agents: HttpAgents) -> None:
    """It looks like a secret, which the workspace let pass when it claimed."""

    def handle_secrets(how: str) -> None:
        assert http_agents.gateway.put(ALICE, "/workspace/settings", {"guardrails": {"secrets": how}}).status == 200

    handle_secrets("off")
    http_agents.hand_off()
    name = {"worker": f"ghp_{'a1B2' * 9}"}
    claim = http_agents.gateway.post(agent("auto-code"), "/agents/auto-code/claims", name).json
    http_agents.hand_off("qa")
    handle_secrets("refuse")
    done = http_agents.say(claim, "complete", claim_next=True)
    assert (done.status, done.json["state"], done.json["next_claim"]) == (200, "done", None)


def test_an_agent_at_its_limit_may_take_the_place_that_it_leaves(http_agents: HttpAgents) -> None:
    assert http_agents.gateway.put(ALICE, "/agents/auto-code", {"max_concurrent": 1}).status == 200
    claim = http_agents.begun()
    waiting = http_agents.hand_off("qa")["task"]["id"]
    assert http_agents.say(claim, "complete", claim_next=True).json["next_claim"]["task"]["id"] == waiting


def test_a_failed_task_that_is_tried_again_is_not_taken_before_its_time(http_agents: HttpAgents, world: World) -> None:
    claim = http_agents.begun()
    failed = http_agents.say(claim, "fail", retryable=True, claim_next=True, **FAILURE)
    assert (failed.json["state"], failed.json["next_claim"]) == ("delegated", None)
    world.clock.advance(5)
    assert http_agents.take("auto-code")["task"]["id"] == claim["task"]["id"]


def test_the_completion_keeps_nothing_of_it(http_agents: HttpAgents) -> None:
    done = http_agents.say(http_agents.begun(), "complete", claim_next=True, notes=["n"])
    assert "claim_next" not in done.json["completion"]


@pytest.mark.parametrize("value", ["yes", 1, None, {}])
def test_it_is_true_or_false(http_agents: HttpAgents, value: Any) -> None:
    reply = http_agents.say(http_agents.begun(), "complete", claim_next=value)
    assert (reply.status, reply.fields) == (422, ["claim_next"])
