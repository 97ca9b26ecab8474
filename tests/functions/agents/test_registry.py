"""Agents, manual reviews, settings and tokens over HTTP."""

from __future__ import annotations

import pytest

from baton.domain.guardrails.guardrails import Guardrails
from support.gateway import Gateway
from support.worlds.world import World, agent, human, service

ALICE = human()


def test_agent_is_registered_once_and_changed_after(world: World, gateway: Gateway) -> None:
    body = {"name": "Zoe", "aliases": ["Z"], "accepts": ["report"], "runtime": "run", "approval": "auto"}
    first = gateway.put(ALICE, "/agents/zoe", body)
    assert (first.status, first.headers["Location"], first.json["version"]) == (201, "/agents/zoe", 1)
    second = gateway.put(ALICE, "/agents/zoe", {"description": "helps", "version": 1})
    assert second.status == 200
    assert second.json == {**first.json, "description": "helps", "version": 2}
    seen = gateway.get(ALICE, "/agents/zoe").json
    assert seen.items() >= {**second.json, "liveness": {"status": "gone", "last_contact_at": None}}.items()


def test_agents_are_listed_by_slug(gateway: Gateway) -> None:
    listed = gateway.get(agent("scout"), "/agents").json
    assert [each["slug"] for each in listed["items"]] == ["auditor", "runner", "scout"]
    assert listed["next_cursor"] is None


def test_change_on_an_old_version_is_refused(gateway: Gateway) -> None:
    reply = gateway.put(ALICE, "/agents/auditor", {"active": False, "version": 0})
    assert (reply.status, reply.code, reply.json["version"]) == (409, "version_conflict", 1)


def test_name_of_another_agent_is_refused(gateway: Gateway) -> None:
    reply = gateway.put(ALICE, "/agents/new", {"aliases": ["Scout"]})
    assert (reply.status, reply.code, reply.json["agent"]) == (409, "name_taken", "scout")


def test_service_registers_agents_but_gives_no_standing_approval(gateway: Gateway) -> None:
    assert gateway.put(service(), "/agents/new").status == 201
    assert gateway.put(service(), "/agents/new", {"approval": "auto"}).code == "human_required"
    assert gateway.put(service(), "/agents/runner", {"description": "x"}).json["approval"] == "manual"


def test_inactive_agent_gets_no_work(world: World, gateway: Gateway) -> None:
    task_id = world.ready()
    gateway.put(ALICE, "/agents/auditor", {"active": False})
    by_id = gateway.post(agent("auditor"), f"/tasks/{task_id}/claim")
    assert (by_id.status, by_id.code) == (403, "inactive_agent")


def test_nobody_polls_for_ever_under_a_name_that_gets_no_work(gateway: Gateway) -> None:
    assert gateway.post(agent("ghost"), "/agents/ghost/claims").status == 404
    gateway.put(ALICE, "/agents/auditor", {"active": False})
    assert gateway.post(agent("auditor"), "/agents/auditor/claims").code == "inactive_agent"


def capped(world: World, gateway: Gateway) -> str:
    for _ in range(2):
        gateway.post(ALICE, f"/tasks/{world.needing()}/cancel")
    world.mark(agent("scout"), escalation_reason="again")
    (review,) = gateway.get(ALICE, "/manual-reviews").json["items"]
    return str(review["id"])


def test_review_shows_what_was_asked_and_how_often(world: World, gateway: Gateway) -> None:
    review_id = capped(world, gateway)
    world.mark(agent("scout"), escalation_reason="and again")
    review = gateway.get(ALICE, f"/manual-reviews/{review_id}").json
    assert (review["state"], review["count"], review["requested_by"]) == ("open", 2, "agent:scout")
    assert review["request"]["escalation_reason"] == "and again"
    assert {note["content"]["escalation_reason"] for note in review["notes"]} == {"again", "and again"}


def test_human_releases_a_review_once(world: World, gateway: Gateway) -> None:
    path = f"/manual-reviews/{capped(world, gateway)}"
    version = gateway.get(ALICE, path).json["version"]
    assert gateway.post(ALICE, f"{path}/release", {"version": version + 1}).code == "version_conflict"
    released = gateway.post(ALICE, f"{path}/release", {"version": version}).json
    assert (released["state"], released["released_by"]) == ("released", "human:alice")
    assert (released["task"]["id"], released["task"]["state"]) == (released["task_id"], "delegated")
    assert released["task_url"] == released["task"]["url"]
    assert gateway.post(ALICE, f"{path}/release", {}).code == "review_closed"
    assert gateway.get(ALICE, path).json["state"] == "released"


