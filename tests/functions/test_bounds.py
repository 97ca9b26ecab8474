"""What a request may say of times, how much of it is looked at, and what of its numbers comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.faults.cpu import MOST_SECONDS, least_seconds
from support.worlds.http_agents import ALICE, HttpAgents, message
from support.worlds.world import World, agent

PAST = ["0002-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "2001-01-01T00:00:00Z"]
NO_TIMES: list[Any] = [
    *(
        "-1",
        "0",
        "1700000000",
        "1700000000.5",
        "-62135596800",
        "2026-01-31",
        "2026-01-31 12:00:00Z",
        "20300131T120000Z",
    ),
    *("2030-W05-6T00:00:00Z", "2030-01-31T12:00Z", "2030-01-31T12:00:00", "2030-01-31T12:00:00+0100", "tomorrow", ""),
    *("2030-01-31T12:00:61Z", "2030-02-30T12:00:00Z", "\uff12\uff1030-01-31T12:00:00Z", -1, 1700000000, 1.5, True, []),
]
NUMBERS = "[1e15,1E5,-0,0.10,12345678901234567890.12345678901234567,99999999999999999999999999999999999999]"


# Times


@pytest.mark.parametrize("deadline", PAST)
@pytest.mark.parametrize("field", ["expectations.deadline", "budget.deadline"])
def test_a_deadline_that_is_over_is_refused(http_agents: HttpAgents, field: str, deadline: str) -> None:
    part = field.partition(".")[0]
    reply = http_agents.gateway.post(agent("architect"), "/handoffs", message(**{part: {"deadline": deadline}}))
    assert (reply.status, reply.fields) == (422, [field])
    assert http_agents.gateway.get(ALICE, "/handoffs").json["items"] == []


def test_so_is_that_of_a_branch_and_of_a_part(world: World, http_agents: HttpAgents) -> None:
    late = {"expectations": {"deadline": PAST[0]}}
    branch = {"target": {"agent": "qa", "reason": "Test"}}
    claim = http_agents.begun()
    reply = http_agents.say(claim, "delegate", branches=[branch, {**branch, **late}])
    assert (reply.status, reply.fields) == (422, ["branches.1.expectations.deadline"])
    parts = [{"summary": "One"}, {"summary": "Two", **late}]
    reply = http_agents.gateway.post(ALICE, f"/tasks/{world.needing()}/split", {"parts": parts})
    assert (reply.status, reply.fields) == (422, ["parts.1.expectations.deadline"])


def _asked(http_agents: HttpAgents, task_id: str, claim: Any, field: str, value: Any) -> Any:
    match field:
        case "expectations.deadline" | "budget.deadline" | "metadata.not_before":
            part, name = field.split(".")
            return http_agents.gateway.post(ALICE, "/handoffs", message(**{part: {name: value}}))
        case "until of a callback":
            return http_agents.say(claim, "wait-callback", interaction_id="x", until=value)
        case "until":
            return http_agents.gateway.post(ALICE, f"/tasks/{task_id}/defer", {"until": value})
        case _:
            return http_agents.gateway.post(ALICE, "/tokens", {"kind": "human", "subject": "bo", "expires_at": value})


TIMES = [
    "expectations.deadline",
    "budget.deadline",
    "metadata.not_before",
    "until of a callback",
    "until",
    "expires_at",
]


@pytest.mark.parametrize("field", TIMES)
def test_a_time_is_rfc_3339_and_nothing_that_could_be_meant_as_one(
    world: World, http_agents: HttpAgents, field: str
) -> None:
    task_id, claim = world.needing(), http_agents.begun()
    for value in NO_TIMES:
        reply = _asked(http_agents, task_id, claim, field, value)
        assert (reply.status, reply.fields) == (422, [field.partition(" ")[0]]), value


@pytest.mark.parametrize("value", ["-1", "1700000000", "2026-01-31", "2026-01-31 12:00:00Z"])
def test_so_is_a_time_in_a_query(http_agents: HttpAgents, value: str) -> None:
    reply = http_agents.gateway.get(ALICE, "/handoffs", query=f"since={value}")
    assert (reply.status, reply.fields) == (422, ["since"])


# Lists


def items(count: int) -> dict[str, Any]:
    return {
        "artifacts": message(context={"artifacts": [1] * count}),
        "labels": message(metadata={"labels": {f"l{n}": 1 for n in range(count)}}),
        "unknown": {f"f{n}": 1 for n in range(count)},
        "deliverables": message(expectations={"deliverables": [{"type": "x"}] * (count // 6)}),
    }


@pytest.mark.parametrize("name", items(0))
def test_wrong_items_without_end_cost_little_and_few_are_told(http_agents: HttpAgents, name: str) -> None:
    body = json.dumps(items(20_000 if name != "artifacts" else 120_000)[name], separators=(",", ":"))
    took, reply = least_seconds(lambda: http_agents.gateway.post(ALICE, "/handoffs", body))
    assert took < MOST_SECONDS
    assert reply.status in {413, 422}
    assert 1 <= len(reply.json["errors"]) <= 20


def test_wrong_items_within_every_bound_cost_little_too(http_agents: HttpAgents) -> None:
    deliverable = {"type": "x", "description": "y", "files": [1] * 100, "acceptance_criteria": [""] * 50}
    body = json.dumps(message(expectations={"deliverables": [deliverable] * 100}))
    took, reply = least_seconds(lambda: http_agents.gateway.post(ALICE, "/handoffs", body))
    assert took < MOST_SECONDS
    assert reply.status == 422
    assert reply.fields == ["expectations.deliverables.0.files.0", "expectations.deliverables.0.acceptance_criteria.0"]


# Numbers


def test_numbers_come_back_as_they_were_written(http_agents: HttpAgents) -> None:
    body = json.dumps(message(context={"state": {"n": 0}})).replace('{"n": 0}', f'{{"n":{NUMBERS}}}')
    assert NUMBERS in http_agents.gateway.post(agent("architect"), "/handoffs", body).text
    claim = http_agents.gateway.post(agent("auto-code"), "/agents/auto-code/claims")
    assert NUMBERS in claim.text
    task, claim_id = claim.json["task"]["id"], claim.json["claim_id"]
    said = f'{{"claim_id":"{claim_id}","step_name":"half","state":{{"n":{NUMBERS}}}}}'
    assert http_agents.gateway.post(agent("auto-code"), f"/tasks/{task}/checkpoints", said).status == 201
    assert NUMBERS in http_agents.gateway.get(ALICE, f"/tasks/{task}/checkpoints").text
    more = f'"deliverables":[{{"type":"code","coverage":{NUMBERS}}}]'
    said = f'{{"claim_id":"{claim_id}","output":{NUMBERS},{more}}}'
    done = http_agents.gateway.post(agent("auto-code"), f"/tasks/{task}/complete", said)
    assert done.text.count(NUMBERS) == 2
    again = http_agents.gateway.post(agent("auto-code"), f"/tasks/{task}/complete", said)
    assert (again.json, again.text.count(NUMBERS)) == (done.json, 2)
    assert NUMBERS in http_agents.gateway.get(ALICE, f"/tasks/{task}").text


@pytest.mark.parametrize("verb", ["complete", "checkpoints"])
def test_numbers_do_not_grow_when_they_are_kept(http_agents: HttpAgents, verb: str) -> None:
    claim = http_agents.begun()
    numbers = "[" + "1e15," * 50_000 + "1]"
    said = f'"output":{numbers}' if verb == "complete" else f'"step_name":"half","state":{{"n":{numbers}}}'
    body = f'{{"claim_id":"{claim["claim_id"]}",{said}}}'
    rules = {"guardrails": {"max_items": 100_000}}
    assert http_agents.gateway.put(ALICE, "/workspace/settings", rules).status == 200
    reply = http_agents.gateway.post(agent("auto-code"), f"/tasks/{claim['task']['id']}/{verb}", body)
    assert reply.status in {200, 201}, reply.text[:500]


def test_a_key_that_comes_again_with_another_last_digit_is_refused(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    path, idempotency_key = f"/tasks/{claim['task']['id']}/checkpoints", {"idempotency-key": "k"}
    bodies = [
        f'{{"claim_id":"{claim["claim_id"]}","step_name":"half","state":{{"n":0.1234567890123456789{last}}}}}'
        for last in "121"
    ]
    replies = [http_agents.gateway.post(agent("auto-code"), path, body, headers=idempotency_key) for body in bodies]
    assert [reply.status for reply in replies] == [201, 422, 201]
    assert replies[1].code == "idempotency_key_reused"
    assert replies[2].text == replies[0].text
