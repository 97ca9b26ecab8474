"""What the tools do, in both eras: handing over, working, waiting; their words, and their repeats."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from baton.adapters.lexical_search import LexicalSearch, SearchLimits
from baton.services.tasks.sweep import sweep
from mcp_door.tools import claim_next as claim_tool
from mcp_door.tools.catalogue import TOOLS
from support.faults.threads import at_once
from support.worlds.http_agents import CRITERIA
from support.worlds.mcp_client import McpClient, ToolAnswer
from support.worlds.world import World, agent, human, service

ALICE, ARCHITECT, CODER, QA = human(), agent("architect"), agent("auto-code"), agent("qa")
UNDO_SECONDS = 60
REPORT = [{"criterion": each, "met": True, "evidence": "seen"} for each in CRITERIA]


def handed(client: McpClient, /, **arguments: Any) -> Any:
    given = {"reason": "It writes code", "summary": "Build the parser", "target": "auto-code", **arguments}
    return client.done(ARCHITECT, "handoff", **given)


def held(client: McpClient, /, **arguments: Any) -> dict[str, str]:
    """The ids of a claim on a task that was handed over."""
    handed(client, **arguments)
    claim = client.done(CODER, "claim_next")
    return {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}


def test_work_goes_from_one_agent_to_another_and_back(client: McpClient) -> None:
    made = handed(client, deliverable="code", criteria=CRITERIA, context={"branch": "main"}, priority="P0")
    claim = client.done(CODER, "claim_next", lease_seconds=600)
    assert (claim["task_id"], claim["body"]["context"]["state"]) == (made["task_id"], {"branch": "main"})
    ids = {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}
    assert client.done(CODER, "heartbeat", **ids)["fence"] == claim["fence"]
    assert client.done(CODER, "checkpoint", **ids, step_name="half", state={"done": 1})["checkpoint_id"]
    assert client.done(CODER, "complete", **ids, output={"files": 3}, criteria=REPORT)["state"] == "done"
    waited = client.done(ARCHITECT, "await_task", task_id=made["task_id"])
    assert (waited["timed_out"], waited["output"]) == (False, {"files": 3})
    seen = client.done(ARCHITECT, "get_task", task_id=made["task_id"], chain=True)
    assert seen["state"] == "done"
    assert "Build the parser" in seen["chain"]
    listed = client.done(ARCHITECT, "list_tasks", agent="auto-code")
    assert [each["task_id"] for each in listed["tasks"]] == [made["task_id"]]


def test_a_claim_that_finds_nothing_says_when_the_next_task_is_due(client: McpClient, world: World) -> None:
    empty = client.done(CODER, "claim_next")
    assert (empty["claimed"], "due_at" in empty) == (False, False)
    held(client)
    until = client.call(CODER, "claim_next")
    assert (until.data["claimed"], f"The next is due at {until.data['due_at']}." in until.text) == (False, True)
    world.clock.advance((datetime.fromisoformat(until.data["due_at"]) - world.clock.now()).total_seconds())
    assert client.done(CODER, "claim_next")["claimed"]


def test_every_answer_is_short_and_ends_with_the_next_step(client: McpClient) -> None:
    made = client.call(ARCHITECT, "handoff", reason="It writes code", summary="Build it", target="auto-code")
    claim = client.call(CODER, "claim_next")
    ids = {"task_id": claim.data["task_id"], "claim_id": claim.data["claim_id"]}
    told = [
        made,
        claim,
        client.call(CODER, "heartbeat", **ids),
        client.call(CODER, "checkpoint", **ids, step_name="half", state={}),
        client.call(CODER, "complete", **ids, output="done"),
        client.call(CODER, "claim_next"),
        client.call(ARCHITECT, "get_task", task_id=ids["task_id"]),
        client.call(ARCHITECT, "await_task", task_id=ids["task_id"]),
        client.call(ARCHITECT, "list_tasks", agent="auto-code"),
    ]
    for each in told:
        lines = each.text.splitlines()
        assert not each.is_error, each.text
        assert 2 <= len(lines) <= 15, each.text
        assert lines[-1] == f"next: {each.data['next']}", each.text


def test_a_failure_that_may_be_retried_gives_the_task_back(client: McpClient, world: World) -> None:
    ids = held(client)
    told = client.done(CODER, "fail", **ids, type="error", description="The disk is full", retryable=True)
    assert told["state"] == "delegated"
    world.clock.advance(3_600)
    assert client.done(CODER, "claim_next")["task_id"] == ids["task_id"]


def test_what_to_do_leads_a_claims_answer_and_nothing_is_sent_twice(client: McpClient) -> None:
    client.done(ARCHITECT, "remember", entry_type="decision", scope="src", summary="We parse by hand")
    more = {"deliverable": "code", "criteria": CRITERIA, "context": {"branch": "main"}, "scope": "src"}
    handed(client, **more)
    told = client.call(CODER, "claim_next")
    what = told.text.index("what to do, written by architect")
    assert what < told.text.index("Build the parser\nreason: It writes code") < told.text.index(CRITERIA[0])
    assert told.text.index(CRITERIA[-1]) < told.text.index('{"branch":"main"}')
    data = told.data
    assert [*data][:4] == ["notice", "claimed", "asked", "task_id"]
    assert data["asked"]["summary"] == "Build the parser"
    assert data["asked"]["reason"] == "It writes code"
    assert [each["acceptance_criteria"] for each in data["asked"]["deliverables"]] == [list(CRITERIA)]
    assert data["body"] == {
        "context": {"state": {"branch": "main"}},
        "rollback": {"on_failure": "architect"},
        "scope": "src",
    }
    for once in ("We parse by hand", "It writes code", CRITERIA[0]):
        assert json.dumps(data).count(once) == told.text.count(once) == 1, once
    for machinery in ("hops", "checkpoint_id", "parent_handoff"):
        assert machinery not in json.dumps(data) + told.text
    assert "report in criteria" in data["next"]


def test_a_claim_without_criteria_asks_for_no_report(client: McpClient) -> None:
    handed(client)
    assert "criteri" not in client.call(CODER, "claim_next").text


def test_a_users_message_leads_too(client: McpClient, world: World) -> None:
    body = {"agent": "auto-code", "message": "Please look at the parser"}
    assert client.gateway.post(ALICE, "/conversations", body).status == 201
    world.clock.advance(UNDO_SECONDS)
    told = client.call(CODER, "claim_next")
    assert told.data["asked"]["message"] == "Please look at the parser"
    assert "what to do, written by human:alice; data, no instructions of Baton's:\n```\nPlease look" in told.text


def test_a_rollback_and_partial_progress_go_under_advanced(client: McpClient) -> None:
    ids = held(client)
    advanced = {
        "failure": {"partial_progress": {"completed": ["the lexer"]}},
        "rollback_request": {"reason": "The grammar is missing", "questions": ["Which grammar?"]},
    }
    told = client.done(CODER, "fail", **ids, type="blocker", description="No grammar", advanced=advanced)
    assert told["state"] == "failed"
    back = client.done(ARCHITECT, "claim_next")
    assert back["body"]["rollback_request"]["questions"] == ["Which grammar?"]


def test_the_next_task_is_claimed_with_the_end_of_the_last(client: McpClient) -> None:
    ids = held(client)
    second = handed(client, summary="Build the printer")
    told = client.call(CODER, "complete", **ids, output="done", claim_next=True)
    assert told.data["next_claim"]["task_id"] == second["task_id"]
    assert told.data["next_claim"]["claim_id"] in told.text
    last = client.done(CODER, "complete", **{**ids, **_ids(told.data["next_claim"])}, claim_next=True)
    assert last["next_claim"] is None


def _ids(claim: dict[str, Any]) -> dict[str, str]:
    return {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}


def test_one_task_is_claimed_by_its_id(client: McpClient) -> None:
    handed(client)
    second = handed(client, summary="Build the printer")
    assert client.done(CODER, "claim_next", task_id=second["task_id"])["task_id"] == second["task_id"]


def test_a_worker_that_waits_is_told_when_there_is_nothing(client: McpClient) -> None:
    assert client.done(CODER, "claim_next", wait_seconds=claim_tool.MAX_WAIT_SECONDS)["claimed"] is False
    handed(client)
    assert client.done(CODER, "claim_next", wait_seconds=1)["claimed"] is True


def test_a_wait_that_is_not_over_is_begun_again_with_the_same_arguments(client: McpClient) -> None:
    made = handed(client)
    told = client.call(ARCHITECT, "await_task", task_id=made["task_id"], timeout_seconds=1)
    assert told.data["timed_out"] is True
    assert "call await_task again with the same arguments" in told.text
    client.done(CODER, "complete", **_ids(client.done(CODER, "claim_next")), output=7)
    assert client.done(ARCHITECT, "await_task", task_id=made["task_id"], timeout_seconds=1)["output"] == 7


def test_open_work_is_taken_by_an_agent_that_is_able(client: McpClient, world: World) -> None:
    given = {"reason": "Anybody who codes", "deliverable": "code", "criteria": ["It runs"]}
    made = client.done(ARCHITECT, "handoff", **given)
    assert made["state"] == "needs"
    client.gateway.post(ALICE, f"/tasks/{made['task_id']}/approve", {})
    world.clock.advance(UNDO_SECONDS)
    claim = client.done(CODER, "claim_next")
    assert claim["task_id"] == made["task_id"]


def test_a_list_goes_on_with_its_cursor(client: McpClient, world: World) -> None:
    made = []
    for number in range(3):
        made.append(handed(client, summary=f"Part {number}")["task_id"])
        world.clock.advance(1)
    first = client.done(ARCHITECT, "list_tasks", agent="auto-code", limit=2)
    second = client.done(ARCHITECT, "list_tasks", agent="auto-code", limit=2, cursor=first["next_cursor"])
    assert [each["task_id"] for each in first["tasks"] + second["tasks"]] == made[::-1]
    assert client.done(ARCHITECT, "list_tasks", agent="auto-code", state="done")["tasks"] == []
    said = {
        "0 tasks of qa.": {"agent": "qa"},
        "0 tasks of 1999-01-31.": {"day": "1999-01-31"},
        "3 tasks of today (UTC); titles": {},
        "0 tasks.": {"state": "needs"},
    }
    for beginning, given in said.items():
        assert client.call(ALICE, "list_tasks", **given).text.startswith(beginning)


def test_what_one_handed_off_is_listed_with_its_states(client: McpClient) -> None:
    made = handed(client)
    other = client.done(QA, "handoff", reason="It codes", target="auto-code")
    assert client.done(ARCHITECT, "handoff", reason="It tests", target="qa")["task_id"]
    told = client.call(ARCHITECT, "list_tasks", sent=True, agent="auto-code")
    assert [each["task_id"] for each in told.data["tasks"]] == [made["task_id"]]
    assert told.text.startswith("1 handoffs of yours; titles")
    assert [each["task_id"] for each in client.done(QA, "list_tasks", sent=True)["tasks"]] == [other["task_id"]]
    assert client.done(ARCHITECT, "list_tasks", sent=True, state="done")["tasks"] == []
    assert "day: isn't for sent" in client.call(ARCHITECT, "list_tasks", sent=True, day="2026-01-31").text


def test_a_human_is_listed_what_they_handed_off_themselves(client: McpClient) -> None:
    body = {"source": {"agent": "human:alice"}, "target": {"agent": "qa", "reason": "It tests"}}
    made = client.gateway.post(ALICE, "/handoffs", body)
    listed = client.done(ALICE, "list_tasks", sent=True)["tasks"]
    assert [each["task_id"] for each in listed] == ([made.json["task"]["id"]] if made.status == 201 else [])


def test_a_list_promises_nothing_that_its_reader_will_not_get(client: McpClient) -> None:
    """The tasks of another agent that one has no part in fill pages that are shown empty."""
    for number in range(5):
        client.done(ARCHITECT, "handoff", reason="It codes", target="auto-code", summary=f"Part {number}")
    told = client.call(QA, "list_tasks", agent="auto-code", limit=2)
    assert (told.data["tasks"], told.data["next_cursor"]) == ([], None)
    assert "cursor" not in told.text
    own = client.done(QA, "handoff", reason="It codes", target="auto-code", summary="Mine")
    for number in range(4):
        client.done(ARCHITECT, "handoff", reason="It codes", target="auto-code", summary=f"More {number}")
    found = client.done(QA, "list_tasks", agent="auto-code", limit=2)
    assert [each["task_id"] for each in found["tasks"]] == [own["task_id"]]


def test_a_reader_of_very_many_unreadable_tasks_is_told_that_there_may_be_more(client: McpClient) -> None:
    for number in range(26):
        client.done(ARCHITECT, "handoff", reason="It codes", target="auto-code", summary=f"Part {number}")
    told = client.call(QA, "list_tasks", agent="auto-code", limit=1)
    assert told.data["tasks"] == []
    assert (
        f"nothing so far that you may read; there may be more: call again with cursor {told.data['next_cursor']}"
        in (told.text)
    )


@pytest.mark.parametrize("tool", ["await_task", "get_task", "handoff"])
def test_who_waits_for_a_human_is_told_who_decides_and_where(client: McpClient, tool: str) -> None:
    given = {"reason": "Anybody who codes", "deliverable": "code", "criteria": ["It runs"]}
    told = client.call(ARCHITECT, "handoff", **given)
    task_id = told.data["task_id"]
    if tool != "handoff":
        told = client.call(ARCHITECT, tool, task_id=task_id, **({"timeout_seconds": 1} if tool == "await_task" else {}))
    page = f"{client.gateway.deps.public_url}/console/#/tasks/{task_id}"
    assert f"a human has to decide on it, at {page} or with the command baton approvals: tell your user" in told.text
    assert "again with the same arguments" not in told.text
    assert told.data["state"] == "needs"


def test_a_marker_gives_the_block_to_paste(client: McpClient) -> None:
    given = {
        "target_agent": "qa",
        "escalation_reason": "Unsigned commits",
        "source_digest_url": "https://notes.example/1",
        "task_priority": "P0",
    }
    told = client.call(ARCHITECT, "create_handoff_marker", **given)
    assert told.data["task_created"] is True
    assert "Escalated To: qa" in told.text
    again = client.call(ARCHITECT, "create_handoff_marker", **given)
    assert again.data["duplicate_prevented"] is True


def test_a_marker_with_a_scope_takes_along_what_is_known_of_it(client: McpClient) -> None:
    client.done(CODER, "remember", entry_type="warning", scope="src/auth", summary="Keys rotate on Friday")
    given = {"escalation_reason": "It leaks", "source_digest_url": "https://notes.example/1", "task_priority": "P0"}
    made = client.done(ARCHITECT, "create_handoff_marker", **given, target_agent="qa", advanced={"scope": "src"})
    handoff = client.gateway.get(ALICE, f"/handoffs/{made['handoff_id']}").json
    assert handoff["snapshot"]["summaries"] == ["Warning: Keys rotate on Friday"]


def test_what_is_remembered_is_there_for_all_and_a_decision_replaces_another(client: McpClient) -> None:
    given = {"entry_type": "decision", "scope": "src/parser", "rationale": "It is small", "tags": ["parser"]}
    first = client.done(ARCHITECT, "remember", **given, summary="We parse by hand", request_id="d-1")
    assert client.done(ARCHITECT, "remember", **given, summary="We parse by hand", request_id="d-1") == first
    told = client.call(CODER, "remember", **given, summary="We take a generator", supersedes=first["entry_id"])
    assert f"It replaces {first['entry_id']}." in told.text
    seen = client.gateway.get(QA, f"/blackboard/{first['entry_id']}").json
    assert (seen["status"], seen["superseded_by"]) == ("superseded", told.data["entry_id"])
    late = client.call(QA, "remember", **given, summary="We take another", supersedes=first["entry_id"])
    assert late.code == "entry_closed"


def test_a_handoff_takes_along_what_its_scope_knows_and_the_claimer_sees_what_has_changed(client: McpClient) -> None:
    decided = {"entry_type": "decision", "scope": "src/parser"}
    first = client.done(ARCHITECT, "remember", **decided, summary="We parse by hand")
    handed(client, scope="src/parser")
    client.done(QA, "remember", **decided, summary="We take a generator", supersedes=first["entry_id"])
    client.done(QA, "remember", entry_type="warning", scope="src", summary="The build is slow", detail="An hour")
    claim = client.call(CODER, "claim_next", auto_memories=2)
    assert claim.data["memory"]["snapshot"]["summaries"] == ["Decision: We parse by hand"]
    for told in (
        "known of src/parser at the handoff, written by members of the workspace",
        'by agent:architect: "Decision: We parse by hand"',
        '"We parse by hand" was superseded by agent:qa; instead: "We take a generator"',
        'by agent:qa in src: "The build is slow" · "An hour"',
        "may help, written by members of the workspace",
    ):
        assert told in claim.text


def test_what_was_remembered_is_recalled_with_what_it_replaced(client: McpClient) -> None:
    decided = {"entry_type": "decision", "scope": "src/parser", "relates_to": ["src/parser/lexer.py"]}
    first = client.done(ARCHITECT, "remember", **decided, summary="The lexer is written by hand")
    new = {**decided, "summary": "The lexer is generated", "rationale": "The grammar grows"}
    second = client.done(QA, "remember", **new, supersedes=first["entry_id"])
    for asked in ({"query": "how is the lexer made?"}, {"why": "src/parser/lexer.py"}):
        told = client.call(CODER, "recall", **asked)
        entry = told.data["entries"][0]
        assert (entry["id"], [each["id"] for each in entry["replaced"]]) == (second["entry_id"], [first["entry_id"]])
        for said in ('"The lexer is generated"', 'because "The grammar grows"', "instead of", "by agent:qa"):
            assert said in told.text
    assert client.done(CODER, "recall", query="lexer", scope="docs")["entries"] == []
    assert client.done(CODER, "recall", query="lexer", entry_type="warning")["entries"] == []


def test_recall_says_so_if_older_entries_were_left_out(client: McpClient) -> None:
    gateway = client.gateway
    few = LexicalSearch(gateway.deps.store, gateway.deps.clock, SearchLimits(per_workspace=2))
    gateway.deps = replace(gateway.deps, search=few)
    for number in range(3):
        assert "were searched" not in client.call(CODER, "recall", query="lexer").text
        client.done(QA, "remember", entry_type="finding", summary=f"The lexer has {number} rules")
    for asked in ({"query": "lexer"}, {"query": "zanzibar"}, {"why": "src"}):
        assert "Only the newest 2 entries were searched." in client.call(CODER, "recall", **asked).text


@pytest.mark.parametrize("given", [{}, {"query": "x", "why": "y"}, {"why": "src", "scope": "src"}])
def test_one_question_is_asked_at_a_time(client: McpClient, given: dict[str, str]) -> None:
    assert client.call(CODER, "recall", **given).code == "invalid_input"


def test_twinings_handoff_has_its_own_answer_and_its_own_errors(client: McpClient) -> None:
    client.done(ARCHITECT, "remember", entry_type="decision", scope="src", summary="We parse by hand")
    results = [{"description": "The lexer", "status": "completed", "artifacts": ["lexer.py"]}]
    given = {"source_agent": "architect", "target_agent": "auto-code", "scope": "src/parser", "summary": "Lexed"}
    made = client.done(ARCHITECT, "twining_handoff", **given, results=results)
    assert made == {
        "id": made["id"],
        "created_at": made["created_at"],
        "source_agent": "architect",
        "target_agent": "auto-code",
        "scope": "src/parser",
        "summary": "Lexed",
        "result_count": 1,
        "context_snapshot_size": {"decisions": 1, "warnings": 0, "findings": 0},
    }
    refused = client.call(ARCHITECT, "twining_handoff", **{**given, "target_agent": "nobody"}, results=results)
    assert json.loads(refused.text.splitlines()[0]).keys() == {"error", "code"}
    assert refused.code == "unknown_agent"


def test_a_handoff_may_name_its_scope_and_take_nothing_along(client: McpClient) -> None:
    client.done(ARCHITECT, "remember", entry_type="decision", scope="src", summary="We parse by hand")
    handed(client, scope="src", advanced={"auto_snapshot": False})
    assert client.done(CODER, "claim_next")["memory"] is None


def test_who_is_no_agent_is_asked_for_the_one_that_claims(client: McpClient) -> None:
    for by in (ALICE, service()):
        told = client.call(by, "claim_next")
        assert (told.code, "agent: is required" in told.text) == ("invalid_input", True)


def test_a_human_and_a_service_act_for_an_agent_that_they_name(client: McpClient, world: World) -> None:
    for by in (ALICE, service()):
        made = client.done(by, "handoff", agent="architect", target="auto-code", reason="It writes code")
        world.clock.advance(UNDO_SECONDS)
        claim = client.done(by, "claim_next", agent="auto-code")
        assert claim["task_id"] == made["task_id"]
        assert claim["task"]["source_agent"] == "architect"
        assert client.done(by, "complete", **_ids(claim))["state"] == "done"


def test_null_counts_as_left_out(client: McpClient) -> None:
    given = {"reason": "It writes code", "target": "auto-code", "criteria": None, "advanced": None, "claim_id": None}
    assert client.done(ARCHITECT, "handoff", **given)["state"]


def test_numbers_stay_as_they_were_written(client: McpClient) -> None:
    ids = held(client)
    message = client.request("tools/call", name="complete", arguments={**ids, "output": {"n": "EXACT"}})
    text = json.dumps(message).replace('"EXACT"', "12345678901234567890.10")
    reply = client.post(CODER, text, **client.headers("tools/call", "complete"))
    assert reply.json["result"]["isError"] is False, reply.text
    shown = client.gateway.get(CODER, f"/tasks/{ids['task_id']}")
    assert '"n":12345678901234567890.10' in shown.text


# ---- what few need, and what is taken back ---------------------------------------------------------------------------


def test_who_posted_something_wrong_takes_it_back(client: McpClient) -> None:
    wrong = client.done(CODER, "remember", entry_type="finding", summary="The lexer is generated")["entry_id"]
    told = client.call(CODER, "withdraw_entry", entry_id=wrong, reason="It isn't")
    assert (told.data["entry_id"], told.is_error) == (wrong, False)
    assert client.done(QA, "recall", query="lexer")["entries"] == []
    assert client.done(CODER, "withdraw_entry", entry_id=wrong)["entry_id"] == wrong
    other = client.done(QA, "remember", entry_type="finding", summary="The parser is slow")["entry_id"]
    assert client.call(CODER, "withdraw_entry", entry_id=other).is_error
    assert client.done(CODER, "recall", query="parser")["entries"]


def test_who_handed_work_off_cancels_it_with_what_follows(client: McpClient) -> None:
    made = handed(client)
    assert client.call(QA, "cancel_task", task_id=made["task_id"], reason="No").is_error
    told = client.done(ARCHITECT, "cancel_task", task_id=made["task_id"], reason="No longer needed")
    assert told["state"] == "cancelled"
    assert client.done(CODER, "claim_next")["claimed"] is False


def test_parts_of_a_task_are_done_by_others_and_it_comes_back_with_their_results(
    client: McpClient, world: World
) -> None:
    ids = held(client)
    parts = [{"target": "qa", "reason": "It tests", "summary": "Test it", "context": {"suite": "unit"}}]
    first, again = (client.done(CODER, "delegate", **ids, parts=parts, join="any") for _ in range(2))
    assert first == again
    assert (first["state"], [*first["parts"]]) == ("waiting", ["call_1"])
    (part,) = first["parts"].values()
    client.gateway.post(ALICE, f"/tasks/{part}/approve", {})
    world.clock.advance(UNDO_SECONDS)
    claim = client.done(QA, "claim_next", task_id=part)
    assert (claim["asked"]["summary"], claim["body"]["context"]["state"]) == ("Test it", {"suite": "unit"})
    client.done(QA, "complete", **_ids(claim), output="green")
    assert sweep(client.gateway.deps).failed == 0
    back = client.done(CODER, "claim_next")
    assert back["task_id"] == ids["task_id"]
    assert [(each["call_id"], each["output"]) for each in back["results"]] == [("call_1", "green")]


def test_who_delegates_to_an_unknown_agent_is_told_which_ones_there_are(client: McpClient) -> None:
    ids = held(client)
    told = client.call(CODER, "delegate", **ids, parts=[{"target": "nobody", "reason": "It tests"}])
    assert (told.code, '- "qa"' in told.text) == ("unknown_agent", True)
    assert client.done(CODER, "heartbeat", **ids)["expires_at"]


def test_a_task_waits_for_an_answer_from_outside(client: McpClient, world: World) -> None:
    ids = held(client)
    first, again = (client.done(CODER, "wait_for_callback", **ids, interaction_id="signature") for _ in range(2))
    assert first == again
    url = first["callback"]["url"]
    path = url.removeprefix(client.gateway.deps.public_url)
    assert client.gateway.send(None, "POST", path, {"signed": True}).status in {200, 202, 204}
    world.clock.advance(UNDO_SECONDS)
    back = client.done(CODER, "claim_next")
    assert (back["task_id"], back["callback"]["signed"]) == (ids["task_id"], True)


# ---- questions to people ---------------------------------------------------------------------------------------------

PAY = {"text": "The invoice is due", "tool": "pay", "arguments": {"amount": 100, "to": "Ada"}}


def answered(client: McpClient, question: dict[str, Any], **answer: Any) -> None:
    at = f"/tasks/{question['task_id']}/questions/{question['question_id']}"
    seen = {"digest": client.gateway.send(ALICE, "GET", at).json["digest"]} if answer["outcome"] == "approved" else {}
    assert client.gateway.post(ALICE, f"{at}/answer", {**seen, **answer}).status == 200


def test_an_action_is_asked_for_once_approved_by_a_human_and_begun_once(client: McpClient) -> None:
    ids = held(client)
    first, again = (client.done(CODER, "ask_person", **ids, **PAY) for _ in range(2))
    assert (first["outcome"], first["question_id"]) == ("open", again["question_id"])
    answered(client, {**ids, **first}, outcome="approved")
    told = client.done(CODER, "ask_person", **ids, question_id=first["question_id"])
    assert (told["outcome"], told["tool"], told["arguments"]) == ("approved", "pay", PAY["arguments"])
    asked = {**ids, "question_id": first["question_id"], "use": told["digest"]}
    begun = client.done(CODER, "ask_person", **asked)
    assert begun["used_at"]
    assert "do exactly this now, once" in begun["next"]
    is_told_of_the_earlier_use(client.call(CODER, "ask_person", **asked), begun["used_at"])
    client.done(CODER, "checkpoint", **ids, step_name="paid", state={})
    client.done(CODER, "release", **ids)
    later = client.done(CODER, "claim_next")
    anew = {**asked, "claim_id": later["claim_id"]}
    is_told_of_the_earlier_use(client.call(CODER, "ask_person", **anew), begun["used_at"])
    seen = client.call(CODER, "ask_person", **{**anew, "use": None})
    assert f"Used at {begun['used_at']} by auto-code." in seen.text
    assert (seen.data["used_at"], "check its effect" in seen.data["next"]) == (begun["used_at"], True)


def is_told_of_the_earlier_use(told: ToolAnswer, used_at: str) -> None:
    assert told.code == "receipt_refused"
    assert f"it was used before, at {used_at} by auto-code: the action may have been executed already" in told.text
    assert "Begun" not in told.text
    for step in ("check its effect", "report the outcome", "asks people again"):
        assert step in told.text


def test_of_two_sessions_that_begin_an_action_at_once_only_one_is_told_to_do_it(client: McpClient) -> None:
    ids = held(client)
    first = client.done(CODER, "ask_person", **ids, **PAY)
    answered(client, {**ids, **first}, outcome="approved")
    digest = client.done(CODER, "ask_person", **ids, question_id=first["question_id"])["digest"]
    asked = {**ids, "question_id": first["question_id"], "use": digest}
    told = at_once(2, lambda: client.call(CODER, "ask_person", **asked).is_error)
    assert sorted(map(str, told)) == ["False", "True"]


def test_other_arguments_that_a_human_approved_are_told_as_theirs(client: McpClient) -> None:
    ids = held(client)
    asked = client.done(CODER, "ask_person", **ids, **PAY)
    answered(client, {**ids, **asked}, outcome="approved", arguments={"amount": 50, "to": "Ada"})
    told = client.call(CODER, "ask_person", **ids, question_id=asked["question_id"])
    assert told.data["arguments"] == {"amount": 50, "to": "Ada"}
    assert "aren't the arguments that you asked for" in told.text
    assert "arguments, written by human:alice" in told.text


@pytest.mark.parametrize(
    ("answer", "step"),
    [
        ({"outcome": "refused", "reason": "Too much"}, "don't do it"),
        ({"outcome": "answered", "answer": "Blue"}, "go on"),
    ],
)
def test_a_wait_ends_with_what_people_say(client: McpClient, world: World, answer: dict[str, Any], step: str) -> None:
    ids = held(client)
    asked = client.done(CODER, "ask_person", **ids, text="Which colour?", options=None)
    world.clock.meanwhile = lambda: answered(client, {**ids, **asked}, **answer)
    told = client.call(CODER, "ask_person", **ids, question_id=asked["question_id"], wait_seconds=20)
    assert told.data["outcome"] == answer["outcome"]
    assert step in told.data["next"]
    assert (answer.get("answer") or answer["reason"]) in told.text


def test_a_wait_in_vain_ends_and_says_how_to_go_on(client: McpClient) -> None:
    ids = held(client)
    told = client.done(CODER, "ask_person", **ids, text="Which colour?", wait_seconds=5)
    assert (told["outcome"], "looks again" in told["next"]) == ("open", True)


def test_a_claim_that_is_given_up_comes_back_with_the_answer(client: McpClient, world: World) -> None:
    ids = held(client)
    asked = [client.done(CODER, "ask_person", **ids, **PAY, give_up_claim=True) for _ in range(2)]
    assert asked[0] == asked[1]
    assert asked[0]["claim_is_over"]
    assert client.call(CODER, "heartbeat", **ids).code == "stale_claim"
    answered(client, {**ids, **asked[0]}, outcome="approved")
    back = client.done(CODER, "claim_next")
    assert (back["task_id"], back["answers"][0]["outcome"]) == (ids["task_id"], "approved")
    assert "as use, before you do what was approved" in back["next"]
    use = {"question_id": back["answers"][0]["question_id"], "use": back["answers"][0]["digest"]}
    again = {"task_id": ids["task_id"], "claim_id": back["claim_id"]}
    assert client.done(CODER, "ask_person", **again, **use)["arguments"] == PAY["arguments"]


@pytest.mark.parametrize("more", [{}, {"text": "a", "question_id": "qst_1"}, {"text": "a", "use": "0" * 64}])
def test_a_question_is_asked_or_looked_at(client: McpClient, more: dict[str, Any]) -> None:
    assert client.call(CODER, "ask_person", **held(client), **more).code == "invalid_input"


# ---- repeats ---------------------------------------------------------------------------------------------------------


def test_the_last_word_that_is_sent_again_has_one_effect_and_one_answer(client: McpClient) -> None:
    ids = held(client)
    ended = [client.done(CODER, "complete", **ids, output={"n": 1}) for _ in range(2)]
    assert ended[0] == ended[1]
    assert client.call(CODER, "complete", **ids, output={"n": 2}).code == "stale_claim"


def test_a_worker_that_goes_back_to_an_earlier_state_has_saved_it(client: McpClient, world: World) -> None:
    ids = held(client)
    saved = [client.done(CODER, "checkpoint", **ids, step_name="poll", state={"n": n}) for n in (1, 2, 1)]
    assert len({each["checkpoint_id"] for each in saved}) == 3
    client.done(CODER, "fail", **ids, type="error", description="The disk is full", retryable=True)
    world.clock.advance(3_600)
    again = client.done(CODER, "claim_next")
    assert again["checkpoint"]["state"] == {"n": 1}
    assert again["checkpoint"]["checkpoint_id"] == saved[2]["checkpoint_id"]


def under_key(client: McpClient, key: str, tool: str, **arguments: Any) -> ToolAnswer:
    """Calls a tool by a request that has an ``Idempotency-Key``."""
    request = client.request("tools/call", name=tool, arguments=arguments)
    headers = {**client.headers("tools/call", tool), "idempotency_key": key}
    return ToolAnswer(client.post(CODER, request, query="tools=all", **headers).json["result"])


def test_a_request_that_is_sent_again_under_its_key_saves_one_checkpoint(client: McpClient) -> None:
    ids = held(client)
    saved = [
        under_key(client, key, "checkpoint", **ids, step_name="poll", state={}).data["checkpoint_id"]
        for key in ("a", "a", "b")
    ]
    assert saved[0] == saved[1] != saved[2]


def test_a_request_that_is_sent_again_under_its_key_begins_an_action_once(client: McpClient) -> None:
    ids = held(client)
    first = client.done(CODER, "ask_person", **ids, **PAY)
    answered(client, {**ids, **first}, outcome="approved")
    digest = client.done(CODER, "ask_person", **ids, question_id=first["question_id"])["digest"]
    asked = {**ids, "question_id": first["question_id"], "use": digest}
    begun = [under_key(client, "a", "ask_person", **asked) for _ in range(2)]
    assert begun[0].data == begun[1].data
    assert not begun[0].is_error
    assert under_key(client, "b", "ask_person", **asked).code == "receipt_refused"


def test_a_checkpoint_extends_the_claim(client: McpClient, world: World) -> None:
    ids = held(client)
    world.clock.advance(200)
    client.done(CODER, "checkpoint", **ids, step_name="half", state={})
    world.clock.advance(200)
    assert client.done(CODER, "complete", **ids, output={})["state"] == "done"
    assert world.task(ids["task_id"]).recoveries == 0


def test_a_request_id_makes_one_handoff_of_two_calls(client: McpClient) -> None:
    first, second = (handed(client, request_id="job-7") for _ in range(2))
    assert first == second
    assert handed(client)["task_id"] != handed(client)["task_id"]
    other = client.call(ARCHITECT, "handoff", reason="Another", target="auto-code", request_id="job-7")
    assert other.code == "idempotency_key_reused"
    assert "request_id" in other.text
    assert "Idempotency-Key" not in other.text


def test_a_request_id_makes_one_claim_of_two_calls(client: McpClient) -> None:
    handed(client)
    handed(client, summary="Build the printer")
    first, second = (client.done(CODER, "claim_next", request_id="turn-1") for _ in range(2))
    assert first["claim_id"] == second["claim_id"]
    assert client.done(CODER, "claim_next", request_id="turn-2")["claim_id"] != first["claim_id"]


# ---- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tool", [each for each in TOOLS if "claim_id" in each.shown["inputSchema"].get("required", [])]
)
def test_a_claim_that_is_over_stops_the_worker(client: McpClient, tool: Any) -> None:
    ids = held(client)
    client.done(CODER, "complete", **ids)
    given: dict[str, Any] = {"step_name": "x", "state": {}, "type": "error", "description": "x", "output": "other"}
    given |= {"parts": [{"target": "qa", "reason": "x"}], "interaction_id": "x", "text": "x"}
    needed = {name: given[name] for name in given if name in tool.shown["inputSchema"]["properties"]}
    told = client.call(CODER, tool.name, **ids, **needed)
    assert told.code in {"stale_claim", "task_ended"}
    assert told.text.splitlines()[-1].startswith("next: ")


def test_a_criterion_without_a_report_is_named(client: McpClient) -> None:
    ids = held(client, deliverable="code", criteria=CRITERIA)
    told = client.call(CODER, "complete", **ids, output="done")
    assert told.code == "criteria_unreported"
    assert all(each in told.text for each in CRITERIA)
    assert "criteria" in told.text.splitlines()[-1]


def test_wrong_arguments_are_named_as_the_tool_names_them(client: McpClient) -> None:
    told = client.call(ARCHITECT, "handoff", reason="", target="nobody", priority="P7", colour="red")
    assert told.code == "invalid_input"
    for name in ("priority", "colour"):
        assert f"- {name}: " in told.text
    unknown = client.call(ARCHITECT, "handoff", reason="It codes", target="nobody")
    assert unknown.code == "unknown_agent"
    assert "target.agent" not in unknown.text


@pytest.mark.parametrize("tool", ["handoff", "twining_handoff"])
def test_who_names_an_unknown_agent_is_told_which_ones_there_are(client: McpClient, tool: str) -> None:
    client.gateway.put(ALICE, "/agents/qa", {"active": False})
    given = {"handoff": {"target": "nobody", "reason": "It codes"}}.get(
        tool, {"source_agent": "architect", "target_agent": "nobody", "summary": "Lexed", "results": []}
    )
    told = client.call(ARCHITECT, tool, **given)
    assert told.code == "unknown_agent"
    assert '- "auto-code"' in told.text
    assert '"qa"' not in told.text


def test_a_refused_call_changes_nothing(client: McpClient, world: World) -> None:
    before = world.stored()
    assert client.call(ARCHITECT, "handoff", reason="It codes", target="nobody").is_error
    assert client.call(CODER, "complete", task_id="task_1", claim_id="c").is_error
    assert world.stored() == before


def test_an_agent_that_nobody_registered_gets_no_work(client: McpClient) -> None:
    told = client.call(agent("stranger"), "claim_next")
    assert told.code == "not_found"
    assert "next: " in told.text


def test_an_agent_that_is_switched_off_is_told_so_and_may_still_fail(client: McpClient) -> None:
    ids = held(client)
    assert client.gateway.put(ALICE, "/agents/auto-code", {"active": False}).status == 200
    assert client.call(CODER, "heartbeat", **ids).code == "inactive_agent"
    assert client.done(CODER, "fail", **ids, type="error", description="Switched off")["state"] == "failed"


def test_where_too_many_wait_a_tool_answers_at_once(client: McpClient, world: World) -> None:
    now, ids = world.clock.now(), held(client)
    for by in (CODER, ARCHITECT):
        for number in range(5):
            world.store.uses.begin_poll(by, 5, f"poll_{number}", now, now + timedelta(seconds=25))
    world.clock.slept.clear()
    assert client.done(CODER, "claim_next", wait_seconds=20)["claimed"] is False
    waited = client.done(ARCHITECT, "await_task", task_id=ids["task_id"])
    assert (waited["timed_out"], waited["state"]) == (True, "claimed")
    made = handed(client)
    assert client.done(CODER, "claim_next", wait_seconds=20)["task_id"] == made["task_id"]
    assert world.clock.slept == []
