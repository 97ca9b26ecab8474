"""Talking to agents over HTTP, and reading along (docs/spec/tools.md §2)."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest

from baton.domain.access.principal import CONVERSE, Principal, PrincipalKind
from baton.domain.runs.transcript import (
    EntryKind,
    MessageType,
    TaskEntry,
    TranscriptEntry,
    TranscriptMessage,
    Usage,
    result,
)
from baton.domain.task_state import State
from baton.domain.times import rfc3339
from baton.ports.writes import AddUsage, Insert
from baton.services.conversations.converse import MAX_TEXT
from support.gateway import Gateway, Reply
from support.worlds.world import WORKSPACE, World, agent, human, service

ALICE, SCOUT, STRANGER = human(), agent("scout"), human("other")
TALKER = Principal(WORKSPACE, PrincipalKind.AGENT, "scout", frozenset({CONVERSE}))
BODY = {"agent": "auditor", "message": "Is the release ready?"}
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def begun(gateway: Gateway, by: Any = ALICE, **changes: Any) -> Any:
    reply = gateway.post(by, "/conversations", {**BODY, **changes})
    assert reply.status == 201, reply.text
    return reply.json


def shown(gateway: Gateway, conversation_id: str, by: Any = ALICE) -> Any:
    return gateway.get(by, f"/conversations/{conversation_id}").json


def read(gateway: Gateway, conversation_id: str, after: str | None = None, limit: int | None = None) -> Any:
    asked = {"after": after, "limit": limit}
    query = "&".join(f"{name}={value}" for name, value in asked.items() if value is not None)
    reply = gateway.get(ALICE, f"/conversations/{conversation_id}/messages", query=query)
    assert reply.status == 200, reply.text
    return reply.json


def more(gateway: Gateway, conversation_id: str, text: str = "And then?", by: Any = ALICE, **headers: str) -> Reply:
    clock: Any = gateway.deps.clock
    clock.advance(1)  # tasks are in the order of their making
    return gateway.post(by, f"/conversations/{conversation_id}/messages", {"message": text}, headers=headers)


def ended(world: World, gateway: Gateway, task_id: str, by: Any = None) -> None:
    """Its agent says that it is done."""
    world.clock.advance(5)
    by = by or agent("auditor")
    claim = gateway.post(by, f"/tasks/{task_id}/claim").json
    reply = gateway.post(by, f"/tasks/{task_id}/complete", {"claim_id": claim["claim_id"], "output": "Yes"})
    assert reply.status == 200, reply.text


def told(world: World, task_id: str, first: int, text: str) -> None:
    """A line of its agent's."""
    entry = TranscriptEntry(
        first=first, kind=EntryKind.REPLY, agent="auditor", at=world.clock.now(), turn=first, blocks=({"text": text},)
    )
    world.store.commit(WORKSPACE, Insert(TaskEntry(task_id, entry)))


def texts(items: list[Any]) -> list[str]:
    return [each["text"] for each in items]


# Beginning


def test_message_begins_a_conversation(world: World, gateway: Gateway) -> None:
    reply = gateway.post(ALICE, "/conversations", {**BODY, "agent": "Client Repo Auditor", "context": {"lead": 5}})
    assert reply.status == 201
    task = reply.json["task"]
    assert reply.json == {"conversation_id": task["workflow_id"], "task": task}
    assert reply.headers["Location"] == f"/conversations/{task['workflow_id']}"
    assert (task["state"], task["target_agent"], task["source_agent"]) == ("delegated", "auditor", "human:alice")
    assert (task["title"], task["kind"], task["parent_id"]) == (BODY["message"], "transfer", None)
    whole = gateway.get(ALICE, f"/tasks/{task['id']}").json
    assert (whole["input"], whole["context"]) == ({"message": BODY["message"]}, {"lead": 5})
    assert whole["usage"] == {"model_calls": 0, "input_tokens": 0, "output_tokens": 0}
    assert shown(gateway, task["workflow_id"]) == {
        "conversation_id": task["workflow_id"],
        "holder": task["id"],
        "agent": "auditor",
        "agent_name": "Client Repo Auditor",
        "state": "open",
        "message": BODY["message"],
        "tasks": [
            {
                "id": task["id"],
                "agent": "auditor",
                "state": "delegated",
                "parent_id": None,
                "join_parent": None,
                "kind": "transfer",
                "created_at": task["created_at"],
            }
        ],
        "usage": {"model_calls": 0, "input_tokens": 0, "output_tokens": 0},
        "created_at": task["created_at"],
    }


