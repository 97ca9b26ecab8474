"""The graph of a workspace's work (docs/spec/memory.md §6)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from baton.domain import times
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.memory.graph import Graph, GraphHandoff, directions_of, graph_handoff, graph_of, is_decision
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import replay
from baton.services.memory import read_graph
from baton.services.memory.read_graph import DEFAULT_DAYS
from support.clock import NOON
from support.faults.soak import scaled
from support.gateway import Gateway
from support.worlds.world import WORKSPACE, World, agent, human

ALICE, SCOUT, AUDITOR = human(), agent("scout"), agent("auditor")
MAX_HANDOFFS = scaled(read_graph.MAX_HANDOFFS)
RESULTS = [{"description": "Read it", "status": "completed", "artifacts": ["notes/leak.md"]}]


def handed(world: World, gateway: Gateway, **more: Any) -> str:
    body = {"source": {"agent": "scout"}, "target": {"agent": "auditor", "reason": "Audit"}, "summary": "Audit", **more}
    reply = gateway.post(ALICE, "/handoffs", body)
    assert reply.status == 201, reply.text
    world.clock.advance(5)
    return str(reply.json["task"]["id"])


def completed(world: World, gateway: Gateway, task_id: str, *files: str, after: int = 60) -> None:
    claim = gateway.post(AUDITOR, f"/tasks/{task_id}/claim", {}).json
    world.clock.advance(after)
    deliverables = [{"type": "report", "files_created": list(files)}] if files else []
    body = {"claim_id": claim["claim_id"], "deliverables": deliverables}
    reply = gateway.post(AUDITOR, f"/tasks/{task_id}/complete", body)
    assert reply.status == 200, reply.text


def decided(gateway: Gateway, summary: str, **more: Any) -> str:
    reply = gateway.post(SCOUT, "/blackboard", {"entry_type": "decision", "summary": summary, **more})
    return str(reply.json["id"])


def graph(gateway: Gateway, node: str, depth: int = 1, by: Any = ALICE) -> dict[str, Any]:
    reply = gateway.get(by, "/graph", query=f"node={node}&depth={depth}")
    assert reply.status == 200, reply.text
    found: dict[str, Any] = reply.json
    return found


def edges(found: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    return [(each["kind"], each["source"], each["target"], each["count"]) for each in found["edges"]]


def test_handoffs_and_what_came_of_them_are_edges(world: World, gateway: Gateway) -> None:
    first = handed(world, gateway, results=RESULTS)
    completed(world, gateway, first, "src/auth/token.py")
    second = handed(world, gateway)
    found = graph(gateway, "agent:scout")
    assert [node["id"] for node in found["nodes"]] == ["agent:scout", "agent:auditor", "file:notes/leak.md"]
    assert edges(found) == [
        ("handed_off_to", "agent:scout", "agent:auditor", 2),
        ("produced", "agent:scout", "file:notes/leak.md", 1),
    ]
    assert found["edges"][0]["last_id"] == "ho_" + second.removeprefix("task_")
    assert found["is_whole"]
    assert edges(graph(gateway, "file:src/auth/token.py", 2)) == [
        ("produced", "agent:auditor", f"task:{first}", 1),
        ("produced", f"task:{first}", "file:src/auth/token.py", 1),
    ]


def test_decisions_affect_what_they_are_about_and_supersede_each_other(world: World, gateway: Gateway) -> None:
    task_id = handed(world, gateway)
    old = decided(gateway, "Opaque", scope="src/auth", relates_to=["src/auth/token.py", task_id])
    new = decided(gateway, "Signed", supersedes=old)
    found = graph(gateway, f"decision:{old}")
    assert {node["id"] for node in found["nodes"]} == {
        *(f"decision:{old}", f"decision:{new}", f"task:{task_id}"),
        *("module:src/auth", "file:src/auth/token.py"),
    }
    assert ("supersedes", f"decision:{new}", f"decision:{old}", 1) in edges(found)
    assert next(node["label"] for node in found["nodes"] if node["id"] == f"task:{task_id}") == "Audit"
    gateway.post(ALICE, f"/blackboard/{old}/withdraw", {})
    assert gateway.get(ALICE, "/graph", query=f"node=decision:{old}").code == "not_found"


def test_depth_is_the_number_of_edges(world: World, gateway: Gateway) -> None:
    task_id = handed(world, gateway)
    completed(world, gateway, task_id, "a.py")
    decided(gateway, "x", relates_to=["a.py"])
    sizes = [len(graph(gateway, "agent:scout", depth)["nodes"]) for depth in (1, 2, 3)]
    assert sizes == [2, 3, 4]
    assert gateway.get(ALICE, "/graph", query="node=agent:scout&depth=4").status == 422
    assert gateway.get(ALICE, "/graph", query="node=planet:mars").status == 422


def test_directions_tell_counts_outcomes_and_the_median_time(world: World, gateway: Gateway) -> None:
    for after in (60, 120, 600):
        completed(world, gateway, handed(world, gateway), after=after)
    gateway.post(ALICE, f"/tasks/{handed(world, gateway)}/cancel", {})
    handed(world, gateway)
    (direction,) = gateway.get(ALICE, "/graph/directions").json["items"]
    assert direction == {
        "source": "scout",
        "target": "auditor",
        "handoffs": 5,
        "done": 3,
        "failed": 0,
        "rejected": 0,
        "cancelled": 1,
        "open": 1,
        "median_seconds": 125.0,
        "last_at": direction["last_at"],
    }


def test_large_messages_are_looked_at_up_to_a_budget_of_bytes(world: World, gateway: Gateway) -> None:
    def large(number: int) -> str:
        results = [{"description": "Read it", "status": "completed", "artifacts": [f"notes/{number}.md"]}]
        return handed(world, gateway, results=results, context={"state": {"text": "x" * 250_000}})

    for number in range(16):
        large(number)
    found = graph(gateway, "agent:scout")
    assert edges(found)[0] == ("handed_off_to", "agent:scout", "agent:auditor", 16)
    files = [node["name"] for node in found["nodes"] if node["kind"] == "file"]
    assert (found["is_whole"], len(files), "notes/15.md" in files, "notes/0.md" in files) == (False, 15, True, False)


def test_a_large_output_counts_as_well(world: World, gateway: Gateway) -> None:
    for number in range(16):
        claim = gateway.post(AUDITOR, f"/tasks/{handed(world, gateway)}/claim", {}).json
        deliverables = [{"type": "report", "files_created": [f"out/{number}.md"]}]
        body = {"claim_id": claim["claim_id"], "deliverables": deliverables, "output": {"text": "x" * 250_000}}
        assert gateway.post(AUDITOR, f"/tasks/{claim['task']['id']}/complete", body).status == 200
        world.clock.advance(60)
    found = graph(gateway, "agent:scout", 3)
    files = [node["name"] for node in found["nodes"] if node["kind"] == "file"]
    assert (found["is_whole"], len(files), "out/15.md" in files) == (False, 15, True)


def test_a_caller_sees_what_it_may_read(world: World, gateway: Gateway) -> None:
    handed(world, gateway)
    stranger = agent("runner")
    assert gateway.get(stranger, "/graph", query="node=agent:scout").code == "not_found"
    assert gateway.get(stranger, "/graph/directions").json["items"] == []
    assert gateway.get(human("other"), "/graph", query="node=agent:scout").code == "not_found"
    assert len(graph(gateway, "agent:scout", by=AUDITOR)["edges"]) == 1


def test_the_span_has_bounds(world: World, gateway: Gateway) -> None:
    handed(world, gateway)
    world.clock.advance(8 * 86_400)
    assert gateway.get(ALICE, "/graph", query="node=agent:scout").code == "not_found"
    assert gateway.get(ALICE, "/graph", query="node=agent:scout&since=2026-11-18T00:00:00Z").status == 200
    assert gateway.get(ALICE, "/graph/directions", query="since=2026-10-01T00:00:00Z").status == 422


@pytest.mark.parametrize("turn", [1, -1])
def test_the_trails_alone_make_the_same_graph(world: World, gateway: Gateway, turn: int) -> None:
    first = handed(world, gateway, results=RESULTS)
    completed(world, gateway, first, "src/a.py", "src/b.py")
    gateway.post(ALICE, f"/tasks/{handed(world, gateway)}/cancel", {})
    old = decided(gateway, "Opaque", scope="src")
    decided(gateway, "Signed", supersedes=old, relates_to=["src/a.py"])
    store = world.store
    live = list(store.lists.tasks_of_day(WORKSPACE, NOON.date(), 100, None).items)
    retold = [replay(store.trail.events(WORKSPACE, task.id, 0, 1_000)) for task in live][::turn]
    assert _graph(world, retold) == _graph(world, live)
    assert directions_of(map(GraphHandoff, retold)) == directions_of(map(GraphHandoff, live))


def _graph(world: World, tasks: list[Task]) -> Graph:
    store, ids = world.store, [task.id for task in tasks]
    bodies, outcomes = store.tasks.bodies(WORKSPACE, ids), store.tasks.outcomes(WORKSPACE, ids)
    handoffs = [graph_handoff(task, message_from(bodies[task.id]), outcomes[task.id].completion) for task in tasks]
    entries = store.memory.newest_entries(WORKSPACE, None, None, 100, None).items
    return graph_of(handoffs, filter(is_decision, entries))


def test_directions_say_since_when_they_count_where_there_were_too_many(
    world: World, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_graph, "MAX_HANDOFFS", MAX_HANDOFFS)

    def counted() -> tuple[bool, str, int]:
        found = gateway.get(ALICE, "/graph/directions").json
        return found["is_whole"], found["counted_since"], sum(each["handoffs"] for each in found["items"])

    handed(world, gateway)
    second = handed(world, gateway)
    for _ in range(MAX_HANDOFFS - 2):
        handed(world, gateway)
    week = times.rfc3339(world.clock.now() - timedelta(days=DEFAULT_DAYS))
    assert counted() == (True, week, MAX_HANDOFFS)
    handed(world, gateway)
    since = gateway.get(ALICE, f"/tasks/{second}").json["created_at"]
    assert counted() == (False, since, MAX_HANDOFFS)
