"""Asking people over HTTP: a worker asks, a person answers, and what was approved is done once."""

from __future__ import annotations

from typing import Any

from support.gateway import Gateway
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import agent

CODER = agent("auto-code")
REFUND = {"kind": "action", "text": "It broke", "tool": "refund", "arguments": {"amount": 100, "to": "Ada"}}


def asked(gateway: Gateway, claim: dict[str, Any], **changes: Any) -> Any:
    body = {"claim_id": claim["claim_id"], **REFUND, **changes}
    return gateway.post(CODER, f"/tasks/{claim['task']['id']}/ask", body)


def test_an_action_is_approved_by_a_person_and_done_once(gateway: Gateway, http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    question = asked(gateway, claim)
    assert question.status == 201, question.body
    at = f"/tasks/{claim['task']['id']}/questions/{question.json['id']}"
    assert [each["id"] for each in gateway.send(ALICE, "GET", "/questions").json["items"]] == [question.json["id"]]
    answer = {"outcome": "approved", "digest": question.json["digest"]}
    assert gateway.post(CODER, f"{at}/answer", answer).json["code"] == "human_required"
    assert gateway.post(ALICE, f"{at}/answer", answer).json["outcome"] == "approved"
    use = {"claim_id": claim["claim_id"], "digest": question.json["digest"]}
    assert gateway.post(CODER, f"{at}/use", use).json["used_at"]
    assert gateway.post(CODER, f"{at}/use", use).json["code"] == "receipt_refused"
    assert gateway.send(ALICE, "GET", "/questions").json["items"] == []


def test_a_worker_that_waits_gets_its_task_back_with_the_answer(gateway: Gateway, http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    text: dict[str, Any] = {"kind": "text", "text": "Which colour?", "tool": None, "arguments": {}}
    question = asked(gateway, claim, **text).json
    task = f"/tasks/{claim['task']['id']}"
    waiting = gateway.post(
        CODER, f"{task}/wait-for-answers", {"claim_id": claim["claim_id"], "questions": [question["id"]]}
    )
    assert (waiting.status, waiting.json["state"]) == (200, "waiting")
    said = {"outcome": "answered", "answer": "Blue"}
    assert gateway.post(ALICE, f"{task}/questions/{question['id']}/answer", said).status == 200
    again = gateway.post(CODER, "/agents/auto-code/claims", {"worker": "w"}).json
    assert again["task"]["id"] == claim["task"]["id"]
    assert "Blue" in str(again)