def test_task_that_is_no_conversations_has_no_input(world: World, gateway: Gateway) -> None:
    whole = gateway.get(ALICE, f"/tasks/{world.needing()}").json
    assert (whole["input"], whole["context"]) == (None, None)


@pytest.mark.parametrize("by", [ALICE, human(name="bob"), service(), service(act_as=False), TALKER])
def test_humans_services_and_agents_with_the_scope_talk(world: World, gateway: Gateway, by: Principal) -> None:
    source = by.id if by.kind is PrincipalKind.AGENT else by.key
    made = begun(gateway, by, agent="runner")
    assert made["task"]["source_agent"] == source
    (first,) = read(gateway, made["conversation_id"])["items"]
    assert (first["type"], first["agent"], first["text"]) == ("user_message", by.key, BODY["message"])
    gateway.post(ALICE, f"/tasks/{made['task']['id']}/cancel")
    again = more(gateway, made["conversation_id"], by=by)
    assert (again.status, again.json["task"]["source_agent"]) == (201, source)
    assert read(gateway, made["conversation_id"])["items"][-1]["agent"] == by.key


def test_agent_without_the_scope_reads_along_and_says_nothing(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    before = world.stored()
    for path, body in (
        ("/conversations", BODY),
        ("/conversations", {"nonsense": 1}),
        (f"/conversations/{made['conversation_id']}/messages", {"message": "x"}),
        ("/conversations/wf_unknown/messages", {"message": "x"}),
    ):
        reply = gateway.post(SCOUT, path, body)
        assert (reply.status, reply.code, reply.json["scope"]) == (403, "scope_required", CONVERSE)
    assert world.stored() == before
    auditor, path = agent("auditor"), f"/conversations/{made['conversation_id']}"
    assert gateway.post(auditor, f"{path}/messages", {"message": "x"}).code == "scope_required"
    assert shown(gateway, made["conversation_id"], auditor)["message"] == BODY["message"]
    assert gateway.get(auditor, f"{path}/messages").json["items"]


def test_agents_token_may_have_the_scope_and_no_other(gateway: Gateway) -> None:
    asked = {"kind": "agent", "subject": "scout"}
    made = gateway.post(ALICE, "/tokens", {**asked, "scopes": [CONVERSE]})
    assert (made.status, made.json["scopes"]) == (201, [CONVERSE])
    for scopes in (["act_as"], [CONVERSE, "act_as"], ["talk"]):
        reply = gateway.post(ALICE, "/tokens", {**asked, "scopes": scopes})
        assert (reply.status, reply.fields) == (422, ["scopes"])
    both = gateway.post(ALICE, "/tokens", {"kind": "service", "subject": "chat", "scopes": [CONVERSE, "act_as"]})
    assert both.status == 201


def test_agent_that_holds_a_claim_hands_off_under_it_instead(world: World, gateway: Gateway) -> None:
    gateway.post(ALICE, "/handoffs", {"source": {"agent": "alice"}, "target": {"agent": "scout", "reason": "Look"}})
    world.clock.advance(5)
    assert gateway.post(TALKER, "/agents/scout/claims").status == 200
    reply = gateway.post(TALKER, "/conversations", BODY)
    assert (reply.status, reply.code) == (422, "claim_required")


def test_agent_does_not_talk_to_itself(gateway: Gateway) -> None:
    reply = gateway.post(TALKER, "/conversations", {**BODY, "agent": "scout"})
    assert (reply.status, reply.code, reply.json["rule"]) == (409, "loop_guard", "self_handoff")


def test_conversation_with_an_agent_that_is_run_rings(world: World, gateway: Gateway) -> None:
    made = begun(gateway, agent="runner")
    assert [notice[:3] for notice in world.dispatch_queue.notices] == [(WORKSPACE, "runner", made["task"]["id"])]


def test_budget_and_usage_are_shown(world: World, gateway: Gateway) -> None:
    budget = {"max_model_calls": 5, "max_tokens": 1_000, "deadline": "2026-12-01T00:00:00Z"}
    made = begun(gateway, budget=budget)
    task_id, workflow_id = made["task"]["id"], made["conversation_id"]
    chain = gateway.get(ALICE, f"/workflows/{workflow_id}/chain").json
    assert chain["usage"] == {"model_calls": 0, "input_tokens": 0, "output_tokens": 0}
    assert chain["budget"] == {
        "max_handoffs": None,
        "max_model_calls": 5,
        "model_calls_left": 5,
        "max_tokens": 1_000,
        "tokens_left": 1_000,
        "deadline": "2026-12-01T00:00:00.000Z",
    }
    world.store.commit(WORKSPACE, AddUsage(workflow_id, task_id, Usage(2, 300, 50)))
    world.store.commit(WORKSPACE, AddUsage(workflow_id, "task_other", Usage(4, 600, 100)))
    assert gateway.get(ALICE, f"/tasks/{task_id}").json["usage"] == {
        "model_calls": 2,
        "input_tokens": 300,
        "output_tokens": 50,
    }
    used = {"model_calls": 6, "input_tokens": 900, "output_tokens": 150}
    assert shown(gateway, workflow_id)["usage"] == used
    chain = gateway.get(ALICE, f"/workflows/{workflow_id}/chain").json
    assert (chain["usage"], chain["budget"]["model_calls_left"], chain["budget"]["tokens_left"]) == (used, 0, 0)


def test_chain_without_a_budget_shows_none(gateway: Gateway) -> None:
    made = begun(gateway)
    assert gateway.get(ALICE, f"/workflows/{made['conversation_id']}/chain").json["budget"] is None


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"artifacts": "a list of things", "project": 5, "state": [1], "variables": None, "relevant_memories": {}},
        {"artifacts": [{"type": "code"}, 5], "state": "half"},
        {"": 1, "a b": 2, "\n": [3], "x_": {"_y": 1}},
    ],
)
def test_context_may_be_anything(gateway: Gateway, context: dict[str, Any]) -> None:
    made = begun(gateway, context=context)
    task = made["task"]
    kept = gateway.get(ALICE, f"/tasks/{task['id']}").json["context"] or {}
    assert {name: value for name, value in context.items() if value} == {n: v for n, v in kept.items() if v}
    for path in (
        f"/handoffs/{task['handoff_id']}",
        f"/workflows/{made['conversation_id']}/chain",
        f"/workflows/{made['conversation_id']}/checkpoints",
        f"/tasks/{task['id']}/checkpoints",
        f"/conversations/{made['conversation_id']}",
    ):
        assert gateway.get(ALICE, path).status == 200, path