def test_reviews_are_filtered_by_state(world: World, gateway: Gateway) -> None:
    review_id = capped(world, gateway)

    def found(query: str) -> list[str]:
        return [review["id"] for review in gateway.get(ALICE, "/manual-reviews", query=query).json["items"]]

    assert (found("state=open"), found("state=released")) == ([review_id], [])
    gateway.post(ALICE, f"/manual-reviews/{review_id}/release")
    assert (found("state=open"), found("state=released")) == ([], [review_id])
    assert gateway.get(ALICE, "/manual-reviews", query="state=gone").fields == ["state"]


def test_settings_have_defaults_and_are_changed_one_by_one(gateway: Gateway) -> None:
    defaults = gateway.get(ALICE, "/workspace/settings").json
    assert defaults == {
        "time_zone": "UTC",
        "holidays": [],
        "handoff_window_days": 7,
        "escalation_cap": 2,
        "breaker_scope": "open",
        "dispatch_delay_seconds": 3,
        "unclaimed_alert_seconds": 3_600,
        "waiting_alert_seconds": 86_400,
        "max_attempts": 3,
        "loop_guard": True,
        "max_depth": 10,
        "max_handoffs_per_workflow": 50,
        "max_same_direction": 3,
        "ping_pong_window": 6,
        "root_handoffs_per_hour": 30,
        "agents_read": "own",
        "listeners_per_principal": 50,
        "requests_per_minute": 1_200,
        "kept_bytes_per_minute": 6_000_000,
        "kept_bytes_per_claim": 30_000_000,
        "polls_at_once": 5,
        "cents_per_million_tokens": 0,
        "groups": {},
        "approval_rules": [],
        "warnings": [],
        "guardrails": Guardrails().public(),
        "tracker": None,
        "version": 0,
    }
    body = {"time_zone": "Asia/Tokyo", "holidays": ["2026-12-31", "2026-11-23"], "version": 0}
    changed = gateway.put(ALICE, "/workspace/settings", body).json
    assert changed == {**defaults, **body, "holidays": ["2026-11-23", "2026-12-31"], "version": 1}
    refused = gateway.put(ALICE, "/workspace/settings", {"escalation_cap": 3, "version": 0})
    assert (refused.status, refused.json["version"]) == (409, 1)
    assert gateway.get(ALICE, "/workspace/settings").json == changed


def test_settings_take_effect(gateway: Gateway) -> None:
    gateway.put(ALICE, "/workspace/settings", {"holidays": ["2026-11-19"], "dispatch_delay_seconds": 0})
    world_answer = gateway.post(ALICE, "/handoff-markers", _marker()).json
    task = gateway.get(ALICE, f"/tasks/{world_answer['task_id']}").json
    assert (task["due_date"], task["ready_at"], task["state"]) == ("2026-11-20", task["created_at"], "delegated")


def _marker() -> dict[str, str]:
    return {
        "source_agent": "Scout",
        "target_agent": "Auditor",
        "escalation_reason": "x",
        "source_digest_url": "https://notes.example/1",
        "task_priority": "P1",
    }


def test_secret_is_shown_once(world: World, gateway: Gateway) -> None:
    body = {"kind": "service", "subject": "ci", "scopes": ["act_as"], "expires_at": "2026-12-01T00:00:00+01:00"}
    keyed = {"headers": {"idempotency-key": "t-1"}}
    made = gateway.post(ALICE, "/tokens", body, **keyed)
    assert made.status == 201
    assert made.json["token"].startswith(f"baton_{made.json['id']}_")
    assert made.json["expires_at"] == "2026-11-30T23:00:00.000Z"
    again = gateway.post(ALICE, "/tokens", body, **keyed)
    assert (again.status, again.code) == (409, "secret_already_shown")
    secret = made.json["token"].rsplit("_", 1)[1]
    (listed,) = gateway.get(ALICE, "/tokens").json["items"]
    assert listed["created_by"] == "human:alice"
    assert [reply for reply in gateway.replies[1:] if secret in reply.text] == []
    assert secret not in repr(world.stored())


def test_token_is_revoked_once_and_for_all(world: World, gateway: Gateway) -> None:
    made = gateway.post(ALICE, "/tokens", {"kind": "human", "subject": "bob"}).json
    path = f"/tokens/{made['id']}"
    first = gateway.send(ALICE, "DELETE", path)
    assert (first.status, first.json["revoked_by"]) == (200, "human:alice")
    world.clock.advance(60)
    assert gateway.send(ALICE, "DELETE", path).json == first.json
    assert gateway.get(ALICE, "/tokens").json["items"] == [first.json]


@pytest.mark.parametrize("kind", ["human", "service", "agent"])
def test_each_kind_of_token_can_be_made(gateway: Gateway, kind: str) -> None:
    assert gateway.post(ALICE, "/tokens", {"kind": kind, "subject": "scout"}).json["kind"] == kind
