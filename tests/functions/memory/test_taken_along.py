"""What every kind of handoff takes along of the memory (docs/spec/memory.md §4): one that somebody asks for says so,
and one that follows from another takes the same."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import World, agent, marker_body, service

SCOUT, ARCHITECT, CI = agent("scout"), agent("architect"), service(act_as=False)
ASKED: dict[str, Any] = {"scope": "src", "auto_snapshot": True, "auto_memories": 2}
KEPT = ("scope", "snapshot", "auto_memories")
MARKERS = "/handoff-markers"


@pytest.fixture
def decision(gateway: Gateway) -> str:
    return posted(gateway, "decision", "Tokens are opaque", scope="src/auth")


def posted(gateway: Gateway, kind: str, summary: str, **more: Any) -> str:
    reply = gateway.post(ALICE, "/blackboard", {"entry_type": kind, "summary": summary, **more})
    assert reply.status == 201, reply.text
    return str(reply.json["id"])


def handoff_of(gateway: Gateway, task_id: str) -> Any:
    return gateway.get(ALICE, f"/handoffs/ho_{task_id.removeprefix('task_')}").json


def marked(gateway: Gateway, **more: Any) -> Any:
    reply = gateway.post(SCOUT, MARKERS, marker_body(escalation_reason="The tokens leak", **more))
    assert reply.status in {200, 201}, reply.text
    return reply.json


def test_an_escalation_takes_along_what_its_scope_knows(world: World, gateway: Gateway, decision: str) -> None:
    task_id = marked(gateway, **ASKED)["task_id"]
    handoff = handoff_of(gateway, task_id)
    assert (handoff["scope"], handoff["auto_memories"]) == ("src", 2)
    assert handoff["snapshot"]["decision_ids"] == [decision]
    assert handoff["snapshot"]["posted_by"] == [ALICE.key]
    assert "auto_snapshot" not in handoff["escalation"]
    heir = posted(gateway, "decision", "Tokens are signed", scope="src/auth", supersedes=decision)
    gateway.post(ALICE, f"/tasks/{task_id}/approve", {})
    world.clock.advance(5)
    memory = gateway.post(agent("auditor"), "/agents/auditor/claims", {}).json["memory"]
    assert memory["snapshot"] == handoff["snapshot"]
    assert [each["superseded_by"] for each in memory["drift"]["decisions_superseded"]] == [heir]
    assert [each["id"] for each in memory["auto_memories"]] == [heir, decision]


def test_an_escalation_that_asks_for_nothing_takes_nothing(gateway: Gateway, decision: str) -> None:
    handoff = handoff_of(gateway, marked(gateway)["task_id"])
    assert not set(KEPT) & handoff.keys()


def test_one_that_a_human_releases_takes_what_is_known_at_the_release(
    world: World, gateway: Gateway, decision: str
) -> None:
    for _ in range(2):
        gateway.post(ALICE, f"/tasks/{marked(gateway)['task_id']}/cancel", {})
    assert marked(gateway, **ASKED)["needs_manual_review"]
    (review,) = gateway.get(ALICE, "/manual-reviews").json["items"]
    world.clock.advance(1)
    later = posted(gateway, "decision", "Tokens rotate", scope="src")
    released = gateway.post(ALICE, f"/manual-reviews/{review['id']}/release", {})
    assert released.status == 200, released.text
    handoff = handoff_of(gateway, released.json["task"]["id"])
    assert handoff["snapshot"]["decision_ids"] == [later, decision]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("scope", "a//b", "scope must be a path with / between segments"),
        ("scope", "", "scope must be a path with / between segments"),
        ("scope", None, "scope must be a string"),
        ("auto_snapshot", "yes", "auto_snapshot must be true or false"),
        ("auto_memories", 6, "auto_memories must be a whole number from 0 to 5"),
        ("auto_memories", -1, "auto_memories must be a whole number from 0 to 5"),
        ("auto_memories", True, "auto_memories must be a whole number from 0 to 5"),
    ],
)
def test_what_a_marker_cannot_ask_for_is_refused(gateway: Gateway, field: str, value: Any, told: str) -> None:
    refused = gateway.post(SCOUT, MARKERS, marker_body(**{field: value}))
    assert (refused.status, refused.code, refused.fields) == (422, "invalid_marker", [field])
    assert refused.json["error"].startswith(told)


def test_a_handoff_may_ask_for_the_entries_that_fit_in_its_claimers_place(gateway: Gateway, decision: str) -> None:
    crew = HttpAgents(gateway).hire()
    crew.hand_off(summary="Make the tokens safe", auto_memories=1)
    memory = crew.take("auto-code")["memory"]
    assert [each["id"] for each in memory["auto_memories"]] == [decision]
    assert memory["snapshot"] is None


# What follows from a handoff


def failed_over(crew: HttpAgents, claim: Any) -> str:
    """By a retry: it takes the failed task's place."""
    crew.say(claim, "fail", failure={"type": "error", "description": "It broke"})
    retried = crew.gateway.post(ALICE, f"/handoffs/{claim['task']['handoff_id']}/retry", {})
    assert retried.status == 201, retried.text
    return str(retried.json["task"]["id"])