# What is refused


WRONG: list[tuple[Any, list[str]]] = [
    ({}, ["agent", "message"]),
    (None, ["agent", "message"]),
    ({**BODY, "agent": None}, ["agent"]),
    ({**BODY, "agent": ""}, ["agent"]),
    ({**BODY, "agent": "x" * 101}, ["agent"]),
    ({**BODY, "agent": ["auditor"]}, ["agent"]),
    ({**BODY, "agent": "nobody"}, ["agent"]),
    ({**BODY, "message": ""}, ["message"]),
    *(({**BODY, "message": blank}, ["message"]) for blank in (" \n\t\u2003", "\x85", "\x1f", "\xa0", "\ufeff")),
    ({**BODY, "message": "x" * (MAX_TEXT + 1)}, ["message"]),
    ({**BODY, "message": {"text": "x"}}, ["message"]),
    ({**BODY, "message": None}, ["message"]),
    ({**BODY, "message": f"the token is {SECRET}"}, ["message"]),
    ({**BODY, "context": None}, ["context"]),
    ({**BODY, "context": []}, ["context"]),
    ({**BODY, "context": {"_handoff_chain": ["me"]}}, ["context._handoff_chain"]),
    ({**BODY, "context": {"_": 1}}, ["context._"]),
    ({**BODY, "context": {"key": {"token": SECRET}}}, ["context.key.token"]),
    ({**BODY, "budget": None}, ["budget"]),
    ({**BODY, "budget": {"max_tokens": 0}}, ["budget.max_tokens"]),
    ({**BODY, "budget": {"max_model_calls": "5"}}, ["budget.max_model_calls"]),
    ({**BODY, "budget": {"deadline": "tomorrow"}}, ["budget.deadline"]),
    ({**BODY, "budget": {"max_cost": 1}}, ["budget.max_cost"]),
    ({**BODY, "claim_id": "c"}, ["claim_id"]),
    ({**BODY, "workflow_id": "wf_1"}, ["workflow_id"]),
    ({**BODY, "source": "scout"}, ["source"]),
]


