"""Who reads what of its own workspace (docs/reading-rights.md): what an agent has no part in answers like what doesn't
exist, and lists leave it out."""

from __future__ import annotations

import re
from typing import Any

import pytest

from baton.domain.access.principal import CONVERSE, Principal, PrincipalKind
from support.gateway import ROUTES, Reply
from support.worlds.http_agents import HttpAgents, message
from support.worlds.world import WORKSPACE, World, agent, human, service

ALICE, CI, NARROW = human(), service(), Principal(WORKSPACE, PrincipalKind.SERVICE, "narrow")
ARCHITECT, CODE, QA, CISO = agent("architect"), agent("auto-code"), agent("qa"), agent("ciso")
WORD = "zanzibar"
PARAMETER = re.compile(r"{(\w+)}")


def share(http_agents: HttpAgents, how: str = "workspace") -> None:
    assert http_agents.gateway.put(ALICE, "/workspace/settings", {"agents_read": how}).status == 200


def readings(task: Any) -> list[str]:
    """Everything that shows one task."""
    of_task = [route for route in ROUTES if route.method == "GET" and PARAMETER.findall(route.path) == ["task_id"]]
    assert len(of_task) > 5
    around = [f"/handoffs/{task['handoff_id']}", f"/workflows/{task['workflow_id']}/chain"]
    waits = {True: "?timeout=0", False: ""}
    return [route.path.format(task_id=task["id"]) + waits[route.waits] for route in of_task] + around


def got(http_agents: HttpAgents, by: Any, path: str) -> Reply:
    path, _, query = path.partition("?")
    return http_agents.gateway.get(by, path, query=query)


def ids(reply: Reply, name: str = "id") -> list[str]:
    assert reply.status == 200, reply.text
    return [each[name] for each in reply.json["items"]]


def every(http_agents: HttpAgents, by: Any, path: str, query: str = "limit=1") -> list[Any]:
    """All items of a list, page by page."""
    found: list[Any] = []
    cursor = ""
    for _ in range(100):
        page = http_agents.gateway.get(by, path, query=query + cursor).json
        found += page["items"]
        if page["next_cursor"] is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"
    raise AssertionError("no end")


def test_source_target_and_creator_read_a_task_and_strangers_dont(http_agents: HttpAgents) -> None:
    task = http_agents.begun(summary=WORD)["task"]
    for by in (ARCHITECT, CODE, ALICE, CI):
        assert {got(http_agents, by, path).status for path in readings(task)} == {200}, by
    for by in (QA, NARROW):
        for path in readings(task):
            reply = got(http_agents, by, path)
            never = got(http_agents, by, path.replace(task["id"], "task_x").replace(task["handoff_id"], "ho_x"))
            assert (reply.status, reply.code) == (404, "not_found"), path
            assert "/workflows" in path or reply.text == never.text, path


def test_human_reads_whatever_scopes_its_token_has(http_agents: HttpAgents) -> None:
    task = http_agents.begun()["task"]
    assert (
        http_agents.gateway.get(Principal(WORKSPACE, PrincipalKind.HUMAN, "bob"), f"/tasks/{task['id']}").status == 200
    )


def test_service_without_the_scope_reads_what_it_made(http_agents: HttpAgents) -> None:
    made = http_agents.gateway.post(NARROW, "/handoffs", message("narrow")).json["task"]
    other = http_agents.hand_off()["task"]
    assert http_agents.gateway.get(NARROW, f"/tasks/{made['id']}").status == 200
    assert http_agents.gateway.get(NARROW, f"/tasks/{other['id']}").status == 404
    assert [each["id"] for each in every(http_agents, NARROW, "/tasks")] == [made["id"]]


