"""Everything that was said can be read to its end, page by page, in the order in which it makes sense."""

from __future__ import annotations

from typing import Any

import pytest

from baton.adapters.dynamodb.keys import kind_of
from baton.domain.agents.tool import ToolMode
from baton.domain.errors import KeyTaken
from baton.domain.handoffs.workflow import ClaimLateResult
from baton.domain.runs.transcript import EntryKind, TaskEntry, TranscriptEntry
from baton.domain.task_state import State
from baton.domain.tasks.task_items import Note
from baton.ports.writes import Insert
from baton.services.conversations.converse import read_messages
from baton.services.tasks.sweep import sweep
from support.fakes.store import InMemoryStore
from support.faults.soak import scaled
from support.gateway import Gateway
from support.values.changes import new
from support.values.task_items import a_late_result
from support.worlds.agent_runs import AgentRuns, calls, says
from support.worlds.world import WORKSPACE, World, agent, human

ALICE, AUDITOR = human(), agent("auditor")
LONGEST = 2_000
ANY = scaled(600, 4)


def a_long_conversation(world: World, gateway: Gateway, tasks: int, *, is_open: bool) -> str:
    """All of it within the same moment: one message of each task, most of them ended."""
    body = {"agent": "auditor", "message": "Is the release ready?"}
    made = gateway.post(ALICE, "/conversations", body).json
    for number in range(tasks):
        ended: dict[str, Any] = {} if is_open else {"state": State.CANCELLED}
        change = new(f"task_zz{number:04d}", workflow_id=made["conversation_id"], parent_id=made["task"]["id"], **ended)
        entry = TranscriptEntry(
            first=1,
            kind=EntryKind.REPLY,
            agent="auditor",
            at=world.clock.now(),
            turn=1,
            blocks=({"text": str(number)},),
        )
        world.store.commit(WORKSPACE, change, Insert(TaskEntry(change.task.id, entry)))
    return str(made["conversation_id"])


def read_whole(gateway: Gateway, conversation_id: str, limit: int) -> list[Any]:
    found: list[Any] = []
    after = None
    while True:
        query = f"limit={limit}" + (f"&after={after}" if after else "")
        reply = gateway.get(ALICE, f"/conversations/{conversation_id}/messages", query=query)
        assert reply.status == 200, reply.text
        assert len(reply.json["after"]) <= LONGEST
        if not reply.json["items"]:
            assert reply.json["after"] == after, "nothing new leaves the reader where they were"
            return found
        found += reply.json["items"]
        after = reply.json["after"]


@pytest.mark.parametrize("is_open", [False, True])
def test_a_conversation_of_any_length_is_read_to_its_end(world: World, gateway: Gateway, *, is_open: bool) -> None:
    conversation_id = a_long_conversation(world, gateway, ANY, is_open=is_open)
    found = read_whole(gateway, conversation_id, 200)
    assert len(found) == 1 + ANY * (1 if is_open else 2)
    assert len({(each["task_id"], each["number"]) for each in found}) == len(found)
    assert [each["text"] for each in found if each["type"] == "assistant_message"] == [str(n) for n in range(ANY)]


def test_what_is_said_later_is_read_from_a_long_cursor_on(world: World, gateway: Gateway) -> None:
    conversation_id = a_long_conversation(world, gateway, 120, is_open=True)
    path = f"/conversations/{conversation_id}/messages"
    first = gateway.get(ALICE, path, query="limit=200").json
    assert len(first["items"]) == 121
    late = TranscriptEntry(
        first=2, kind=EntryKind.REPLY, agent="auditor", at=world.clock.now(), turn=2, blocks=({"text": "late"},)
    )
    world.store.commit(WORKSPACE, Insert(TaskEntry("task_zz0003", late)))
    second = gateway.get(ALICE, path, query=f"after={first['after']}").json
    assert [each["text"] for each in second["items"]] == ["late"]
    other = gateway.post(ALICE, "/conversations", {"agent": "auditor", "message": "Another"}).json["conversation_id"]
    reply = gateway.get(ALICE, f"/conversations/{other}/messages", query=f"after={first['after']}")
    assert (reply.status, reply.fields) == (422, ["after"])


def forget_answers(world: World) -> None:
    assert isinstance(world.store, InMemoryStore)
    for (pk, _), item in world.store.dynamo.contents().items():
        if kind_of(pk) == "ONCE":
            world.store.dynamo.delete(item)


def test_a_long_cursor_that_nobody_remembers_is_refused_with_what_to_do(world: World, gateway: Gateway) -> None:
    conversation_id = a_long_conversation(world, gateway, 120, is_open=True)
    path = f"/conversations/{conversation_id}/messages"
    after = gateway.get(ALICE, path, query="limit=200").json["after"]
    forget_answers(world)
    reply = gateway.get(ALICE, path, query=f"after={after}")
    assert (reply.status, reply.fields) == (422, ["after"])
    assert "from the beginning" in reply.text


# The order