def rolled_back(crew: HttpAgents, claim: Any) -> str:
    back = {"target_agent": "qa", "reason": "Look again"}
    said = crew.say(claim, "fail", failure={"type": "error", "description": "It broke"}, rollback_request=back)
    return str(said.json["rollback"]["task_id"])


def continued(crew: HttpAgents, claim: Any) -> str:
    said = crew.say(claim, "complete", continuation={"suggested_next": "qa", "reason": "Test it"})
    return str(said.json["completion"]["continuation"]["task_id"])


@pytest.mark.parametrize("follow", [failed_over, rolled_back, continued])
def test_what_follows_takes_the_same_along_and_its_claimer_is_told_what_changed(
    world: World, gateway: Gateway, decision: str, follow: Any
) -> None:
    crew = HttpAgents(gateway).hire()
    claim = crew.begun(**ASKED)
    first = handoff_of(gateway, claim["task"]["id"])
    world.clock.advance(60)
    task_id = follow(crew, claim)
    heir = posted(gateway, "decision", "Tokens are signed", scope="src", supersedes=decision)
    assert [handoff_of(gateway, task_id)[each] for each in KEPT] == [first[each] for each in KEPT]
    gateway.post(ALICE, f"/tasks/{task_id}/approve", {})
    world.clock.advance(5)
    task = gateway.get(ALICE, f"/tasks/{task_id}").json
    memory = crew.take(task["target_agent"])["memory"]
    assert [each["superseded_by"] for each in memory["drift"]["decisions_superseded"]] == [heir]


def test_the_parts_of_a_split_take_it_along(gateway: Gateway, decision: str) -> None:
    crew = HttpAgents(gateway).hire("manual")
    whole = crew.hand_off(**ASKED)
    parts = {"parts": [{"summary": "one"}, {"summary": "two"}]}
    reply = gateway.post(ALICE, f"/tasks/{whole['task']['id']}/split", parts)
    assert reply.status in {200, 201}, reply.text
    for part in reply.json["parts"]:
        assert [part["handoff"][each] for each in KEPT] == [whole["handoff"][each] for each in KEPT]


def test_what_follows_from_one_that_asked_for_nothing_takes_nothing(gateway: Gateway, decision: str) -> None:
    crew = HttpAgents(gateway).hire()
    assert not set(KEPT) & handoff_of(gateway, continued(crew, crew.begun())).keys()


# A service that acts for nobody reads only what it has posted itself


def test_a_service_hands_over_what_is_known_and_reads_none_of_it(world: World, gateway: Gateway, decision: str) -> None:
    body = {"source": {"agent": "ci"}, "target": {"agent": "auditor", "reason": "x"}, **ASKED}
    made = gateway.post(CI, "/handoffs", body)
    assert made.status == 201, made.text
    task_id = made.json["task"]["id"]
    told = [
        made,
        gateway.get(CI, f"/handoffs/{made.json['handoff']['handoff_id']}"),
        gateway.get(CI, f"/tasks/{task_id}"),
    ]
    assert not any("Tokens are opaque" in each.text for each in told)
    assert handoff_of(gateway, task_id)["snapshot"]["decision_ids"] == [decision]
    gateway.post(ALICE, f"/tasks/{task_id}/approve", {})
    world.clock.advance(5)
    memory = gateway.post(agent("auditor"), "/agents/auditor/claims", {}).json["memory"]
    assert memory["snapshot"]["decision_ids"] == [decision]


def test_nor_does_it_in_a_conversation_or_in_what_the_loop_guard_stopped(gateway: Gateway, decision: str) -> None:
    said = gateway.post(CI, "/conversations", {"agent": "auditor", "message": "Hello", **ASKED})
    assert said.status == 201, said.text
    assert "Tokens are opaque" not in gateway.get(CI, f"/handoffs/{said.json['task']['handoff_id']}").text
    gateway.put(ALICE, "/workspace/settings", {"root_handoffs_per_hour": 1})
    body = {"source": {"agent": "ci"}, "target": {"agent": "auditor", "reason": "x"}, **ASKED}
    stopped = gateway.post(CI, "/handoffs", body)
    assert stopped.code == "loop_guard", stopped.text
    path = f"/manual-reviews/{stopped.json['review_id']}"
    assert "Tokens are opaque" not in gateway.get(CI, path).text
    assert "Tokens are opaque" in gateway.get(ALICE, path).text
