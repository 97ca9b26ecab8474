"""Workers over HTTP: claim, heartbeat, complete, fail, release."""

from __future__ import annotations

from typing import Any

import pytest

from baton.services.tasks.sweep import sweep
from support.gateway import Gateway, Reply
from support.worlds.world import World, agent, human, service

AUDITOR = agent("auditor")


def claimed(gateway: Gateway, **body: Any) -> Any:
    return gateway.post(AUDITOR, "/agents/auditor/claims", body).json


def test_claim_next_answers_with_all_that_the_worker_needs(world: World, gateway: Gateway) -> None:
    task_id = world.ready()
    reply = gateway.post(AUDITOR, "/agents/auditor/claims", {"worker": "w-1", "lease_seconds": 60})
    assert reply.status == 200
    told = reply.json
    assert set(told) == {
        *("task", "body", "claim_id", "fence", "claimed_by", "expires_at", "lease_seconds", "recoveries", "memory"),
        *("checkpoint", "run_state", "results", "callback", "interaction_id", "answers", "withheld"),
    }
    assert (told["task"]["id"], told["fence"], told["lease_seconds"]) == (task_id, 1, 60)
    assert told["expires_at"] == "2026-11-18T12:01:03.000Z"
    assert told["task"]["claim"]["worker"] == "w-1"
    assert told["body"]["escalation_reason"].startswith("Stale spike")
    assert (told["recoveries"], told["checkpoint"], told["memory"]) == ([], None, None)
    assert (told["results"], told["callback"], told["interaction_id"]) == ([], None, None)


def test_claim_next_without_work_answers_204_and_no_body(gateway: Gateway) -> None:
    reply = gateway.post(AUDITOR, "/agents/auditor/claims")
    assert (reply.status, reply.text) == (204, "")


def test_worker_is_the_caller_by_default(world: World, gateway: Gateway) -> None:
    world.ready()
    assert claimed(gateway)["task"]["claim"]["worker"] == "auditor"


def test_next_claimer_is_told_why_the_task_came_back(world: World, gateway: Gateway) -> None:
    world.claimed(lease_seconds=60, worker="doomed")
    world.clock.advance(61)
    sweep(world.deps)
    (recovery,) = claimed(gateway)["recoveries"]
    assert (recovery["prior_worker"], recovery["prior_fence"]) == ("doomed", 1)
    assert recovery["action"] == "re-queued to delegated, attempt 2 of 3"


def test_claim_by_id(world: World, gateway: Gateway) -> None:
    task_id = world.ready()
    reply = gateway.post(AUDITOR, f"/tasks/{task_id}/claim", {})
    assert (reply.status, reply.json["task"]["state"]) == (200, "claimed")


def test_claim_of_a_live_task_names_the_holder_but_not_the_claim(world: World, gateway: Gateway) -> None:
    claim = world.claimed()
    reply = gateway.post(AUDITOR, f"/tasks/{claim.details.task.id}/claim", {})
    assert (reply.status, reply.code) == (409, "already_claimed")
    assert reply.json["agent"] == "auditor"
    assert reply.json["expires_at"] == "2026-11-18T12:05:03.000Z"
    assert claim.claim_id not in reply.text


def test_claim_of_a_task_that_needs_approval_says_its_state(world: World, gateway: Gateway) -> None:
    reply = gateway.post(AUDITOR, f"/tasks/{world.needing()}/claim", {})
    assert (reply.status, reply.code, reply.json["state"]) == (409, "not_claimable", "needs")


@pytest.mark.parametrize("by", [human(), service()])
def test_human_or_service_with_act_as_claims_for_the_target_without_naming_it(
    world: World, gateway: Gateway, by: Any
) -> None:
    reply = gateway.post(by, f"/tasks/{world.ready()}/claim")
    assert (reply.status, reply.json["task"]["claim"]["agent"]) == (200, "auditor")


def test_service_without_act_as_claims_for_nobody(world: World, gateway: Gateway) -> None:
    task_id = world.ready()
    by = service(act_as=False)
    assert gateway.post(by, f"/tasks/{task_id}/claim", {"agent": "auditor"}).code == "not_found"
    assert gateway.post(by, "/agents/auditor/claims").code == "scope_required"