def test_lists_leave_out_what_may_not_be_read_and_go_on(http_agents: HttpAgents) -> None:
    own = [http_agents.hand_off("architect", "qa")["task"]["id"]]
    for _ in range(12):
        http_agents.hand_off("architect", "auto-code", summary=WORD)
    own.append(http_agents.hand_off("architect", "qa")["task"]["id"])
    for path, query, name in (
        ("/tasks", "limit=1", "id"),
        ("/tasks", "limit=1&agent=auto-code", "id"),
        ("/tasks", "limit=1&state=delegated", "id"),
        ("/handoffs", "limit=1", "task_id"),
        ("/handoffs", "limit=1&source=architect", "task_id"),
        ("/handoffs", "limit=1&target=auto-code", "task_id"),
        ("/agents/auto-code/pending", "limit=1", "id"),
        ("/agents/auto-code/claims", "limit=1", "id"),
    ):
        wanted = set() if "auto-code" in path + query else set(own)
        assert {each[name] for each in every(http_agents, QA, path, query)} == wanted, path + query
    assert len(every(http_agents, ALICE, "/tasks")) == 14
    assert len(every(http_agents, CODE, "/handoffs")) == 12


def test_approval_queue_shows_an_agent_its_own(http_agents: HttpAgents) -> None:
    http_agents.gateway.put(ALICE, "/agents/ciso", {"approval": "manual"})
    for source in ("architect", "qa", "architect"):
        http_agents.hand_off(source, "ciso")
    assert len(every(http_agents, QA, "/tasks", "limit=1&state=needs")) == 1
    assert len(every(http_agents, CISO, "/tasks", "limit=1&state=needs")) == 3


def test_handoffs_of_a_strangers_workflow_are_none(http_agents: HttpAgents) -> None:
    task = http_agents.hand_off()["task"]
    reply = http_agents.gateway.get(QA, "/handoffs", query=f"workflow={task['workflow_id']}")
    assert reply.json == http_agents.gateway.get(QA, "/handoffs", query="workflow=wf_unknown").json


def chained(http_agents: HttpAgents) -> Any:
    """architect → auto-code → qa: the last task."""
    claim = http_agents.begun(summary=f"{WORD} one")
    http_agents.say(claim, "checkpoints", step_name="half", state={"said": WORD})
    body = message("auto-code", "qa", claim_id=claim["claim_id"], summary="tests please")
    task = http_agents.gateway.post(CODE, "/handoffs", body).json["task"]
    failure = {"type": "error", "description": f"{WORD} broke"}
    assert http_agents.say(claim, "fail", failure=failure).status == 200
    return task


def test_chain_is_shown_without_the_words_of_others(http_agents: HttpAgents) -> None:
    task = chained(http_agents)
    path = f"/workflows/{task['workflow_id']}/chain"
    (root,) = http_agents.gateway.get(QA, path).json["nodes"]
    (child,) = (each for each in root["children"] if each["task_id"] == task["id"])
    assert (root["hidden"], child["hidden"], child["title"]) == (True, False, "tests please")
    assert (root["source_agent"], root["target_agent"], root["state"]) == ("architect", "auto-code", "failed")
    assert (root["title"], root["failure"], root["reason"]) == ("Handoff to auto-code", None, None)
    drawn = http_agents.gateway.get(QA, path, query="format=text").text
    assert "auto-code ─" in drawn
    assert WORD not in drawn + http_agents.gateway.get(QA, path).text
    (whole,) = http_agents.gateway.get(ALICE, path).json["nodes"]
    assert (whole["hidden"], whole["title"], whole["reason"]) == (False, f"{WORD} one", f"{WORD} broke")
    assert http_agents.gateway.get(CISO, path).text == http_agents.gateway.get(CISO, "/workflows/wf_unknown/chain").text


def test_workflows_checkpoints_are_those_of_tasks_that_one_reads(http_agents: HttpAgents) -> None:
    task = chained(http_agents)
    path = f"/workflows/{task['workflow_id']}/checkpoints"
    assert {each["task_id"] for each in every(http_agents, QA, path)} == {task["id"]}
    assert len({each["task_id"] for each in every(http_agents, ALICE, path)}) > 1
    assert http_agents.gateway.get(CISO, path).status == 404


