"""Who may put something into a workflow, and who gets a conversation: what an agent puts beside or below it doesn't
change whom the user talks to, nor in what context, nor at what cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.access.principal import CONVERSE, Principal, PrincipalKind
from baton.services.tasks.sweep import sweep
from support.gateway import Gateway, Reply
from support.worlds.world import WORKSPACE, World, agent, human, service

ALICE, AUDITOR, SCOUT, RUNNER = human(), agent("auditor"), agent("scout"), agent("runner")
TALKER = Principal(WORKSPACE, PrincipalKind.AGENT, "scout", frozenset({CONVERSE}))
EVIL = {"state": {"pay_to": "the attacker"}}


def begun(gateway: Gateway, by: Principal = ALICE, **changes: Any) -> Any:
    body = {"agent": "auditor", "message": "Is the release ready?", "context": {"lead": 5}, **changes}
    reply = gateway.post(by, "/conversations", body)
    assert reply.status == 201, reply.text
    return reply.json


def post_message(
    gateway: Gateway,
    conversation_id: str,
    text: str = "And now?",
    by: Principal = ALICE,
    headers: dict[str, str] | None = None,
) -> Reply:
    return gateway.post(by, f"/conversations/{conversation_id}/messages", {"message": text}, headers=headers)


def asked(source: str, target: str = "runner", workflow_id: str | None = None, **more: Any) -> dict[str, Any]:
    named = {"metadata": {"workflow_id": workflow_id}} if workflow_id else {}
    return {"source": {"agent": source}, "target": {"agent": target, "reason": "Look"}, **named, **more}


def claimed(world: World, gateway: Gateway, slug: str = "auditor") -> Any:
    world.clock.advance(5)
    reply = gateway.post(agent(slug), f"/agents/{slug}/claims")
    assert reply.status == 200, reply.text
    return reply.json


def completed(world: World, gateway: Gateway, slug: str = "auditor") -> str:
    """Its next task is done."""
    claim = claimed(world, gateway, slug)
    task_id: str = claim["task"]["id"]
    body = {"claim_id": claim["claim_id"], "output": "Yes"}
    assert gateway.post(agent(slug), f"/tasks/{task_id}/complete", body).status == 200
    return task_id


def goes_on_with(world: World, gateway: Gateway, conversation_id: str) -> Any:
    """The task that the user's next message makes, with its context."""
    reply = post_message(gateway, conversation_id)
    assert reply.status == 201, reply.text
    return gateway.get(ALICE, f"/tasks/{reply.json['task']['id']}").json


# Naming a workflow


@pytest.mark.parametrize("by", [SCOUT, service(), service(act_as=False)])
@pytest.mark.parametrize("is_conversation", [True, False])
def test_a_root_in_anothers_workflow_is_refused_and_nothing_is_left(
    world: World, gateway: Gateway, by: Principal, is_conversation: bool
) -> None:
    task = (begun(gateway) if is_conversation else gateway.post(ALICE, "/handoffs", asked("alice", "auditor")).json)[
        "task"
    ]
    before = world.stored()
    source = "scout" if by is SCOUT or by == service() else by.id
    reply = gateway.post(by, "/handoffs", asked(source, workflow_id=task["workflow_id"], context=EVIL))
    assert (reply.status, reply.fields) == (422, ["metadata.workflow_id"])
    assert world.stored() == before