def test_wrong_field_is_named_and_begins_nothing(world: World, gateway: Gateway) -> None:
    before = world.stored()
    for body, fields in WRONG:
        reply = gateway.post(ALICE, "/conversations", body)
        assert (reply.status, reply.fields) == (422, fields), body
        assert reply.json["detail"].startswith(f"{fields[0]}: "), body
        assert world.stored() == before, body


OF_MESSAGES = [each for each in WRONG if each[1] == ["message"]]


def test_wrong_message_is_named_and_says_nothing(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    gateway.post(ALICE, f"/tasks/{made['task']['id']}/cancel")
    before = world.stored()
    path = f"/conversations/{made['conversation_id']}/messages"
    for said in ({"message": "x", "agent": "auditor"}, {"message": "x", "context": {}}):
        reply = gateway.post(ALICE, path, said)
        assert (reply.status, len(reply.fields)) == (422, 1), said
    for body, fields in OF_MESSAGES:
        reply = gateway.post(ALICE, path, {"message": body["message"]})
        assert (reply.status, reply.fields) == (422, fields), body
    assert world.stored() == before


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ('{"agent": "auditor", "message": "x", "context": {"n": NaN}}', "context.n"),
        ('{"agent": "auditor", "message": "x", "context": ' + '{"a":' * 1_000 + "1" + "}" * 1_000 + "}", "context"),
        ('{"agent": "auditor", "message": "\\ud800"}', "message"),
        ('{"agent": "auditor", "message": "a", "message": "b"}', "message"),
    ],
)
def test_what_cannot_be_kept_is_refused(world: World, gateway: Gateway, raw: str, field: str) -> None:
    before = world.stored()
    reply = gateway.post(ALICE, "/conversations", raw)
    assert (reply.status, reply.code, reply.fields) == (400, "malformed_json", [field])
    assert world.stored() == before


LIMITS = ["x", "x" * MAX_TEXT, " " * (MAX_TEXT - 1) + "x", "\u200bx", "🙂" * 20_000]


@pytest.mark.parametrize("text", LIMITS, ids=range(len(LIMITS)))
def test_message_at_its_limits_is_taken_unchanged(world: World, gateway: Gateway, text: str) -> None:
    made = begun(gateway, message=text)
    assert shown(gateway, made["conversation_id"])["message"] == text
    gateway.post(ALICE, f"/tasks/{made['task']['id']}/cancel")
    assert more(gateway, made["conversation_id"], text).status == 201
    said = [each for each in read(gateway, made["conversation_id"])["items"] if each["type"] == "user_message"]
    assert texts(said) == [text, text]


def test_title_is_the_message_on_one_line(gateway: Gateway) -> None:
    assert begun(gateway, message="  One\nTwo  ")["task"]["title"] == "One Two"
    long = begun(gateway, message="word " * 100)["task"]["title"]
    assert (len(long), long[-1]) == (200, "…")


def test_secret_is_masked_everywhere_where_the_workspace_says_so(world: World, gateway: Gateway) -> None:
    gateway.put(ALICE, "/workspace/settings", {"guardrails": {"secrets": "mask"}})
    said = "x" * 185 + f" {SECRET} "
    made = begun(gateway, message=said)
    gateway.post(ALICE, f"/tasks/{made['task']['id']}/cancel")
    assert more(gateway, made["conversation_id"], said).status == 201
    assert SECRET[:12] not in repr(world.stored())
    items = read(gateway, made["conversation_id"])["items"]
    assert "[masked: github_token]" in items[0]["text"]


def test_agent_that_gets_no_work_is_named(gateway: Gateway) -> None:
    made = begun(gateway)
    gateway.post(ALICE, f"/tasks/{made['task']['id']}/cancel")
    gateway.put(ALICE, "/agents/auditor", {"active": False})
    for reply in (gateway.post(ALICE, "/conversations", BODY), more(gateway, made["conversation_id"])):
        assert (reply.status, reply.code, reply.fields) == (422, "inactive_agent", ["agent"])


