"""A request that is sent again, because its answer was lost on the way."""

from __future__ import annotations

from typing import Any

import httpx

from support.worlds.deployed import CANARY, Client
from support.worlds.tenant import Tenant, marker_body, task_of

REUSED = (422, "idempotency_key_reused")


def twice(by: Client, path: str, body: dict[str, Any], key: str = "key-1") -> httpx.Response:
    """The answer, the same both times."""
    first, second = (by.send("POST", path, body, key=key) for _ in range(2))
    assert first.is_success, first.text
    assert (second.status_code, second.text) == (first.status_code, first.text)
    assert second.headers.get("location") == first.headers.get("location")
    return first


def test_a_repeated_marker_gets_its_first_answer_whatever_happened_since(tenant: Tenant) -> None:
    first = twice(tenant.scout, "/handoff-markers", marker_body())
    assert first.status_code == 201
    tenant.human.post(f"/tasks/{task_of(first.json())}/cancel")
    tenant.human.ok("PUT", "/agents/reviewer", {"active": False})
    again = tenant.scout.send("POST", "/handoff-markers", marker_body(), key="key-1")
    assert (again.status_code, again.text) == (201, first.text)


def test_a_prevented_duplicate_and_a_capped_direction_are_repeated_too(tenant: Tenant) -> None:
    task_id = tenant.needing()
    assert twice(tenant.scout, "/handoff-markers", marker_body()).json()["duplicate_prevented"]
    assert len(tenant.human.get(f"/tasks/{task_id}/notes")["items"]) == 1
    tenant.human.post(f"/tasks/{task_id}/cancel")
    tenant.human.post(f"/tasks/{tenant.needing()}/cancel")
    assert twice(tenant.scout, "/handoff-markers", marker_body(), key="key-2").json()["escalation_capped"]
    (review,) = tenant.human.get("/manual-reviews")["items"]
    assert review["count"] == 1
    released = twice(tenant.human, f"/manual-reviews/{review['id']}/release", {})
    assert len(tenant.human.get("/tasks?agent=reviewer")["items"]) == 3
    assert released.json()["task"]["state"] == "delegated"


def test_a_key_with_another_body_is_refused(tenant: Tenant) -> None:
    task_id = task_of(tenant.mark(key="key-1"))
    other = marker_body(escalation_reason=f"Something else {CANARY}")
    assert tenant.scout.refused("POST", "/handoff-markers", other, key="key-1") == REUSED
    tenant.human.post(f"/tasks/{task_id}/approve", {"revision": 1}, key="key-1")
    assert tenant.human.refused("POST", f"/tasks/{task_id}/approve", {}, key="key-1") == REUSED


def test_a_key_means_one_thing_per_caller_and_path(tenant: Tenant) -> None:
    task_id = tenant.needing()
    tenant.human.post(f"/tasks/{task_id}/approve", {}, key="key-1")
    tenant.human.post(f"/tasks/{task_id}/cancel", {}, key="key-1")
    assert tenant.service.post("/handoff-markers", marker_body(), key="key-1")["task_created"]
    assert tenant.scout.post("/handoff-markers", marker_body(), key="key-1")["duplicate_prevented"]


def test_every_verb_of_a_human_may_be_repeated(tenant: Tenant) -> None:
    task_id, other = tenant.needing(), tenant.needing(target="runner")
    for verb in ("approve", "resolve"):
        twice(tenant.human, f"/tasks/{task_id}/{verb}", {"reason": CANARY} if verb == "resolve" else {"revision": 1})
    for verb in ("approve-next", "cancel"):
        twice(tenant.human, f"/tasks/{other}/{verb}", {})
    assert tenant.trail(task_id) == ["handoff_initiated", "approved", "resolved"]
    assert tenant.trail(other) == ["handoff_initiated", "approved", "cancelled"]


def test_a_repeated_claim_next_gets_the_same_claim_while_it_lives(tenant: Tenant) -> None:
    first, second = tenant.approved(), tenant.approved(source_agent="runner")
    claim = twice(tenant.reviewer, "/agents/reviewer/claims", {"worker": "w-1"}).json()
    assert (claim["task"]["id"], claim["fence"]) == (first, 1)
    assert tenant.reviewer.post("/agents/reviewer/claims", key="key-2")["task"]["id"] == second
    assert tenant.reviewer.refused("POST", "/agents/reviewer/claims", {"worker": "w-2"}, key="key-1") == REUSED
    tenant.reviewer.post(f"/tasks/{first}/complete", {"claim_id": claim["claim_id"]})
    late = tenant.reviewer.refused("POST", "/agents/reviewer/claims", {"worker": "w-1"}, key="key-1")
    assert late == (409, "claim_over")


def test_a_repeated_claim_by_id_and_by_waiting_get_the_same_claim(tenant: Tenant) -> None:
    first, second = tenant.approved(), tenant.approved(source_agent="runner")
    claim = twice(tenant.reviewer, f"/tasks/{second}/claim", {"worker": "w-1"}).json()
    waited = twice(tenant.reviewer, "/agents/reviewer/claims/wait?timeout=2", {"worker": "w-1"}).json()
    assert {claim["task"]["id"], waited["task"]["id"]} == {first, second}
    assert [tenant.task(task_id)["claim"]["fence"] for task_id in (first, second)] == [1, 1]


def test_the_verbs_that_end_a_claim_may_be_repeated_with_and_without_a_key(tenant: Tenant) -> None:
    for key in ("key-1", None):
        claim = tenant.claimed(source_agent="scout" if key else "runner")
        path = f"/tasks/{claim['task']['id']}"
        failure = {"type": "error", "description": CANARY}
        body = {"claim_id": claim["claim_id"], "failure": failure, "retryable": True}
        assert tenant.reviewer.post(f"{path}/fail", body, key=key) == tenant.reviewer.post(
            f"{path}/fail", body, key=key
        )
        tenant.age(claim["task"]["id"], 5)
        claim = tenant.claim(claim["task"]["id"])
        body = {"claim_id": claim["claim_id"], "output": [CANARY]}
        done = tenant.reviewer.post(f"{path}/complete", body, key=key)
        assert tenant.reviewer.post(f"{path}/complete", body, key=key) == done
        assert tenant.trail(claim["task"]["id"])[-1] == "handoff_completed"
        assert tenant.replayed(claim["task"]["id"])["fence"] == 2


def test_a_tokens_secret_is_shown_once(tenant: Tenant) -> None:
    body = {"kind": "service", "subject": "ci"}
    made = tenant.human.post("/tokens", body, key="key-1")
    again = tenant.human.send("POST", "/tokens", body, key="key-1")
    assert (again.status_code, again.json()["code"]) == (409, "secret_already_shown")
    assert made["token"] not in again.text
    listed = tenant.human.send("GET", "/tokens")
    assert made["id"] in listed.text
    assert made["token"].rsplit("_", 1)[1] not in listed.text
