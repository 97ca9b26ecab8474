"""Who reads what of its own workspace (docs/reading-rights.md): what an agent has no part in answers like what doesn't
exist, and lists leave it out."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.principal import CONVERSE, Kind, Principal
from support.desk import Desk, message
from support.gateway import Gateway, Reply
from support.world import WORKSPACE, World, agent, human, service

ALICE, CI, NARROW = human(), service(), Principal(WORKSPACE, Kind.SERVICE, "narrow")
ARCHITECT, CODE, QA, CISO = agent("architect"), agent("auto-code"), agent("qa"), agent("ciso")
WORD = "zanzibar"


@pytest.fixture
def desk(gateway: Gateway) -> Desk:
    return Desk(gateway).hire()


def share(desk: Desk, how: str = "workspace") -> None:
    assert desk.gateway.put(ALICE, "/workspace/settings", {"agents_read": how}).status == 200


def readings(task: Any) -> list[str]:
    """Everything that shows one task."""
    path = f"/tasks/{task['id']}"
    of_task = ["", "/await?timeout=0", "/events", "/events/verify", "/events/wait?timeout=0", "/notes", "/checkpoints"]
    around = [f"/handoffs/{task['handoff_id']}", f"/workflows/{task['workflow_id']}/chain"]
    return [path + each for each in of_task] + [f"{path}/late-results", *around]


def got(desk: Desk, by: Any, path: str) -> Reply:
    path, _, query = path.partition("?")
    return desk.gateway.get(by, path, query=query)


def ids(reply: Reply, name: str = "id") -> list[str]:
    assert reply.status == 200, reply.text
    return [each[name] for each in reply.json["items"]]


def every(desk: Desk, by: Any, path: str, query: str = "limit=1") -> list[Any]:
    """All items of a list, page by page."""
    found: list[Any] = []
    cursor = ""
    for _ in range(100):
        page = desk.gateway.get(by, path, query=query + cursor).json
        found += page["items"]
        if page["next_cursor"] is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"
    raise AssertionError("no end")


def test_source_target_and_creator_read_a_task_and_strangers_dont(desk: Desk) -> None:
    task = desk.begun(summary=WORD)["task"]
    for by in (ARCHITECT, CODE, ALICE, CI):
        assert {got(desk, by, path).status for path in readings(task)} == {200}, by
    for by in (QA, NARROW):
        for path in readings(task):
            reply = got(desk, by, path)
            never = got(desk, by, path.replace(task["id"], "task_x").replace(task["handoff_id"], "ho_x"))
            assert (reply.status, reply.code) == (404, "not_found"), path
            assert "/workflows" in path or reply.text == never.text, path


def test_human_reads_whatever_scopes_its_token_has(desk: Desk) -> None:
    task = desk.begun()["task"]
    assert desk.gateway.get(Principal(WORKSPACE, Kind.HUMAN, "bob"), f"/tasks/{task['id']}").status == 200


def test_service_without_the_scope_reads_what_it_made(desk: Desk) -> None:
    made = desk.gateway.post(NARROW, "/handoffs", message("narrow")).json["task"]
    other = desk.hand_off()["task"]
    assert desk.gateway.get(NARROW, f"/tasks/{made['id']}").status == 200
    assert desk.gateway.get(NARROW, f"/tasks/{other['id']}").status == 404
    assert [each["id"] for each in every(desk, NARROW, "/tasks")] == [made["id"]]


def test_lists_leave_out_what_may_not_be_read_and_go_on(desk: Desk) -> None:
    own = [desk.hand_off("architect", "qa")["task"]["id"]]
    for _ in range(12):
        desk.hand_off("architect", "auto-code", summary=WORD)
    own.append(desk.hand_off("architect", "qa")["task"]["id"])
    for path, query, name in (
        ("/tasks", "limit=1", "id"),
        ("/tasks", "limit=1&agent=auto-code", "id"),
        ("/tasks", "limit=1&state=delegated", "id"),
        ("/handoffs", "limit=1", "task_id"),
        ("/handoffs", "limit=1&source=architect", "task_id"),
        ("/handoffs", "limit=1&target=auto-code", "task_id"),
        ("/agents/auto-code/pending", "limit=1", "id"),
    ):
        wanted = set() if "auto-code" in path + query else set(own)
        assert {each[name] for each in every(desk, QA, path, query)} == wanted, path + query
    assert len(every(desk, ALICE, "/tasks")) == 14
    assert len(every(desk, CODE, "/handoffs")) == 12


def test_approval_queue_shows_an_agent_its_own(desk: Desk) -> None:
    desk.gateway.put(ALICE, "/agents/ciso", {"approval": "manual"})
    for source in ("architect", "qa", "architect"):
        desk.hand_off(source, "ciso")
    assert len(every(desk, QA, "/tasks", "limit=1&state=needs")) == 1
    assert len(every(desk, CISO, "/tasks", "limit=1&state=needs")) == 3


def test_handoffs_of_a_strangers_workflow_are_none(desk: Desk) -> None:
    task = desk.hand_off()["task"]
    reply = desk.gateway.get(QA, "/handoffs", query=f"workflow={task['workflow_id']}")
    assert reply.json == desk.gateway.get(QA, "/handoffs", query="workflow=wf_unknown").json


def chained(desk: Desk) -> Any:
    """architect → auto-code → qa: the last task."""
    claim = desk.begun(summary=f"{WORD} one")
    desk.say(claim, "checkpoints", step_name="half", state={"said": WORD})
    said = message("auto-code", "qa", claim_id=claim["claim_id"], summary="tests please")
    task = desk.gateway.post(CODE, "/handoffs", said).json["task"]
    failure = {"type": "error", "description": f"{WORD} broke"}
    assert desk.say(claim, "fail", failure=failure).status == 200
    return task


def test_chain_is_shown_without_the_words_of_others(desk: Desk) -> None:
    task = chained(desk)
    path = f"/workflows/{task['workflow_id']}/chain"
    (root,) = desk.gateway.get(QA, path).json["nodes"]
    (child,) = (each for each in root["children"] if each["task_id"] == task["id"])
    assert (root["hidden"], child["hidden"], child["title"]) == (True, False, "tests please")
    assert (root["source_agent"], root["target_agent"], root["state"]) == ("architect", "auto-code", "failed")
    assert (root["title"], root["failure"], root["reason"]) == ("Handoff to auto-code", None, None)
    drawn = desk.gateway.get(QA, path, query="format=text").text
    assert "auto-code ─" in drawn
    assert WORD not in drawn + desk.gateway.get(QA, path).text
    (whole,) = desk.gateway.get(ALICE, path).json["nodes"]
    assert (whole["hidden"], whole["title"], whole["reason"]) == (False, f"{WORD} one", f"{WORD} broke")
    assert desk.gateway.get(CISO, path).text == desk.gateway.get(CISO, "/workflows/wf_unknown/chain").text


def test_workflows_checkpoints_are_those_of_tasks_that_one_reads(desk: Desk) -> None:
    task = chained(desk)
    path = f"/workflows/{task['workflow_id']}/checkpoints"
    assert {each["task_id"] for each in every(desk, QA, path)} == {task["id"]}
    assert len({each["task_id"] for each in every(desk, ALICE, path)}) > 1
    assert desk.gateway.get(CISO, path).status == 404


def test_open_work_is_read_by_whoever_has_claimed_it(desk: Desk, world: World) -> None:
    desk.gateway.put(ALICE, "/agents/tester", {"name": "Tester", "approval": "auto", "accepts": ["code"]})
    said = message("architect", None, context={"artifacts": [{"type": "code", "path": "/src"}]})
    task = desk.gateway.post(ALICE, "/handoffs", said).json["task"]
    path = f"/tasks/{task['id']}"
    world.clock.advance(5)
    assert desk.gateway.get(QA, path).status == 404
    first = desk.take("qa")
    assert (first["task"]["id"], first["body"]["context"]) == (task["id"], said["context"])
    assert desk.gateway.get(QA, path).status == 200
    refused = desk.gateway.post(agent("tester"), f"{path}/claim")
    assert (refused.status, refused.code) == (409, "already_claimed")
    assert desk.gateway.get(agent("tester"), path).status == 404
    desk.say(first, "release")
    assert desk.gateway.get(QA, path).status == 200
    second = desk.gateway.post(agent("tester"), f"{path}/claim").json
    desk.say(second, "complete", output=1)
    for by in (QA, agent("tester")):
        assert desk.gateway.get(by, path).status == 200
        assert ids(desk.gateway.get(by, "/tasks")) == [task["id"]]
    assert desk.gateway.get(CISO, path).status == 404
    assert desk.gateway.get(ALICE, f"{path}/events/verify").json["intact"] is True
    assert desk.gateway.post(CISO, f"{path}/claim").code == "not_found"  # no offer any more


@pytest.mark.parametrize("verb", ["claim", "cancel", "heartbeat", "release", "notes"])
def test_verb_of_a_stranger_finds_no_task(desk: Desk, verb: str) -> None:
    task = desk.begun()["task"]
    words: dict[str, Any] = {"notes": {"text": "x"}}
    body = {} if verb in {"claim", "cancel"} else {"claim_id": "clm_guess", **words.get(verb, {})}
    reply = desk.gateway.post(QA, f"/tasks/{task['id']}/{verb}", body)
    assert reply.status == 404
    assert reply.text == desk.gateway.post(QA, f"/tasks/task_unknown/{verb}", body).text


def test_alert_about_a_strangers_task_is_not_taken(desk: Desk) -> None:
    task = desk.begun()["task"]
    body = {"kind": "odd", "severity": "info", "message": WORD, "task_id": task["id"]}
    unknown = desk.gateway.post(QA, "/alerts", {**body, "task_id": "task_unknown"})
    assert desk.gateway.post(QA, "/alerts", body).text == unknown.text
    about, mine = (
        desk.gateway.post(by, "/alerts", each).json["id"]
        for by, each in ((ARCHITECT, body), (QA, {**body, "task_id": None}))
    )
    assert [each["id"] for each in every(desk, CODE, "/alerts")] == [about]
    assert [each["id"] for each in every(desk, QA, "/alerts", "limit=1&state=open")] == [mine]
    assert len(every(desk, ALICE, "/alerts")) == 2
    assert desk.gateway.get(QA, f"/alerts/{about}").text == desk.gateway.get(QA, "/alerts/alert_x").text
    assert ids(desk.gateway.get(QA, "/alerts", query=f"task_id={task['id']}")) == []


def test_profile_is_the_agents_own(desk: Desk) -> None:
    desk.gateway.put(ALICE, "/agents/qa", {"system_prompt": WORD, "model": "scripted"})
    share(desk)
    for by in (QA, ALICE, CI):
        assert desk.gateway.get(by, "/agents/qa").json["system_prompt"] == WORD
    for by in (CODE, NARROW):
        seen = desk.gateway.get(by, "/agents/qa")
        assert (seen.status, seen.json["name"], "model" in seen.json, WORD in seen.text) == (200, "qa", False, False)
    assert WORD not in desk.gateway.put(NARROW, "/agents/qa", {"description": "tests"}).text


def test_guardrails_are_for_who_reads_all(desk: Desk) -> None:
    desk.gateway.put(ALICE, "/workspace/settings", {"guardrails": {"forbidden_patterns": [f"{WORD}*"]}})
    share(desk)
    for by in (QA, NARROW):
        seen = desk.gateway.get(by, "/workspace/settings")
        assert ("guardrails" in seen.json, seen.json["agents_read"], WORD in seen.text) == (False, "workspace", False)
    assert WORD in desk.gateway.get(CI, "/workspace/settings").text


def test_only_a_human_opens_the_workspace(desk: Desk) -> None:
    task = desk.begun()["task"]
    for by in (QA, CI, NARROW):
        assert desk.gateway.put(by, "/workspace/settings", {"agents_read": "workspace"}).code == "human_required"
    refused = desk.gateway.put(ALICE, "/workspace/settings", {"agents_read": "all"})
    assert (refused.status, refused.fields) == (422, ["agents_read"])
    share(desk)
    assert {got(desk, QA, path).status for path in readings(task)} == {200}
    assert ids(desk.gateway.get(QA, "/tasks")) == [task["id"]]
    assert got(desk, NARROW, readings(task)[0]).status == 404
    assert desk.gateway.get(agent("qa", "other"), f"/tasks/{task['id']}").status == 404
    share(desk, "own")
    assert got(desk, QA, readings(task)[0]).status == 404


# Conversations


def talked(desk: Desk) -> Any:
    made = desk.gateway.post(ALICE, "/conversations", {"agent": "architect", "message": WORD}).json
    return made["conversation_id"], made["task"]


def test_conversation_is_heard_by_who_takes_part(desk: Desk) -> None:
    conversation_id, _ = talked(desk)
    path = f"/conversations/{conversation_id}"
    for by in (ARCHITECT, ALICE, CI):
        assert WORD in desk.gateway.get(by, f"{path}/messages").text
        assert desk.gateway.get(by, path).json["message"] == WORD
    for by in (QA, NARROW):
        for end in ("", "/messages"):
            reply, never = (desk.gateway.get(by, f"{each}{end}") for each in (path, "/conversations/wf_unknown"))
            assert (reply.status, reply.text) == (404, never.text)


def test_stranger_says_nothing_in_a_conversation(desk: Desk) -> None:
    conversation_id, _ = talked(desk)
    by = Principal(WORKSPACE, Kind.AGENT, "qa", frozenset({CONVERSE}))
    reply = desk.gateway.post(by, f"/conversations/{conversation_id}/messages", {"message": "x"})
    assert (reply.status, reply.code) == (404, "not_found")


def test_who_does_a_part_aside_hears_that_part(desk: Desk, world: World) -> None:
    conversation_id, task = talked(desk)
    world.clock.advance(5)
    claim = desk.gateway.post(ARCHITECT, f"/tasks/{task['id']}/claim").json
    branch = {"target": {"agent": "qa", "reason": "count to three"}}
    assert desk.say(claim, "delegate", branches=[branch]).status == 200
    part = desk.take("qa")
    desk.say(part, "complete", output="three")
    path = f"/conversations/{conversation_id}"
    heard = desk.gateway.get(QA, f"{path}/messages")
    assert {each["task_id"] for each in heard.json["items"]} == {part["task"]["id"]}
    seen = desk.gateway.get(QA, path).json
    assert (seen["message"], [each["id"] for each in seen["tasks"]]) == ("", [part["task"]["id"]])
    assert WORD not in heard.text
    assert {each["task_id"] for each in desk.gateway.get(ARCHITECT, f"{path}/messages").json["items"]} > {
        part["task"]["id"]
    }


def test_workflow_that_is_no_conversation_is_heard_by_nobody_but_in_parts(desk: Desk) -> None:
    task = chained(desk)
    path = f"/conversations/{task['workflow_id']}/messages"
    heard = desk.gateway.get(QA, path)
    assert {each["task_id"] for each in heard.json["items"]} <= {task["id"]}
    assert WORD not in heard.text + desk.gateway.get(QA, path.removesuffix("/messages")).text
    assert desk.gateway.get(CISO, path).status == 404