def test_agent_claims_only_as_itself(world: World, gateway: Gateway) -> None:
    task_id = world.ready()
    assert gateway.post(agent("scout"), "/agents/auditor/claims").code == "not_your_agent"
    assert gateway.post(agent("scout"), f"/tasks/{task_id}/claim", {"agent": "auditor"}).code == "not_your_agent"
    assert gateway.post(agent("scout"), f"/tasks/{task_id}/claim").code == "not_your_agent"


def test_agent_of_the_body_must_be_that_of_the_path(gateway: Gateway) -> None:
    reply = gateway.post(AUDITOR, "/agents/auditor/claims", {"agent": "scout"})
    assert (reply.status, reply.fields) == (422, ["agent"])


@pytest.mark.parametrize(("seconds", "status"), [(14, 422), (15, 200), (43_200, 200), (43_201, 422)])
def test_lease_has_bounds(world: World, gateway: Gateway, seconds: int, status: int) -> None:
    world.ready()
    reply = gateway.post(AUDITOR, "/agents/auditor/claims", {"lease_seconds": seconds})
    assert reply.status == status


def test_heartbeat_extends_and_never_shortens(world: World, gateway: Gateway) -> None:
    world.ready()
    claim = claimed(gateway, lease_seconds=300)
    path = f"/tasks/{claim['task']['id']}/heartbeat"
    world.clock.advance(60)
    reply = gateway.post(AUDITOR, path, {"claim_id": claim["claim_id"]})
    assert reply.json == {"fence": 1, "expires_at": "2026-11-18T12:06:03.000Z", "state": "claimed"}
    reply = gateway.post(AUDITOR, path, {"claim_id": claim["claim_id"], "lease_seconds": 15})
    assert reply.json["expires_at"] == "2026-11-18T12:06:03.000Z"


def test_complete_ends_the_task_with_its_output(world: World, gateway: Gateway) -> None:
    world.ready()
    claim = claimed(gateway)
    path = f"/tasks/{claim['task']['id']}"
    output = {"verdict": "fine", "score": 0.5, "items": [1, None, "ü"]}
    reply = gateway.post(AUDITOR, f"{path}/complete", {"claim_id": claim["claim_id"], "output": output})
    assert (reply.status, reply.json["state"], reply.json["output"]) == (200, "done", output)
    assert "recoveries" not in reply.json
    task = reply.json
    completion = task.pop("completion")
    assert task.pop("completion_id") == completion["completion_id"]
    assert (completion["status"], completion["source"]) == ("success", {"agent": "auditor"})
    beside: dict[str, Any] = {"recoveries": [], "tracker": None, "input": None, "context": None}
    spent = {"model_calls": 0, "input_tokens": 0, "output_tokens": 0}
    assert gateway.get(AUDITOR, path).json == {**task, **beside, "usage": spent}


def test_exact_repeat_of_the_ending_verb_gets_the_first_answer_again(world: World, gateway: Gateway) -> None:
    world.ready()
    claim = claimed(gateway)
    path = f"/tasks/{claim['task']['id']}/complete"
    first = gateway.post(AUDITOR, path, {"claim_id": claim["claim_id"], "output": 1})
    assert gateway.post(AUDITOR, path, {"output": 1, "claim_id": claim["claim_id"]}).json == first.json
    assert gateway.post(AUDITOR, path, {"claim_id": claim["claim_id"], "output": 2}).code == "stale_claim"


def test_done_task_shows_no_failure_of_an_earlier_attempt(world: World, gateway: Gateway) -> None:
    world.ready()
    failure = {"type": "error", "description": "flaked"}
    claim = claimed(gateway)
    path = f"/tasks/{claim['task']['id']}"
    body = {"claim_id": claim["claim_id"], "failure": failure, "retryable": True}
    assert gateway.post(AUDITOR, f"{path}/fail", body).json["failure"].items() >= failure.items()
    world.clock.advance(60)
    claim = claimed(gateway)
    reply = gateway.post(AUDITOR, f"{path}/complete", {"claim_id": claim["claim_id"]})
    assert (reply.json["state"], reply.json["output"], reply.json["failure"]) == ("done", None, None)
    assert gateway.get(AUDITOR, path).json["failure"] is None


