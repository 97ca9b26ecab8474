"""``twining_handoff``, with exactly the input and output of its source (docs/spec/memory.md §5)."""

from __future__ import annotations

from typing import Any

import pytest

from baton.services.claims.claim_task import claim_task
from baton.steps.claims.take_task import Claimed, Claimer
from support.faults.threads import race
from support.gateway import Gateway
from support.worlds.world import World, agent, human, service

ALICE, SCOUT, AUDITOR, RUNNER = human(), agent("scout"), agent("auditor"), agent("runner")
DONE = {"description": "Read the code", "status": "completed", "artifacts": ["a.md"], "notes": "twice"}
SAID = {"source_agent": "scout", "target_agent": "auditor", "summary": "Audit", "results": [DONE]}


def handed(gateway: Gateway, by: Any = SCOUT, **changes: Any) -> dict[str, Any]:
    reply = gateway.post(by, "/twining-handoff", {**SAID, **changes})
    assert reply.status == 201, reply.text
    made: dict[str, Any] = reply.json
    assert reply.headers["Location"] == f"/handoffs/{made['id']}"
    return made


def statuses(gateway: Gateway) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = gateway.get(ALICE, "/blackboard", query="entry_type=status").json["items"]
    return items


def task_of(made: dict[str, Any]) -> str:
    return "task_" + str(made["id"]).removeprefix("ho_")


def test_the_answer_has_exactly_the_fields_of_the_source(world: World, gateway: Gateway) -> None:
    for kind in ("decision", "decision", "warning", "finding"):
        gateway.post(SCOUT, "/blackboard", {"entry_type": kind, "summary": kind, "scope": "src"})
    made = handed(gateway, scope="src/auth")
    assert made == {
        "id": made["id"],
        "created_at": made["created_at"],
        "source_agent": "scout",
        "target_agent": "auditor",
        "scope": "src/auth",
        "summary": "Audit",
        "result_count": 1,
        "context_snapshot_size": {"decisions": 2, "warnings": 1, "findings": 1},
    }
    assert made["id"].startswith("ho_")


def test_a_result_may_say_nothing_as_in_the_source(gateway: Gateway) -> None:
    said = {"description": "", "status": "completed", "artifacts": [], "notes": ""}
    made = handed(gateway, results=[said])
    assert gateway.get(ALICE, f"/handoffs/{made['id']}").json["results"] == [said]


def test_scope_and_snapshot_have_the_defaults_of_the_source(gateway: Gateway) -> None:
    gateway.post(SCOUT, "/blackboard", {"entry_type": "decision", "summary": "x"})
    made = handed(gateway)
    assert (made["scope"], made["context_snapshot_size"]["decisions"]) == ("project", 1)
    without = handed(gateway, auto_snapshot=False)
    assert without["context_snapshot_size"] == {"decisions": 0, "warnings": 0, "findings": 0}


def test_it_posts_a_status_entry_with_the_handoff(world: World, gateway: Gateway) -> None:
    made = handed(gateway, scope="src/auth", summary="x" * 300)
    (entry,) = statuses(gateway)
    assert (entry["scope"], entry["tags"], entry["posted_by"]) == ("src/auth", ["handoff"], SCOUT.key)
    assert entry["summary"] == ("Handoff created: " + "x" * 300)[:200]
    assert (entry["detail"], entry["relates_to"]) == ("From scout to auditor. 1 result(s).", [made["id"]])
    world.clock.advance(1)
    handed(gateway, target_agent=None, results=[])
    assert statuses(gateway)[0]["detail"] == "From scout to any agent. 0 result(s)."


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ([], "completed"),
        (["completed", "completed"], "completed"),
        (["blocked"], "blocked"),
        (["completed", "failed"], "mixed"),
    ],
)
def test_the_results_have_a_status_in_common(gateway: Gateway, given: list[str], status: str) -> None:
    made = handed(gateway, results=[{"description": "x", "status": each} for each in given])
    shown = gateway.get(ALICE, f"/handoffs/{made['id']}").json
    assert (shown["result_status"], shown["kind"]) == (status, "transfer")