def test_open_work_is_read_by_whoever_has_claimed_it(http_agents: HttpAgents, world: World) -> None:
    http_agents.gateway.put(ALICE, "/agents/tester", {"name": "Tester", "approval": "auto", "accepts": ["code"]})
    body = message("architect", None, context={"artifacts": [{"type": "code", "path": "/src"}]})
    task = http_agents.gateway.post(ALICE, "/handoffs", body).json["task"]
    path = f"/tasks/{task['id']}"
    world.clock.advance(5)
    assert http_agents.gateway.get(QA, path).status == 404
    first = http_agents.take("qa")
    assert (first["task"]["id"], first["body"]["context"]) == (task["id"], body["context"])
    assert http_agents.gateway.get(QA, path).status == 200
    refused = http_agents.gateway.post(agent("tester"), f"{path}/claim")
    assert (refused.status, refused.code) == (409, "already_claimed")
    assert http_agents.gateway.get(agent("tester"), path).status == 404
    http_agents.say(first, "release")
    assert http_agents.gateway.get(QA, path).status == 200
    second = http_agents.gateway.post(agent("tester"), f"{path}/claim").json
    http_agents.say(second, "complete", output=1)
    for by in (QA, agent("tester")):
        assert http_agents.gateway.get(by, path).status == 200
        assert ids(http_agents.gateway.get(by, "/tasks")) == [task["id"]]
    assert http_agents.gateway.get(CISO, path).status == 404
    assert http_agents.gateway.get(ALICE, f"{path}/events/verify").json["intact"] is True
    assert http_agents.gateway.post(CISO, f"{path}/claim").code == "not_found"  # no offer any more


@pytest.mark.parametrize("verb", ["claim", "cancel", "heartbeat", "release", "notes"])
def test_verb_of_a_stranger_finds_no_task(http_agents: HttpAgents, verb: str) -> None:
    task = http_agents.begun()["task"]
    words: dict[str, Any] = {"notes": {"text": "x"}}
    body = {} if verb in {"claim", "cancel"} else {"claim_id": "clm_guess", **words.get(verb, {})}
    reply = http_agents.gateway.post(QA, f"/tasks/{task['id']}/{verb}", body)
    assert reply.status == 404
    assert reply.text == http_agents.gateway.post(QA, f"/tasks/task_unknown/{verb}", body).text


def test_alert_about_a_strangers_task_is_not_taken(http_agents: HttpAgents) -> None:
    task = http_agents.begun()["task"]
    body = {"kind": "odd", "severity": "info", "message": WORD, "task_id": task["id"]}
    unknown = http_agents.gateway.post(QA, "/alerts", {**body, "task_id": "task_unknown"})
    assert http_agents.gateway.post(QA, "/alerts", body).text == unknown.text
    about, mine = (
        http_agents.gateway.post(by, "/alerts", each).json["id"]
        for by, each in ((ARCHITECT, body), (QA, {**body, "task_id": None}))
    )
    assert [each["id"] for each in every(http_agents, CODE, "/alerts")] == [about]
    assert [each["id"] for each in every(http_agents, QA, "/alerts", "limit=1&state=open")] == [mine]
    assert len(every(http_agents, ALICE, "/alerts")) == 2
    assert http_agents.gateway.get(QA, f"/alerts/{about}").text == http_agents.gateway.get(QA, "/alerts/alert_x").text
    assert ids(http_agents.gateway.get(QA, "/alerts", query=f"task_id={task['id']}")) == []


def test_profile_is_the_agents_own(http_agents: HttpAgents) -> None:
    http_agents.gateway.put(ALICE, "/agents/qa", {"system_prompt": WORD, "model": "scripted"})
    share(http_agents)
    for by in (QA, ALICE, CI):
        assert http_agents.gateway.get(by, "/agents/qa").json["system_prompt"] == WORD
    for by in (CODE, NARROW):
        seen = http_agents.gateway.get(by, "/agents/qa")
        assert (seen.status, seen.json["name"], "model" in seen.json, WORD in seen.text) == (200, "qa", False, False)
    assert WORD not in http_agents.gateway.put(NARROW, "/agents/qa", {"description": "tests"}).text


def test_guardrails_are_for_who_reads_all(http_agents: HttpAgents) -> None:
    http_agents.gateway.put(ALICE, "/workspace/settings", {"guardrails": {"forbidden_patterns": [f"{WORD}*"]}})
    share(http_agents)
    for by in (QA, NARROW):
        seen = http_agents.gateway.get(by, "/workspace/settings")
        assert ("guardrails" in seen.json, seen.json["agents_read"], WORD in seen.text) == (False, "workspace", False)
    assert WORD in http_agents.gateway.get(CI, "/workspace/settings").text


