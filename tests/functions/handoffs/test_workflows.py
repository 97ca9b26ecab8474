"""The documented chain, played over HTTP by agents that hand on by themselves, and what is shown of it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import World, agent, human


def minutes(world: World, count: float) -> None:
    world.clock.advance(60 * count)


def then(slug: str, reason: str) -> dict[str, str]:
    return {"suggested_next": slug, "reason": reason}


def played(http_agents: HttpAgents, world: World) -> str:
    """Six handoffs; the third fails and goes back. Answers with the workflow's id."""
    reason = {"agent": "architect", "reason": "Design authentication module"}
    made = http_agents.gateway.post(ALICE, "/handoffs", {"source": {"agent": "alice"}, "target": reason}).json
    minutes(world, 1)
    claim = http_agents.take("architect")
    minutes(world, 15)
    http_agents.say(claim, "complete", continuation=then("auto-code", "Implement auth module"))
    claim = http_agents.take("auto-code")
    minutes(world, 28)
    files = {"type": "code", "files_created": ["/a", "/b", "/c", "/d"], "files_modified": ["/src/app.ts"]}
    http_agents.say(claim, "complete", deliverables=[files], continuation=then("qa", "Test auth implementation"))
    claim = http_agents.take("qa")
    back = {"target_agent": "auto-code", "reason": "Add test fixtures"}
    failure = {"type": "blocker", "description": "Missing test fixtures"}
    failed = http_agents.say(claim, "fail", failure=failure, rollback_request=back)
    assert failed.json["rollback"]["status"] == "created"
    claim = http_agents.take("auto-code")
    minutes(world, 8)
    http_agents.say(claim, "complete", continuation=then("qa", "Retest auth implementation"))
    claim = http_agents.take("qa")
    minutes(world, 3)
    http_agents.say(
        claim, "complete", verification={"tests_passing": True}, continuation=then("ciso", "Security review")
    )
    http_agents.take("ciso")
    workflow_id: str = made["task"]["workflow_id"]
    return workflow_id


def chain(http_agents: HttpAgents, workflow_id: str, query: str = "", by: Any = ALICE) -> Any:
    return http_agents.gateway.get(by, f"/workflows/{workflow_id}/chain", query=query)


def in_order(nodes: list[Any]) -> list[Any]:
    return [each for node in nodes for each in (node, *in_order(node["children"]))]


def test_chain_tells_who_did_what_how_long_and_how_it_ended(http_agents: HttpAgents, world: World) -> None:
    told = chain(http_agents, played(http_agents, world)).json
    assert told["handoffs"] == 6
    nodes = in_order(told["nodes"])
    assert [(node["agent"], node["status"], node["duration_seconds"], node["depth"]) for node in nodes] == [
        ("architect", "completed", 900, 1),
        ("auto-code", "completed", 1_680, 2),
        ("qa", "failed", 0, 3),
        ("auto-code", "completed", 480, 4),
        ("qa", "completed", 180, 5),
        ("ciso", "in_progress", None, 6),
    ]
    assert [node["kind"] for node in nodes[2:5]] == ["continuation", "rollback", "continuation"]
    assert nodes[1]["files"] == {"created": ["/a", "/b", "/c", "/d"], "modified": ["/src/app.ts"], "tests": []}
    assert (nodes[2]["reason"], nodes[2]["rollback_target"]) == ("Missing test fixtures", "auto-code")
    assert nodes[2]["failure"] == {
        "type": "blocker",
        "description": "Missing test fixtures",
        "reason": "Add test fixtures",
    }
    assert (nodes[0]["created_at"], nodes[0]["started_at"]) == ("2026-11-18T12:00:00.000Z", "2026-11-18T12:01:00.000Z")
    assert nodes[4]["verification"] == {"tests_passing": True}


def test_chain_is_drawn_as_the_source_document_draws_it(http_agents: HttpAgents, world: World) -> None:
    reply = chain(http_agents, played(http_agents, world), "format=text")
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    shown = re.sub(r"ho_\w+", "ho", reply.text)
    assert shown.splitlines()[2:] == [
        *block("architect", "Design authentication module", "✓ Completed", "Duration: 15 min"),
        "    ▼",
        *block("auto-code", "Implement auth module", "✓ Completed", "Duration: 28 min", "Files: 4 created, 1 modified"),
        "    ▼",
        *block(
            "qa",
            "Test auth implementation",
            "⚠️ Failed",
            "Reason: Missing test fixtures",
            "",
            "[ROLLBACK to auto-code]",
        ),
        "    ▼",
        *block("auto-code", "Add test fixtures", "✓ Completed", "Duration: 8 min"),
        "    ▼",
        *block("qa", "Retest auth implementation", "✓ Completed", "Duration: 3 min", "Tests: passing"),
        "    ▼",
        *block("ciso", "Security review", "🔄 In Progress"),
    ]


def block(slug: str, title: str, status: str, *more: str) -> list[str]:
    told = [f"ho: {title}", f"Status: {status}", *more]
    return [f"{slug} ".ljust(64, "─") + "▶", "    │", *(f"    │ {each}".rstrip() for each in told)]