def test_who_holds_a_task_of_it_puts_no_roots_into_it_either(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    completed(world, gateway)
    reply = gateway.post(AUDITOR, "/handoffs", asked("auditor", workflow_id=made["conversation_id"], context=EVIL))
    assert (reply.status, reply.fields) == (422, ["metadata.workflow_id"])


def test_whoever_began_it_and_any_human_may_name_it(world: World, gateway: Gateway) -> None:
    first = gateway.post(SCOUT, "/handoffs", asked("scout")).json["task"]
    workflow_id = first["workflow_id"]
    for by, source in ((SCOUT, "scout"), (ALICE, "alice"), (human(name="bob"), "scout")):
        reply = gateway.post(by, "/handoffs", asked(source, workflow_id=workflow_id))
        assert (reply.status, reply.json["task"]["workflow_id"]) == (201, workflow_id), reply.text
    # A human's root beside it makes nobody else one of those who began it.
    reply = gateway.post(AUDITOR, "/handoffs", asked("auditor", workflow_id=workflow_id))
    assert reply.fields == ["metadata.workflow_id"]


def test_it_is_the_callers_own_key_that_has_begun_it_whomever_it_speaks_for(gateway: Gateway) -> None:
    workflow_id = gateway.post(service(), "/handoffs", asked("scout")).json["task"]["workflow_id"]
    assert gateway.post(service(), "/handoffs", asked("auditor", workflow_id=workflow_id)).status == 201
    assert gateway.post(SCOUT, "/handoffs", asked("scout", workflow_id=workflow_id)).status == 422


def test_a_retry_of_anothers_root_is_no_beginning(world: World, gateway: Gateway) -> None:
    task = gateway.post(ALICE, "/handoffs", asked("scout", "auditor")).json["task"]
    claim = claimed(world, gateway)
    body = {"claim_id": claim["claim_id"], "failure": {"type": "error", "description": "No"}}
    assert gateway.post(AUDITOR, f"/tasks/{task['id']}/fail", body).status == 200
    again = gateway.post(SCOUT, f"/handoffs/{task['handoff_id']}/retry")
    assert again.status == 201, again.text
    assert again.json["task"]["master_task_id"] == task["id"]
    reply = gateway.post(SCOUT, "/handoffs", asked("scout", workflow_id=task["workflow_id"]))
    assert reply.fields == ["metadata.workflow_id"]


def test_a_name_that_nobody_has_used_begins_a_workflow_for_one(world: World, gateway: Gateway) -> None:
    first = gateway.post(SCOUT, "/handoffs", asked("scout", workflow_id="release-7"))
    assert (first.status, first.json["task"]["workflow_id"]) == (201, "release-7")
    assert gateway.post(AUDITOR, "/handoffs", asked("auditor", workflow_id="release-7")).status == 422
    assert gateway.post(SCOUT, "/handoffs", asked("scout", workflow_id="release-7")).status == 201


def test_the_repeat_of_a_root_that_names_its_workflow_is_answered(gateway: Gateway) -> None:
    key = {"idempotency-key": "k"}
    first = gateway.post(SCOUT, "/handoffs", asked("scout", workflow_id="release-7"), headers=key)
    again = gateway.post(SCOUT, "/handoffs", asked("scout", workflow_id="release-7"), headers=key)
    assert (again.status, again.json) == (201, first.json)


# A stranger fills nobody's workflow


def test_a_stranger_takes_no_room_in_anothers_workflow(world: World, gateway: Gateway) -> None:
    gateway.post(ALICE, "/handoffs", asked("alice", "auditor"))
    claim = claimed(world, gateway)
    workflow_id = claim["task"]["workflow_id"]
    for _ in range(60):
        assert gateway.post(SCOUT, "/handoffs", asked("scout", workflow_id=workflow_id)).status == 422
    under = asked("auditor", claim_id=claim["claim_id"])
    assert gateway.post(AUDITOR, "/handoffs", under).status == 201
    assert gateway.get(ALICE, "/manual-reviews").json["items"] == []


# Who holds a conversation


def test_a_humans_own_root_beside_a_conversation_doesnt_get_it(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    completed(world, gateway)
    root = gateway.post(ALICE, "/handoffs", asked("alice", workflow_id=made["conversation_id"], context=EVIL))
    assert root.status == 201
    for is_open in (True, False):
        if not is_open:
            gateway.post(ALICE, f"/tasks/{root.json['task']['id']}/cancel")
        shown = gateway.get(ALICE, f"/conversations/{made['conversation_id']}").json
        assert (shown["agent"], shown["message"]) == ("auditor", "Is the release ready?")
        task = goes_on_with(world, gateway, made["conversation_id"])
        assert (task["target_agent"], task["context"]) == ("auditor", {"lead": 5})
        completed(world, gateway)


@pytest.mark.parametrize("is_cancelled", [True, False])
@pytest.mark.parametrize("way", ["handoffs", "transfer", "delegate"])
def test_what_its_agent_hands_on_without_anybodys_approval_gets_nothing(
    world: World, gateway: Gateway, way: str, is_cancelled: bool
) -> None:
    made = begun(gateway, budget={"max_model_calls": 3})
    claim = claimed(world, gateway)
    path, under = f"/tasks/{made['task']['id']}", {"claim_id": claim["claim_id"]}
    said_of_it: dict[str, Any] = {"target": {"agent": "scout", "reason": "Take over"}, "context": EVIL}
    if way == "handoffs":
        body = asked("auditor", "scout", context=EVIL, **under)
        child_id = gateway.post(AUDITOR, "/handoffs", body).json["task"]["id"]
        assert gateway.post(AUDITOR, f"{path}/complete", {**under, "output": "Yes"}).status == 200
    elif way == "transfer":
        child_id = gateway.post(AUDITOR, f"{path}/transfer", {**under, **said_of_it}).json["successors"][0]
    else:
        body = {**under, "branches": [{"call_id": "c", **said_of_it}]}
        child_id = gateway.post(AUDITOR, f"{path}/delegate", body).json["wait"]["branches"][0]["task_id"]
        gateway.post(ALICE, f"{path}/cancel")
    if is_cancelled:
        gateway.post(AUDITOR, f"/tasks/{child_id}/cancel")
    task = goes_on_with(world, gateway, made["conversation_id"])
    assert (task["target_agent"], task["context"]) == ("auditor", {"lead": 5})
    assert gateway.get(ALICE, f"/handoffs/{task['handoff_id']}").json["budget"] == {"max_model_calls": 3}


def test_to_whom_it_was_really_transferred_goes_on_with_what_they_were_told(world: World, gateway: Gateway) -> None:
    made = begun(gateway, budget={"max_model_calls": 3})
    claim = claimed(world, gateway)
    body = {
        "claim_id": claim["claim_id"],
        "target": {"agent": "scout", "reason": "Yours"},
        "context": {"state": {"half": "done"}},
    }
    child_id = gateway.post(AUDITOR, f"/tasks/{made['task']['id']}/transfer", body).json["successors"][0]
    gateway.post(ALICE, f"/tasks/{child_id}/approve")
    busy = post_message(gateway, made["conversation_id"])
    assert (busy.code, busy.json["task_id"]) == ("conversation_busy", child_id)
    completed(world, gateway, "scout")
    task = goes_on_with(world, gateway, made["conversation_id"])
    assert (task["target_agent"], task["context"]) == ("scout", {"lead": 5, "state": {"half": "done"}})
    assert gateway.get(ALICE, f"/handoffs/{task['handoff_id']}").json["budget"] == {"max_model_calls": 3}


def test_what_is_approved_after_the_user_went_on_doesnt_take_it_back(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    claim = claimed(world, gateway)
    body = {"claim_id": claim["claim_id"], "target": {"agent": "scout", "reason": "Yours"}}
    child_id = gateway.post(AUDITOR, f"/tasks/{made['task']['id']}/transfer", body).json["successors"][0]
    goes_on_with(world, gateway, made["conversation_id"])
    assert gateway.post(ALICE, f"/tasks/{child_id}/approve").status == 200
    completed(world, gateway)
    assert goes_on_with(world, gateway, made["conversation_id"])["target_agent"] == "auditor"


def test_a_message_that_nobody_approved_holds_nothing(world: World, gateway: Gateway) -> None:
    """A service's asking is no approval; the user goes on from where it was."""
    made = begun(gateway, by=service(act_as=False))
    gateway.post(ALICE, f"/tasks/{made['task']['id']}/approve")
    completed(world, gateway)
    pending = post_message(gateway, made["conversation_id"], by=service(act_as=False)).json["task"]
    assert pending["state"] == "needs"
    task = post_message(gateway, made["conversation_id"], "The user").json["task"]
    assert task["state"] == "delegated"
    gateway.post(ALICE, f"/tasks/{pending['id']}/approve")
    assert post_message(gateway, made["conversation_id"]).json["task_id"] == task["id"]


# Open work


def transferred_to_anyone(world: World, gateway: Gateway) -> tuple[str, str]:
    """The conversation, and the task that whoever can may take."""
    made = begun(gateway)
    claim = claimed(world, gateway)
    body = {"claim_id": claim["claim_id"], "target": {"agent": None, "reason": "Whoever can"}}
    child_id: str = gateway.post(AUDITOR, f"/tasks/{made['task']['id']}/transfer", body).json["successors"][0]
    assert gateway.post(ALICE, f"/tasks/{child_id}/approve").status == 200
    return made["conversation_id"], child_id


def test_whoever_took_open_work_holds_the_conversation_and_is_named(world: World, gateway: Gateway) -> None:
    conversation_id, child_id = transferred_to_anyone(world, gateway)
    shown = gateway.get(ALICE, f"/conversations/{conversation_id}").json
    assert (shown["agent"], shown["agent_name"], shown["tasks"][1]["agent"]) == (None, None, None)
    assert post_message(gateway, conversation_id).json["task_id"] == child_id
    completed(world, gateway, "scout")
    shown = gateway.get(ALICE, f"/conversations/{conversation_id}").json
    assert (shown["agent"], shown["agent_name"], shown["tasks"][1]["agent"]) == ("scout", "Scout", "scout")
    items = gateway.get(ALICE, f"/conversations/{conversation_id}/messages").json["items"]
    assert [each["agent"] for each in items if each["task_id"] == child_id] == ["scout", "scout"]
    assert goes_on_with(world, gateway, conversation_id)["target_agent"] == "scout"


def test_open_work_that_ended_before_anybody_took_it_leaves_the_conversation_where_it_was(
    world: World, gateway: Gateway
) -> None:
    conversation_id, child_id = transferred_to_anyone(world, gateway)
    gateway.post(ALICE, f"/tasks/{child_id}/cancel")
    assert goes_on_with(world, gateway, conversation_id)["target_agent"] == "auditor"


def test_whoever_took_it_last_holds_it(world: World, gateway: Gateway) -> None:
    conversation_id, child_id = transferred_to_anyone(world, gateway)
    claim = claimed(world, gateway, "runner")
    assert claim["task"]["id"] == child_id
    body = {"claim_id": claim["claim_id"]}
    assert gateway.post(RUNNER, f"/tasks/{child_id}/release", body).status == 200
    completed(world, gateway, "scout")
    assert goes_on_with(world, gateway, conversation_id)["target_agent"] == "scout"


@pytest.mark.parametrize("ends", ["complete", "fail"])
def test_a_join_names_whoever_took_the_open_part(world: World, gateway: Gateway, ends: str) -> None:
    gateway.post(ALICE, "/handoffs", asked("alice", "auditor"))
    claim = claimed(world, gateway)
    body = {
        "claim_id": claim["claim_id"],
        "branches": [{"call_id": "c", "target": {"agent": None, "reason": "Whoever can"}}],
    }
    waiting = gateway.post(AUDITOR, f"/tasks/{claim['task']['id']}/delegate", body).json
    part_id = waiting["wait"]["branches"][0]["task_id"]
    gateway.post(ALICE, f"/tasks/{part_id}/approve")
    if ends == "complete":
        completed(world, gateway, "scout")
    else:
        part = claimed(world, gateway, "scout")
        failure = {"claim_id": part["claim_id"], "failure": {"type": "error", "description": "No"}}
        assert gateway.post(SCOUT, f"/tasks/{part_id}/fail", failure).status == 200
    sweep(world.deps)
    (result,) = claimed(world, gateway)["results"]
    assert (result["agent"], result["state"]) == ("scout", "done" if ends == "complete" else "failed")
    nodes = gateway.get(ALICE, f"/workflows/{claim['task']['workflow_id']}/chain").json["nodes"][0]["children"]
    assert [each["agent"] for each in nodes] == ["scout"]


# The same guards as any handoff


def test_a_conversation_has_as_many_tasks_as_a_workflow_may(world: World, gateway: Gateway) -> None:
    gateway.put(ALICE, "/workspace/settings", {"max_handoffs_per_workflow": 5})
    made = begun(gateway, by=TALKER, agent="runner")
    gateway.post(ALICE, f"/tasks/{made['task']['id']}/cancel")
    for _ in range(4):
        task_id = post_message(gateway, made["conversation_id"]).json["task"]["id"]
        gateway.post(ALICE, f"/tasks/{task_id}/cancel")
    for by in (ALICE, service(), TALKER):
        reply = post_message(gateway, made["conversation_id"], by=by)
        assert (reply.status, reply.code, reply.json["rule"]) == (409, "loop_guard", "max_handoffs_per_workflow")
    assert len(gateway.get(ALICE, f"/conversations/{made['conversation_id']}").json["tasks"]) == 5


def test_a_human_lets_one_more_message_through_and_it_goes_on_from_there(world: World, gateway: Gateway) -> None:
    gateway.put(ALICE, "/workspace/settings", {"max_handoffs_per_workflow": 1})
    made = begun(gateway)
    completed(world, gateway)
    key = {"idempotency-key": "k"}
    refused = post_message(gateway, made["conversation_id"], "One more", headers=key)
    assert (
        post_message(gateway, made["conversation_id"], "One more", headers=key).json["review_id"]
        == refused.json["review_id"]
    )
    review = gateway.get(ALICE, f"/manual-reviews/{refused.json['review_id']}").json
    assert review["count"] == 1
    released = gateway.post(ALICE, f"/manual-reviews/{review['id']}/release")
    assert released.status in {200, 201}, released.text
    messages = gateway.get(ALICE, f"/conversations/{made['conversation_id']}/messages").json["items"]
    assert [each["text"] for each in messages if each["type"] == "user_message"] == [
        "Is the release ready?",
        "One more",
    ]
    assert post_message(gateway, made["conversation_id"]).code == "conversation_busy"
    world.clock.advance(5)
    completed(world, gateway)
    assert post_message(gateway, made["conversation_id"]).json["rule"] == "max_handoffs_per_workflow"


@pytest.mark.parametrize("by", [service(act_as=False), service(), TALKER])
def test_agents_and_services_say_as_much_as_they_may_begin(world: World, gateway: Gateway, by: Principal) -> None:
    gateway.put(ALICE, "/workspace/settings", {"root_handoffs_per_hour": 3})
    made = begun(gateway, by=by, agent="runner")

    def more() -> Reply:
        for task in gateway.get(ALICE, f"/conversations/{made['conversation_id']}").json["tasks"]:
            gateway.post(ALICE, f"/tasks/{task['id']}/cancel")
        return post_message(gateway, made["conversation_id"], by=by)

    assert [more().status for _ in range(2)] == [201] * 2, "it has begun one"
    reply = more()
    assert (reply.status, reply.code, reply.json["rule"]) == (409, "loop_guard", "root_rate")
    assert post_message(gateway, made["conversation_id"]).status == 201, "a human is asked nothing of it"


def test_an_agent_that_holds_a_claim_says_nothing_beside_it(world: World, gateway: Gateway) -> None:
    made = begun(gateway, by=TALKER, agent="runner")
    gateway.post(ALICE, f"/tasks/{made['task']['id']}/cancel")
    gateway.post(ALICE, "/handoffs", asked("alice", "scout"))
    claimed(world, gateway, "scout")
    reply = post_message(gateway, made["conversation_id"], by=TALKER)
    assert (reply.status, reply.code) == (422, "claim_required")


def test_the_budgets_end_is_the_conversations(world: World, gateway: Gateway) -> None:
    made = begun(gateway, budget={"max_handoffs": 2})
    completed(world, gateway)
    assert post_message(gateway, made["conversation_id"]).status == 201
    completed(world, gateway)
    assert post_message(gateway, made["conversation_id"]).json["rule"] == "budget_max_handoffs"


# Refused roots


def knocks(workflow_ids: list[str]) -> Callable[[Gateway, int], Reply]:
    def knock(gateway: Gateway, number: int) -> Reply:
        body = asked("scout", "runner", workflow_ids[number], budget={"max_handoffs": 1})
        return gateway.post(SCOUT, "/handoffs", body)

    return knock


def test_roots_that_are_refused_count_with_the_roots(world: World, gateway: Gateway) -> None:
    """Each in another workflow of its own; they leave one entry for a human by rule."""
    gateway.put(ALICE, "/workspace/settings", {"root_handoffs_per_hour": 300})
    ids = [f"wf_{number}" for number in range(40)]
    for each in ids:
        assert gateway.post(SCOUT, "/handoffs", asked("scout", "auditor", each)).status == 201
    gateway.put(ALICE, "/workspace/settings", {"root_handoffs_per_hour": 10})
    knock = knocks(ids)
    rules = [knock(gateway, number).json["rule"] for number in range(40)]
    assert rules == ["budget_max_handoffs"] * 10 + ["root_rate"] * 30
    reviews = gateway.get(ALICE, "/manual-reviews", query="limit=100").json["items"]
    assert {each["rule"]: each["count"] for each in reviews} == {"budget_max_handoffs": 10, "root_rate": 30}
    world.clock.advance(3_600)
    assert knock(gateway, 20).json["rule"] == "budget_max_handoffs"