def test_only_a_human_opens_the_workspace(http_agents: HttpAgents) -> None:
    task = http_agents.begun()["task"]
    for by in (QA, CI, NARROW):
        assert http_agents.gateway.put(by, "/workspace/settings", {"agents_read": "workspace"}).code == "human_required"
    refused = http_agents.gateway.put(ALICE, "/workspace/settings", {"agents_read": "all"})
    assert (refused.status, refused.fields) == (422, ["agents_read"])
    share(http_agents)
    assert {got(http_agents, QA, path).status for path in readings(task)} == {200}
    assert ids(http_agents.gateway.get(QA, "/tasks")) == [task["id"]]
    assert got(http_agents, NARROW, readings(task)[0]).status == 404
    assert http_agents.gateway.get(agent("qa", "other"), f"/tasks/{task['id']}").status == 404
    share(http_agents, "own")
    assert got(http_agents, QA, readings(task)[0]).status == 404


# Conversations


def talked(http_agents: HttpAgents) -> Any:
    made = http_agents.gateway.post(ALICE, "/conversations", {"agent": "architect", "message": WORD}).json
    return made["conversation_id"], made["task"]


def test_conversation_is_heard_by_who_takes_part(http_agents: HttpAgents) -> None:
    conversation_id, _ = talked(http_agents)
    path = f"/conversations/{conversation_id}"
    for by in (ARCHITECT, ALICE, CI):
        assert WORD in http_agents.gateway.get(by, f"{path}/messages").text
        assert http_agents.gateway.get(by, path).json["message"] == WORD
    for by in (QA, NARROW):
        for end in ("", "/messages"):
            reply, never = (http_agents.gateway.get(by, f"{each}{end}") for each in (path, "/conversations/wf_unknown"))
            assert (reply.status, reply.text) == (404, never.text)


def test_stranger_says_nothing_in_a_conversation(http_agents: HttpAgents) -> None:
    conversation_id, _ = talked(http_agents)
    by = Principal(WORKSPACE, PrincipalKind.AGENT, "qa", frozenset({CONVERSE}))
    reply = http_agents.gateway.post(by, f"/conversations/{conversation_id}/messages", {"message": "x"})
    assert (reply.status, reply.code) == (404, "not_found")


def test_who_does_a_part_aside_hears_that_part(http_agents: HttpAgents, world: World) -> None:
    conversation_id, task = talked(http_agents)
    world.clock.advance(5)
    claim = http_agents.gateway.post(ARCHITECT, f"/tasks/{task['id']}/claim").json
    branch = {"target": {"agent": "qa", "reason": "count to three"}}
    assert http_agents.say(claim, "delegate", branches=[branch]).status == 200
    part = http_agents.take("qa")
    http_agents.say(part, "complete", output="three")
    path = f"/conversations/{conversation_id}"
    heard = http_agents.gateway.get(QA, f"{path}/messages")
    assert {each["task_id"] for each in heard.json["items"]} == {part["task"]["id"]}
    seen = http_agents.gateway.get(QA, path).json
    assert (seen["message"], [each["id"] for each in seen["tasks"]]) == ("", [part["task"]["id"]])
    assert WORD not in heard.text
    assert {each["task_id"] for each in http_agents.gateway.get(ARCHITECT, f"{path}/messages").json["items"]} > {
        part["task"]["id"]
    }


def test_workflow_that_is_no_conversation_is_heard_by_nobody_but_in_parts(http_agents: HttpAgents) -> None:
    task = chained(http_agents)
    path = f"/conversations/{task['workflow_id']}/messages"
    heard = http_agents.gateway.get(QA, path)
    assert {each["task_id"] for each in heard.json["items"]} <= {task["id"]}
    assert WORD not in heard.text + http_agents.gateway.get(QA, path.removesuffix("/messages")).text
    assert http_agents.gateway.get(CISO, path).status == 404