@pytest.mark.parametrize(
    ("changes", "status", "code", "field"),
    [
        ({"target_agent": "nobody"}, 422, "unknown_agent", "target_agent"),
        ({"source_agent": "auditor"}, 403, "not_your_agent", None),
        ({"results": [{"status": "completed"}]}, 422, "invalid_input", "results.0.description"),
        ({"scope": "a//b"}, 422, "invalid_input", "scope"),
        ({"summary": ""}, 422, "invalid_input", "summary"),
        ({"urgent": True}, 422, "invalid_input", "urgent"),
    ],
)
def test_a_refusal_has_error_and_code_and_leaves_nothing(
    gateway: Gateway, changes: dict[str, Any], status: int, code: str, field: str | None
) -> None:
    refused = gateway.post(SCOUT, "/twining-handoff", {**SAID, **changes})
    assert (refused.status, refused.code) == (status, code)
    assert refused.json["error"] == refused.json["detail"]
    assert [each["field"] for each in refused.json["errors"]] == ([field] if field else [])
    assert statuses(gateway) == []


def test_a_repeat_posts_one_entry_and_makes_one_handoff(gateway: Gateway) -> None:
    headers = {"idempotency-key": "key-1"}
    first = gateway.post(SCOUT, "/twining-handoff", SAID, headers=headers)
    assert gateway.post(SCOUT, "/twining-handoff", SAID, headers=headers).json == first.json
    assert len(statuses(gateway)) == 1


def test_what_the_holder_of_a_claim_hands_over_belongs_to_its_task(world: World, gateway: Gateway) -> None:
    claim = world.claimed()
    made = handed(gateway, AUDITOR, source_agent="auditor", target_agent="runner")
    shown = gateway.get(ALICE, f"/tasks/{task_of(made)}").json
    assert shown["parent_id"] == claim.details.task.id
    second = task_of(handed(gateway, ALICE))
    world.clock.advance(5)
    assert gateway.post(AUDITOR, f"/tasks/{second}/claim", {}).status == 200
    refused = gateway.post(AUDITOR, "/twining-handoff", {**SAID, "source_agent": "auditor", "target_agent": "runner"})
    assert (refused.status, refused.code) == (422, "claim_required")


def test_to_acknowledge_is_to_claim_once_by_the_target(world: World, gateway: Gateway) -> None:
    task_id = task_of(handed(gateway, ALICE))
    world.clock.advance(5)
    assert gateway.post(RUNNER, f"/tasks/{task_id}/claim", {}).status == 404
    assert gateway.post(AUDITOR, f"/tasks/{task_id}/claim", {}).status == 200
    again = gateway.post(AUDITOR, f"/tasks/{task_id}/claim", {})
    assert (again.status, again.code) == (409, "already_claimed")


@pytest.mark.parametrize("target", ["auditor", None])
def test_of_eight_acknowledgements_at_once_one_holds_it(world: World, gateway: Gateway, target: str | None) -> None:
    task_id = task_of(handed(gateway, ALICE, target_agent=target))
    world.clock.advance(5)

    def acknowledge(_round: int, number: int) -> Claimed:
        slug = "auditor" if target or number % 2 else "runner"
        return claim_task(world.deps, Claimer(by=agent(slug), agent=slug, worker=f"w{number}"), task_id)

    (outcomes,) = race(8, 1, acknowledge)
    assert sorted(type(each).__name__ for each in outcomes) == ["AlreadyClaimed"] * 7 + ["Claimed"]


@pytest.mark.parametrize("by", [ALICE, service()])
def test_who_acts_for_an_agent_hands_over_in_its_name(gateway: Gateway, by: Any) -> None:
    assert handed(gateway, by)["source_agent"] == "scout"