def test_what_the_parts_answered_stands_before_the_reply_that_used_it() -> None:
    agents: dict[str, dict[str, Any]] = {
        "boss": {"tools": ("ask", "ask_other")},
        "helper": {},
        "other": {"tools": ("pass_on",)},
        "last": {},
    }
    both = calls(("ask", {}), ("ask_other", {}), text="I ask.")
    script = {
        "boss": [both, calls(("ask", {}), text="Once more."), says("All told.")],
        "helper": [says("First."), says("Third.")],
        "other": [calls(("pass_on", {}), text="Not mine.")],
        "last": [says("Second.")],
    }
    agent_runs = AgentRuns(agents, script)
    agent_runs.tool("ask", "helper", mode=ToolMode.DELEGATE)
    agent_runs.tool("ask_other", "other", mode=ToolMode.DELEGATE)
    agent_runs.tool("pass_on", "last")
    root = agent_runs.open().start("boss")
    for limit in (1, 3, 100):
        shown: list[str] = []
        cursor = None
        while page := read_messages(agent_runs.deps, human(), root.workflow_id, limit, cursor):
            items, cursor = page
            if not items:
                break
            shown += [each.message.text for each in items if each.message.type == "assistant_message"]
        assert shown[0] == "I ask."
        assert set(shown[1:4]) == {"First.", "Not mine.", "Second."}
        assert shown.index("Not mine.") < shown.index("Second.")
        assert shown[4:] == ["Once more.", "Third.", "All told."]


def test_what_workers_elsewhere_answered_stands_before_the_answer_that_used_it(world: World, gateway: Gateway) -> None:
    made = gateway.post(ALICE, "/conversations", {"agent": "auditor", "message": "Is it ready?"}).json
    path = f"/tasks/{made['task']['id']}"
    world.clock.advance(5)
    claim = gateway.post(AUDITOR, "/agents/auditor/claims").json
    branches = [{"call_id": f"c{n}", "target": {"agent": "scout", "reason": f"Part {n}"}} for n in range(2)]
    gateway.post(AUDITOR, f"{path}/delegate", {"claim_id": claim["claim_id"], "branches": branches})
    for branch in gateway.get(ALICE, path).json["wait"]["branches"]:
        gateway.post(ALICE, f"/tasks/{branch['task_id']}/resolve", {"output": f"Part of {branch['call_id']}"})
    sweep(world.deps)
    claim = gateway.post(AUDITOR, "/agents/auditor/claims").json
    body = {"claim_id": claim["claim_id"], "output": "All of it"}
    assert gateway.post(AUDITOR, f"{path}/complete", body).status == 200
    items = gateway.get(ALICE, f"/conversations/{made['conversation_id']}/messages").json["items"]
    answers = [each["text"] for each in items if each["type"] == "assistant_message"]
    assert (sorted(answers[:2]), answers[2:]) == (["Part of c0", "Part of c1"], ["All of it"])
    assert (items[0]["type"], items[-1]["task_id"]) == ("user_message", made["task"]["id"])


# Notes, and what came too late


def pages(gateway: Gateway, path: str, items: str = "items", limit: int = 25) -> list[Any]:
    found: list[Any] = []
    cursor = None
    while True:
        page = gateway.get(ALICE, path, query=f"limit={limit}" + (f"&cursor={cursor}" if cursor else "")).json
        found += page[items]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def noted(world: World, about: str, notes: int, size: int = 1) -> None:
    for number in range(notes):
        content = {"text": f"{number} " + "x" * size}
        world.store.commit(
            WORKSPACE, Insert(Note(about, f"note_{number:04d}", world.clock.now(), "agent:scout", content))
        )


@pytest.mark.parametrize("limit", [1, 25, 100])
def test_all_notes_are_read_page_by_page(world: World, gateway: Gateway, limit: int) -> None:
    task_id = world.needing()
    noted(world, task_id, 104)
    found = pages(gateway, f"/tasks/{task_id}/notes", limit=limit)
    assert [each["id"] for each in found] == [f"note_{number:04d}" for number in reversed(range(104))]


def test_large_notes_take_more_pages(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    noted(world, task_id, 40, size=200_000)
    assert len(gateway.get(ALICE, f"/tasks/{task_id}/notes", query="limit=100").text) < 6_000_000
    assert len(pages(gateway, f"/tasks/{task_id}/notes", limit=100)) == 40


def test_all_that_was_said_about_a_review_is_read_page_by_page(world: World, gateway: Gateway) -> None:
    for number in range(2):
        task_id = world.needing(escalation_reason=f"Reason {number}")
        gateway.post(ALICE, f"/tasks/{task_id}/cancel")
        world.clock.advance(1)
    for number in range(30):
        assert world.mark(by=agent("scout"), escalation_reason=f"Knock {number}").review_id
        world.clock.advance(1)
    (review,) = gateway.get(ALICE, "/manual-reviews").json["items"]
    found = pages(gateway, f"/manual-reviews/{review['id']}", "notes", 7)
    assert [each["content"]["escalation_reason"] for each in found] == [f"Knock {n}" for n in reversed(range(30))]


def test_all_late_results_are_read_page_by_page(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    for fence in range(1, 131):
        world.store.commit(WORKSPACE, Insert(ClaimLateResult(task_id, f"clm_{fence}", a_late_result(fence)), KeyTaken))
    found = pages(gateway, f"/tasks/{task_id}/late-results", limit=100)
    assert [each["fence"] for each in found] == list(range(1, 131))