def test_fail_is_final_unless_it_says_retryable(world: World, gateway: Gateway) -> None:
    world.ready()
    claim = claimed(gateway)
    failure = {"type": "blocker", "description": "no access"}
    path = f"/tasks/{claim['task']['id']}"
    reply = gateway.post(AUDITOR, f"{path}/fail", {"claim_id": claim["claim_id"], "failure": failure})
    assert reply.json["state"] == "failed"
    assert reply.json["failure"] == gateway.get(AUDITOR, path).json["failure"] == failure
    told = (reply.json["failure_id"][:5], reply.json["checkpoint_id"], reply.json["rollback"])
    assert told == ("fail_", None, None)  # an escalation goes back only where somebody asks for it


def test_release_gives_the_task_back(world: World, gateway: Gateway) -> None:
    world.ready()
    claim = claimed(gateway)
    body = {"claim_id": claim["claim_id"], "reason": "shutting down"}
    reply = gateway.post(AUDITOR, f"/tasks/{claim['task']['id']}/release", body)
    assert (reply.json["state"], reply.json["attempt"], reply.json["claim"]) == ("delegated", 0, None)


VERBS: list[tuple[str, dict[str, Any]]] = [
    ("heartbeat", {}),
    ("complete", {"output": "late"}),
    ("fail", {"failure": {"type": "error", "description": "late"}}),
    ("release", {}),
]


@pytest.mark.parametrize(("verb", "body"), VERBS)
def test_paused_worker_is_refused_even_if_it_has_claimed_again(
    world: World, gateway: Gateway, verb: str, body: dict[str, Any]
) -> None:
    world.ready()
    stale = claimed(gateway, lease_seconds=15)
    world.clock.advance(16)
    sweep(world.deps)
    claimed(gateway, lease_seconds=300)
    path = f"/tasks/{stale['task']['id']}"
    before = gateway.get(AUDITOR, path).json
    reply = gateway.post(AUDITOR, f"{path}/{verb}", {"claim_id": stale["claim_id"], **body})
    assert (reply.status, reply.code) == (409, "stale_claim")
    assert gateway.get(AUDITOR, path).json == before


@pytest.mark.parametrize(("verb", "body"), VERBS)
def test_claim_of_another_principal_is_stale(world: World, gateway: Gateway, verb: str, body: dict[str, Any]) -> None:
    claim = world.claimed()
    path = f"/tasks/{claim.details.task.id}/{verb}"
    assert gateway.post(service(), path, {"claim_id": claim.claim_id, **body}).code == "stale_claim"


def test_repeated_claim_next_with_the_same_key_answers_with_the_same_claim(world: World, gateway: Gateway) -> None:
    world.ready()
    world.ready(target_agent="runner")
    keyed = {"headers": {"idempotency-key": "claim-1"}}
    first = gateway.post(AUDITOR, "/agents/auditor/claims", {}, **keyed)
    again = gateway.post(AUDITOR, "/agents/auditor/claims", {}, **keyed)
    assert again.json["claim_id"] == first.json["claim_id"]


def test_claim_id_is_shown_in_its_claim_and_nowhere_else(world: World, gateway: Gateway) -> None:
    task_id = world.ready()
    first = claimed(gateway, lease_seconds=15)["claim_id"]
    gateway.replies.clear()
    path = f"/tasks/{task_id}"
    gateway.post(AUDITOR, f"{path}/claim")
    gateway.post(AUDITOR, f"{path}/heartbeat", {"claim_id": first})
    gateway.get(human(), path)
    gateway.get(human(), "/tasks")
    gateway.get(human(), f"{path}/events", query="limit=100")
    world.clock.advance(20)
    sweep(world.deps)
    second = claimed(gateway)["claim_id"]
    gateway.replies.pop()
    gateway.post(AUDITOR, f"{path}/heartbeat", {"claim_id": first})
    gateway.post(AUDITOR, f"{path}/complete", {"claim_id": second})
    gateway.get(human(), path)
    gateway.get(human(), f"{path}/events", query="limit=100")
    gateway.get(human(), f"{path}/await", query="state=ended")
    assert [reply for reply in gateway.replies if shows(reply, first) or shows(reply, second)] == []


def shows(reply: Reply, claim_id: str) -> bool:
    return claim_id in reply.text or "claim_id" in reply.text