def test_all_handoffs_of_the_workflow_are_listed(http_agents: HttpAgents, world: World) -> None:
    listed = http_agents.gateway.get(ALICE, "/handoffs", query=f"workflow={played(http_agents, world)}").json["items"]
    assert len(listed) == 6
    assert {each["status"] for each in listed} == {"completed", "failed", "in_progress"}


@pytest.mark.parametrize("end", ["chain", "checkpoints"])
def test_unknown_and_foreign_workflows_answer_alike(http_agents: HttpAgents, end: str) -> None:
    workflow_id = http_agents.hand_off()["task"]["workflow_id"]
    foreign = http_agents.gateway.get(human("other"), f"/workflows/{workflow_id}/{end}")
    assert (foreign.status, foreign.code) == (404, "not_found")
    assert http_agents.gateway.get(ALICE, f"/workflows/wf_unknown/{end}").json == foreign.json
    assert http_agents.gateway.get(ALICE, f"/workflows/a%20b/{end}").json == foreign.json


def test_wrong_format_is_named(http_agents: HttpAgents) -> None:
    workflow_id = http_agents.hand_off()["task"]["workflow_id"]
    assert chain(http_agents, workflow_id, "format=svg").fields == ["format"]
    assert chain(http_agents, workflow_id, "format=json", agent("auto-code")).status == 200


def test_checkpoints_are_paged_over_both_kinds(http_agents: HttpAgents, world: World) -> None:
    claim = http_agents.begun()
    task = claim["task"]
    for number in range(30):
        minutes(world, 1)
        if number % 3 == 2:
            http_agents.hand_off("auto-code", "qa", claim_id=claim["claim_id"], target=reason(number))
        else:
            http_agents.say(claim, "checkpoints", step_name=f"step {number}", state={"n": number})
        http_agents.say(claim, "heartbeat")
    every = pages(http_agents, f"/workflows/{task['workflow_id']}/checkpoints", 4)
    assert len(every) == len({each["checkpoint_id"] for each in every}) == 31
    assert [each["at"] for each in every] == sorted((each["at"] for each in every), reverse=True)
    own = pages(http_agents, f"/tasks/{task['id']}/checkpoints", 7)
    assert [each["step_name"] for each in own[-2:]] == ["step 0", "pre_handoff_architect_to_auto-code"]
    assert {each["task_id"] for each in own} == {task["id"]}
    assert len(own) == 21


def reason(number: int) -> dict[str, str]:
    return {"agent": "qa" if number % 2 else "ciso", "reason": f"because {number}"}


def pages(http_agents: HttpAgents, path: str, limit: int) -> list[Any]:
    found: list[Any] = []
    cursor = ""
    while True:
        page = http_agents.gateway.get(ALICE, path, query=f"limit={limit}{cursor}").json
        assert len(page["items"]) <= limit
        found += page["items"]
        if page["next_cursor"] is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def test_page_of_large_checkpoints_ends_early(http_agents: HttpAgents, world: World) -> None:
    claim = http_agents.begun()
    for number in range(12):
        minutes(world, 1)
        saved = http_agents.say(claim, "checkpoints", step_name=str(number), state={"large": "x" * 250_000})
        assert saved.status == 201
    path = f"/tasks/{claim['task']['id']}/checkpoints"
    first = http_agents.gateway.get(ALICE, path, query="limit=100")
    assert len(first.text) < 6_000_000
    assert len(pages(http_agents, path, 100)) == 13


def test_chain_of_large_completions_still_has_an_end(http_agents: HttpAgents, world: World) -> None:
    http_agents.gateway.put(ALICE, "/workspace/settings", {"loop_guard": False})
    claim = http_agents.begun("ciso")
    for number in range(15):
        http_agents.hand_off(
            "ciso", "architect", claim_id=claim["claim_id"], target=reason(number) | {"agent": "architect"}
        )
        files = {"type": "code", "files_created": [f"/{number}/{'x' * 1_900}{each}" for each in range(100)]}
        done = http_agents.say(
            http_agents.take("architect"), "complete", deliverables=[files], notes=["y" * 2_000] * 20
        )
        assert done.status == 200, done.text
    reply = chain(http_agents, claim["task"]["workflow_id"])
    assert len(reply.text.encode()) < 6_000_000
    nodes = in_order(reply.json["nodes"])
    assert [node["left_out"] for node in nodes] == [False] * 16
    for number in range(5):
        http_agents.hand_off(
            "ciso", "architect", claim_id=claim["claim_id"], target=reason(99 + number) | {"agent": "qa"}
        )
        files = {"type": "code", "files_created": [f"/{number}/{'x' * 1_900}{each}" for each in range(100)]}
        http_agents.say(http_agents.take("qa"), "complete", deliverables=[files])
    nodes = in_order(chain(http_agents, claim["task"]["workflow_id"]).json["nodes"])
    assert [node["left_out"] for node in nodes[-6:]] == [False] + [True] * 5
    assert nodes[-1]["files"] == {"created": [], "modified": [], "tests": []}
