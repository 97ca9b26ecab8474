"""Attacks by agents that read the requirements of approval rules in their own tasks: names, numbers and groups."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.principal import Principal
from support.gateway import Gateway
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import agent, human, service

ADA = human(name="ada")
CODER, ARCHITECT = agent("auto-code"), agent("architect")
SECRETS = ("leads", "ada", "bert", "cara")
GROUPS = {"leads": ["ada", "bert", "cara"], "nobody": []}
RULES = [
    {"tool": "pay", "group": "leads", "needed": 2},
    {"tool": "pay", "people": ["cara"]},
    {"target": "auto-code", "group": "leads", "needed": 2, "remind_after_seconds": 60,
     "then_group": "nobody", "then_after_seconds": 120},
    {"target": "qa", "group": "leads", "needed": 2},
]  # fmt: skip
PAY = {"kind": "action", "text": "The invoice is due", "tool": "pay", "arguments": {"amount": 1}}


@pytest.fixture
def claim(gateway: Gateway, http_agents: HttpAgents) -> Any:
    """A claim from before the rules, and one task that waits for them."""
    claim = http_agents.begun()
    assert gateway.put(ALICE, "/workspace/settings", {"groups": GROUPS, "approval_rules": RULES}).status == 200
    return claim


def handed(gateway: Gateway, target: str | None = "auto-code") -> str:
    body = {"source": {"agent": "architect"}, "target": {"agent": target, "reason": "Build it"}}
    reply = gateway.post(ARCHITECT, "/handoffs", body)
    assert reply.status == 201
    tells_nothing(reply.text)
    return str(reply.json["task"]["id"])


def tells_nothing(text: str) -> None:
    assert not [each for each in SECRETS if f'"{each}"' in text or f"group {each}" in text], text


def read(gateway: Gateway, by: Principal, path: str, query: str = "") -> Any:
    reply = gateway.get(by, path, query=query)
    assert reply.status == 200, reply.text
    return reply


@pytest.mark.parametrize("path", ["/tasks/{id}", "/tasks/{id}/events", "/tasks/{id}/events/wait", "/tasks",
                                  "/handoffs/{handoff}"])  # fmt: skip
def test_an_agent_reads_nothing_of_the_rules_that_hold_its_task(gateway: Gateway, claim: Any, path: str) -> None:
    task_id = handed(gateway)
    task = read(gateway, ALICE, f"/tasks/{task_id}").json
    assert (task["approval"]["group"], task["approval"]["needed"]) == ("leads", 2)
    assert gateway.post(ADA, f"/tasks/{task_id}/approve").status == 200
    where = path.format(id=task_id, handoff=task["handoff_id"])
    reply = read(gateway, ARCHITECT, where)
    shown = reply.text.replace('"id":"ada"', "").replace('"by":"ada"', "")  # the approver has acted
    assert '"needed"' not in shown
    tells_nothing(shown)


def test_held_work_shows_its_rules_to_people_alone(gateway: Gateway, claim: Any) -> None:
    task_id = handed(gateway, None)
    assert gateway.post(ALICE, f"/tasks/{task_id}/approve").status == 200
    gateway.deps.clock.advance(5)  # type: ignore[attr-defined]
    assert read(gateway, ALICE, f"/tasks/{task_id}").json["held"]
    assert read(gateway, ARCHITECT, f"/tasks/{task_id}").json["held"] == []
    assert [each["id"] for each in read(gateway, ALICE, "/tasks", "held=true").json["items"]] == [task_id]
    assert read(gateway, ARCHITECT, "/tasks", "held=true").json == {"items": [], "next_cursor": None}
    refused = gateway.post(CODER, f"/tasks/{task_id}/claim")
    assert (refused.code, refused.json["lacks"]) == ("approval_needed", [])
    tells_nothing(refused.text)
    assert "approve" in refused.json["detail"]
    told = gateway.post(service(), f"/tasks/{task_id}/claim", {"agent": "auto-code"})
    assert told.json["lacks"] == [{"needed": 2, "of": "the group leads", "given": []}]


def test_an_agent_learns_not_whom_a_rule_asks_about_its_action(gateway: Gateway, claim: Any) -> None:
    task_id = claim["task"]["id"]
    reply = gateway.post(CODER, f"/tasks/{task_id}/ask", {"claim_id": claim["claim_id"], **PAY})
    tells_nothing(reply.text)
    question = reply.json
    shown = {name: question[name] for name in ("people", "group", "needed", "never", "further", "by_rule")}
    assert shown == {"people": [], "group": None, "needed": None, "never": [], "further": [], "by_rule": True}
    seen = read(gateway, ALICE, f"/tasks/{task_id}/questions/{question['id']}").json
    assert (seen["group"], seen["needed"], [each["people"] for each in seen["further"]]) == ("leads", 2, [["cara"]])
    for path in (
        f"/tasks/{task_id}/questions/{question['id']}",
        f"/tasks/{task_id}/questions",
        f"/tasks/{task_id}/events",
    ):
        reply = read(gateway, CODER, path)
        tells_nothing(reply.text)
        assert '"needed":2' not in reply.text


def test_an_entry_that_lacks_requirements_of_rules_is_marked(gateway: Gateway, claim: Any) -> None:
    path = f"/tasks/{handed(gateway)}/events"
    assert gateway.post(ADA, f"{path.removesuffix('/events')}/approve").status == 200
    whole, shown = (read(gateway, by, path).json["events"] for by in (ALICE, ARCHITECT))
    assert [each["type"] for each in shown if each.get("hidden")] == ["handoff_initiated", "approval_given"]
    assert [each["hash"] for each in shown] == [each["hash"] for each in whole]
    assert not [each for each in whole if "hidden" in each]