# Going on


def test_conversation_goes_on_with_the_agent_that_holds_it(world: World, gateway: Gateway) -> None:
    made = begun(gateway, context={"lead": 5})
    first, conversation_id = made["task"], made["conversation_id"]
    ended(world, gateway, first["id"])
    assert shown(gateway, conversation_id)["state"] == "idle"
    reply = more(gateway, conversation_id)
    task = reply.json["task"]
    assert (reply.status, reply.json["conversation_id"]) == (201, conversation_id)
    assert reply.headers["Location"] == f"/tasks/{task['id']}"
    assert (task["target_agent"], task["parent_id"], task["title"]) == ("auditor", None, "And then?")
    assert (task["workflow_id"], task["master_task_id"]) == (conversation_id, first["id"])
    assert gateway.get(ALICE, f"/tasks/{task['id']}").json["context"] == {"lead": 5}
    seen = shown(gateway, conversation_id)
    assert [each["id"] for each in seen["tasks"]] == [first["id"], task["id"]]
    assert (seen["state"], seen["message"], seen["created_at"]) == ("open", BODY["message"], first["created_at"])


def test_conversation_that_was_handed_on_is_held_by_the_last(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    world.clock.advance(5)
    claim = gateway.post(agent("auditor"), "/agents/auditor/claims").json
    target = {"agent": "scout", "reason": "Yours"}
    body = {"claim_id": claim["claim_id"], "target": target}
    assert gateway.post(agent("auditor"), f"/tasks/{made['task']['id']}/transfer", body).status == 200
    child_id = shown(gateway, made["conversation_id"])["tasks"][1]["id"]
    assert gateway.post(ALICE, f"/tasks/{child_id}/approve").status == 200
    seen = shown(gateway, made["conversation_id"])
    assert (seen["agent"], seen["agent_name"], seen["state"]) == ("scout", "Scout", "open")
    assert [each["parent_id"] for each in seen["tasks"]] == [None, made["task"]["id"]]
    gateway.post(ALICE, f"/tasks/{seen['tasks'][1]['id']}/cancel")
    assert more(gateway, made["conversation_id"]).json["task"]["target_agent"] == "scout"


def test_conversation_whose_agent_answers_is_busy(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    before = world.stored()
    reply = more(gateway, made["conversation_id"])
    assert (reply.status, reply.code) == (409, "conversation_busy")
    assert (reply.json["task_id"], reply.json["state"]) == (made["task"]["id"], "delegated")
    assert world.stored() == before
    ended(world, gateway, made["task"]["id"])
    second = more(gateway, made["conversation_id"]).json["task"]["id"]
    assert more(gateway, made["conversation_id"]).json["task_id"] == second


def test_repeat_by_key_is_answered_as_the_first_time(world: World, gateway: Gateway) -> None:
    key = {"idempotency-key": "k"}
    first = gateway.post(ALICE, "/conversations", BODY, headers=key)
    ended(world, gateway, first.json["task"]["id"])
    again = gateway.post(ALICE, "/conversations", BODY, headers=key)
    assert (again.status, again.json) == (201, first.json)
    assert again.headers["Location"] == first.headers["Location"]
    conversation_id = first.json["conversation_id"]
    second = more(gateway, conversation_id, **key)
    assert second.status == 201
    ended(world, gateway, second.json["task"]["id"])
    repeat = more(gateway, conversation_id, **key)
    assert (repeat.status, repeat.json) == (201, second.json)
    assert len(shown(gateway, conversation_id)["tasks"]) == 2
    for reply in (
        gateway.post(ALICE, "/conversations", {**BODY, "message": "x"}, headers=key),
        more(gateway, conversation_id, "x", **key),
    ):
        assert (reply.status, reply.code, reply.fields) == (422, "idempotency_key_reused", ["Idempotency-Key"])
    assert more(gateway, conversation_id, by=human(name="bob"), **key).json["task"]["id"] != second.json["task"]["id"]


# Reading along


def test_messages_are_read_in_order(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    task_id = made["task"]["id"]
    world.clock.advance(1)
    call = {"toolUse": {"toolUseId": "call_1", "name": "handoff_to_scout", "input": {"x": 1}}}
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm."}}}
    entries = [
        TranscriptEntry(first=2, kind=EntryKind.REPLY, agent="auditor", at=world.clock.now(), turn=1,
              blocks=(thought, {"text": "Let me see."}, call)),
        TranscriptEntry(first=5, kind=EntryKind.RESULTS, agent="auditor", at=world.clock.now(), turn=1,
              blocks=(result("call_1", {"n": 1}),),
              more_messages=(TranscriptMessage(MessageType.HANDOFF, "Routed to Scout", {"target_agent": "scout"}),)),
    ]  # fmt: skip
    for entry in entries:
        world.store.commit(WORKSPACE, Insert(TaskEntry(task_id, entry)))
    items = read(gateway, made["conversation_id"])["items"]
    assert [(each["number"], each["type"], each["text"]) for each in items] == [
        (1, "user_message", BODY["message"]),
        (2, "thinking", "Hm."),
        (3, "assistant_message", "Let me see."),
        (4, "tool_call", "Called handoff_to_scout"),
        (5, "tool_result", ""),
        (6, "handoff", "Routed to Scout"),
    ]
    assert items[0]["data"] == {}
    assert items[3]["data"] == {"call_id": "call_1", "tool_name": "handoff_to_scout", "arguments": {"x": 1}}
    assert items[4]["data"] == {"call_id": "call_1", "status": "success", "content": {"n": 1}}
    assert {each["task_id"] for each in items} == {task_id}
    assert [each["agent"] for each in items] == ["human:alice", *["auditor"] * 5]
    assert [each["at"] for each in items] == [made["task"]["created_at"], *[rfc3339(world.clock.now())] * 5]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 200])
def test_pages_of_any_size_hold_each_message_once(world: World, gateway: Gateway, limit: int) -> None:
    conversation_id = begun(gateway)["conversation_id"]
    for number in range(3):
        task_id = shown(gateway, conversation_id)["tasks"][-1]["id"]
        for line in range(3):
            told(world, task_id, line + 2, f"{number}.{line}")
        ended(world, gateway, task_id)
        if number < 2:
            assert more(gateway, conversation_id, f"question {number}").status == 201
    whole = read(gateway, conversation_id, limit=200)["items"]
    assert len(whole) == 18
    assert texts(whole)[3:8] == ["0.2", "Yes", "The task is done.", "question 0", "1.0"]
    found, after = [], None
    while page := read(gateway, conversation_id, after, limit)["items"]:
        assert len(page) <= limit
        found += page
        after = read(gateway, conversation_id, after, limit)["after"]
    assert found == whole


def test_nothing_new_is_answered_with_where_to_go_on(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    first = read(gateway, made["conversation_id"])
    nothing = read(gateway, made["conversation_id"], first["after"])
    assert nothing == {"items": [], "after": first["after"]}
    told(world, made["task"]["id"], 2, "Yes.")
    assert texts(read(gateway, made["conversation_id"], nothing["after"])["items"]) == ["Yes."]


def test_what_an_earlier_task_writes_late_is_not_skipped(world: World, gateway: Gateway) -> None:
    """Two branches of one task: the younger is done before the older says a word."""
    made = begun(gateway)
    world.clock.advance(5)
    claim = gateway.post(agent("auditor"), "/agents/auditor/claims").json
    branches = [{"call_id": f"c{n}", "target": {"agent": "scout", "reason": f"Part {n}"}} for n in range(2)]
    body = {"claim_id": claim["claim_id"], "branches": branches}
    path = f"/tasks/{made['task']['id']}/delegate"
    assert gateway.post(agent("auditor"), path, body).status == 200
    conversation_id = made["conversation_id"]
    older, younger = [each["id"] for each in shown(gateway, conversation_id)["tasks"]][1:]
    told(world, younger, 1, "younger")
    gateway.post(ALICE, f"/tasks/{younger}/cancel")
    first = read(gateway, conversation_id)
    assert texts(first["items"]) == [BODY["message"], "younger", "The task is cancelled."]
    told(world, older, 1, "older, late")
    second = read(gateway, conversation_id, first["after"])
    assert texts(second["items"]) == ["older, late"]
    world.clock.advance(7_200)
    told(world, older, 2, "older, later")
    gateway.post(ALICE, f"/tasks/{older}/cancel")
    third = read(gateway, conversation_id, second["after"], 1)
    assert texts(third["items"]) == ["older, later"]
    fourth = read(gateway, conversation_id, third["after"])
    assert "The task is cancelled." in texts(fourth["items"])
    assert read(gateway, conversation_id, fourth["after"])["items"] == []


def test_cursor_does_not_grow_with_the_conversation(world: World, gateway: Gateway) -> None:
    conversation_id, after, lengths = begun(gateway)["conversation_id"], None, []
    for number in range(12):
        gateway.post(ALICE, f"/tasks/{shown(gateway, conversation_id)['tasks'][-1]['id']}/cancel")
        assert more(gateway, conversation_id, str(number)).status == 201
        page = read(gateway, conversation_id, after)
        assert texts(page["items"])[-1] == str(number)
        after = page["after"]
        lengths.append(len(after))
        world.clock.advance(3_601)
    assert max(lengths) < 200
    assert len(read(gateway, conversation_id, limit=200)["items"]) == 25


def test_large_messages_end_a_page_early(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    for number in range(2, 27):
        told(world, made["task"]["id"], number, f"{number} " + "x" * 200_000)
    found, after = [], None
    while True:
        page = read(gateway, made["conversation_id"], after, 200)
        assert len(json.dumps(page)) < 4_000_000
        if not page["items"]:
            break
        found += [each["number"] for each in page["items"]]
        after = page["after"]
    assert found == list(range(1, 27))


QUERIES = [
    ("limit=0", "limit"),
    ("limit=201", "limit"),
    ("limit=-1", "limit"),
    ("limit=1.5", "limit"),
    ("limit=", "limit"),
    ("limit=1&limit=2", "limit"),
    ("after=", "after"),
    ("after=x", "after"),
    ("after=e30", "after"),
    ("after=W10", "after"),
    ("after=WyJhIiwgImIiXQ", "after"),
    ("after=" + "x" * 8_000, "after"),
    ("after=" + "x" * 8_001, "after"),
    ("after=0", "after"),
    ("cursor=x", "cursor"),
]


def test_wrong_query_is_named(gateway: Gateway) -> None:
    conversation_id = begun(gateway)["conversation_id"]
    for query, field in QUERIES:
        reply = gateway.get(ALICE, f"/conversations/{conversation_id}/messages", query=query)
        assert (reply.status, reply.fields) == (422, [field]), query


def test_limit_is_50_by_default_and_200_at_most(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    for number in range(2, 212):
        told(world, made["task"]["id"], number, str(number))
    assert len(read(gateway, made["conversation_id"])["items"]) == 50
    assert len(read(gateway, made["conversation_id"], limit=200)["items"]) == 200
    assert len(read(gateway, made["conversation_id"], limit=1)["items"]) == 1


def test_cursor_belongs_to_its_conversation_and_workspace(world: World, gateway: Gateway) -> None:
    world.settle("other")
    one, other = begun(gateway)["conversation_id"], begun(gateway)["conversation_id"]
    after = read(gateway, one)["after"]
    reply = gateway.get(ALICE, f"/conversations/{other}/messages", query=f"after={after}")
    assert (reply.status, reply.fields) == (422, ["after"])
    assert "belongs to another" in reply.text
    theirs = begun(gateway, STRANGER)["conversation_id"]
    reply = gateway.get(STRANGER, f"/conversations/{theirs}/messages", query=f"after={after}")
    assert (reply.status, reply.fields) == (422, ["after"])
    assert read(gateway, one, after, 7)["items"] == []


def sealed(path: str, cursor: str) -> str:
    """As Baton would give it out: the seal is no secret."""
    seal = hashlib.sha256(f"{WORKSPACE}\n{path}\n{{}}\n{cursor}".encode()).hexdigest()[:16]
    return base64.urlsafe_b64encode(json.dumps([seal, cursor]).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    ["..", "x.y", "a.0123456789-x", ".0123456789-12345678", ".0123456789-٣", ".0123-1", "a b", ".0123456789--1"],
)
def test_forged_cursor_is_refused(gateway: Gateway, cursor: str) -> None:
    path = f"/conversations/{begun(gateway)['conversation_id']}/messages"
    reply = gateway.get(ALICE, path, query=f"after={sealed(path, cursor)}")
    assert (reply.status, reply.fields) == (422, ["after"])


def test_cursor_of_tasks_that_are_elsewhere_is_only_forgotten(gateway: Gateway) -> None:
    path = f"/conversations/{begun(gateway)['conversation_id']}/messages"
    page = gateway.get(ALICE, path, query=f"after={sealed(path, '.0123456789-5.9876543210-*')}").json
    assert texts(page["items"]) == [BODY["message"]]
    assert page["after"] == gateway.get(ALICE, path).json["after"]


# Other workspaces


def test_other_workspaces_conversation_answers_like_an_unknown_one(world: World, gateway: Gateway) -> None:
    world.settle("other")
    conversation_id = begun(gateway)["conversation_id"]
    before = world.stored()
    for end in ("", "/messages"):
        unknown = gateway.get(STRANGER, f"/conversations/wf_unknown{end}")
        assert (unknown.status, unknown.code) == (404, "not_found")
        for path in (f"/conversations/{conversation_id}{end}", f"/conversations/a%20b{end}"):
            assert gateway.get(STRANGER, path).json == unknown.json
    unknown = more(gateway, "wf_unknown", by=STRANGER)
    assert unknown.status == 404
    assert more(gateway, conversation_id, by=STRANGER).json == unknown.json
    assert world.stored() == before
    assert gateway.post(STRANGER, "/conversations", {**BODY, "agent": "runner"}).status == 201


def test_workflow_that_began_otherwise_can_be_read_and_not_talked_into(world: World, gateway: Gateway) -> None:
    asked = {"source": {"agent": "alice"}, "target": {"agent": "auditor", "reason": "Sign the release"}}
    task = gateway.post(ALICE, "/handoffs", asked).json["task"]
    seen = shown(gateway, task["workflow_id"])
    assert (seen["message"], seen["agent"], seen["state"]) == ("Sign the release", "auditor", "open")
    assert read(gateway, task["workflow_id"])["items"] == []
    for _ in range(2):
        before = world.stored()
        reply = more(gateway, task["workflow_id"])
        assert (reply.status, reply.code) == (404, "not_found")
        assert world.stored() == before
        ended(world, gateway, task["id"]) if world.task(task["id"]).state is State.DELEGATED else None


def test_ended_task_says_so_last(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    assert world.task(made["task"]["id"]).state is State.DELEGATED
    ended(world, gateway, made["task"]["id"])
    answer, last = read(gateway, made["conversation_id"])["items"][-2:]
    assert (answer["type"], answer["number"], answer["text"], answer["agent"]) == (
        "assistant_message",
        2,
        "Yes",
        "auditor",
    )
    assert (last["type"], last["number"], last["data"]) == ("status_change", 3, {"state": "done"})
    assert world.clock.now() - world.task(made["task"]["id"]).meta.updated_at < timedelta(seconds=1)


def test_secrets_are_masked_in_what_is_read_unless_that_is_off(world: World, gateway: Gateway) -> None:
    made = begun(gateway)
    told(world, made["task"]["id"], 2, "The key is AKIAIOSFODNN7REALKEY.")
    assert texts(read(gateway, made["conversation_id"])["items"])[1] == "The key is [masked: aws_access_key]."
    settings = gateway.put(ALICE, "/workspace/settings", {"guardrails": {"secrets": "off"}})
    assert settings.status == 200, settings.text
    assert texts(read(gateway, made["conversation_id"])["items"])[1] == "The key is AKIAIOSFODNN7REALKEY."


def test_a_conversation_that_a_worker_elsewhere_hands_on_keeps_the_users_message(
    world: World, gateway: Gateway
) -> None:
    made = begun(gateway)
    world.clock.advance(5)
    by, path = agent("auditor"), f"/tasks/{made['task']['id']}"
    claim = gateway.post(by, f"{path}/claim").json
    body = {"claim_id": claim["claim_id"], "target": {"agent": "runner", "reason": "Yours"}}
    child_id = gateway.post(by, f"{path}/transfer", body).json["output"]["new_task_id"]
    child = gateway.get(ALICE, f"/tasks/{child_id}").json
    assert child["input"] == gateway.get(ALICE, path).json["input"]
