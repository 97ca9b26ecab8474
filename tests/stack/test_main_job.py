"""The main job over HTTP, from the marker to the trail; and a worker that dies on the way."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from support.worlds.deployed import CANARY, Client, Deployed
from support.worlds.tenant import Tenant, Workspaces, marker_body, task_of

VERBS: dict[str, dict[str, Any]] = {
    "heartbeat": {"lease_seconds": 60},
    "complete": {"output": {"late": CANARY}},
    "fail": {"failure": {"type": "error", "description": f"late {CANARY}"}, "retryable": True},
    "release": {"reason": f"late {CANARY}"},
}


def refusals(by: Client, task_id: str, claim_id: str) -> dict[str, tuple[int, str]]:
    """What every verb of a worker is answered under this claim."""
    return {
        verb: by.refused("POST", f"/tasks/{task_id}/{verb}", {"claim_id": claim_id, **body})
        for verb, body in VERBS.items()
    }


ALL_STALE = dict.fromkeys(VERBS, (409, "stale_claim"))


def test_a_marker_becomes_work_that_process_task_does(tenant: Tenant) -> None:
    marker = tenant.mark(target_agent="Repo Runner", escalation_reason=f"Two\nlines {CANARY}")
    assert marker["handoff_block"] == (
        "Escalated To: Repo Runner\n"
        f"Escalation Reason: Two lines {CANARY}\n"
        "Escalation Owner: Repo Runner\n"
        "Handoff Complete: No\n"
        f"Source: https://notes.example/digest/{CANARY}"
    )
    task_id = task_of(marker)
    task = tenant.task(task_id)
    assert (task["state"], task["priority"], task["revision"]) == ("needs", "P1", 1)
    assert task["title"] == f"Two lines {CANARY}"
    assert task["url"] == marker["task_url"] == f"{tenant.deployed.stack.api_url}/tasks/{task_id}"

    again = tenant.mark(target_agent="runner", escalation_reason=f"Still red {CANARY}")
    assert (again["task_created"], again["duplicate_prevented"]) == (False, True)
    assert again["existing_task_url"] == marker["task_url"]
    (note,) = tenant.human.get(f"/tasks/{task_id}/notes")["items"]
    assert note["content"]["escalation_reason"] == f"Still red {CANARY}"

    assert tenant.scout.refused("POST", f"/tasks/{task_id}/approve", {}) == (403, "human_required")
    assert tenant.human.post(f"/tasks/{task_id}/approve", {"revision": 1})["state"] == "delegated"
    done = tenant.awaited(task_id)
    assert done["state"] == "done"
    assert (done["output"]["scripted"], done["output"]["agent"]) == (True, "runner")
    assert (done["claim"], done["attempt"], done["recoveries"]) == (None, 1, [])

    who = [(event["type"], event["principal"]["kind"], event["principal"]["id"]) for event in tenant.events(task_id)]
    assert who == [
        ("handoff_initiated", "agent", "scout"),
        ("approved", "human", "alice"),
        ("handoff_received", "service", "process-task"),
        ("handoff_completed", "service", "process-task"),
    ]
    assert tenant.replayed(task_id) == {"state": "done", "fence": 1, "attempt": 1}


def test_a_pull_agent_claims_stays_alive_and_completes(tenant: Tenant) -> None:
    task_id = tenant.approved()
    claim = tenant.reviewer.post("/agents/reviewer/claims", {"worker": "w-1", "lease_seconds": 20})
    assert (claim["task"]["id"], claim["task"]["state"], claim["fence"]) == (task_id, "claimed", 1)
    assert claim["body"]["escalation_reason"] == marker_body()["escalation_reason"]
    assert tenant.reviewer.send("POST", "/agents/reviewer/claims", {}).status_code == 204

    beat = tenant.reviewer.post(f"/tasks/{task_id}/heartbeat", {"claim_id": claim["claim_id"], "lease_seconds": 600})
    assert (beat["fence"], beat["state"]) == (1, "claimed")
    assert beat["expires_at"] > claim["expires_at"]
    body = {"claim_id": claim["claim_id"], "output": {"verdict": CANARY, "score": 0.5}}
    done = tenant.reviewer.post(f"/tasks/{task_id}/complete", body)
    assert (done["state"], done["output"]) == ("done", body["output"])
    assert tenant.reviewer.post(f"/tasks/{task_id}/complete", body) == done  # the exact repeat
    other = {**body, "output": "something else"}
    assert tenant.reviewer.refused("POST", f"/tasks/{task_id}/complete", other) == (409, "stale_claim")


def test_a_claim_id_is_shown_to_its_claimer_only(tenant: Tenant) -> None:
    claim = tenant.claimed()
    claim_id, path = claim["claim_id"], f"/tasks/{claim['task']['id']}"
    everywhere = [
        tenant.human.send("GET", path),
        tenant.human.send("GET", f"{path}/events"),
        tenant.human.send("GET", f"{path}/events/wait?timeout=0"),
        tenant.human.send("GET", f"{path}/await?timeout=0"),
        tenant.human.send("GET", "/tasks"),
        tenant.human.send("GET", "/tasks?agent=reviewer"),
        tenant.reviewer.send("POST", f"{path}/claim", {}),
        tenant.service.send("POST", f"{path}/claim", {}),
        tenant.reviewer.send("POST", f"{path}/heartbeat", {"claim_id": claim_id}),
        tenant.scout.send("POST", f"{path}/complete", {"claim_id": claim_id}),
        tenant.reviewer.send("POST", f"{path}/complete", {"claim_id": claim_id}),
        tenant.reviewer.send("POST", f"{path}/complete", {"claim_id": claim_id}),
        tenant.human.send("GET", path),
        tenant.human.send("GET", f"{path}/events"),
    ]
    assert [response.status_code for response in everywhere] == [200] * 6 + [409, 409, 200, 409, 200, 200, 200, 200]
    assert [response.text for response in everywhere if claim_id in response.text] == []
    assert '"claim_id"' not in "".join(response.text for response in everywhere)
    assert claim_id not in json.dumps(claim["task"])


def test_a_dead_workers_task_comes_back_and_its_claim_is_refused(deployed: Deployed, tenant: Tenant) -> None:
    dead = tenant.claimed(worker="w-dead", lease_seconds=15)
    task_id = dead["task"]["id"]
    tenant.age(task_id, 16)
    deployed.sweep()
    task = tenant.task(task_id)
    assert (task["state"], task["claim"], task["attempt"]) == ("delegated", None, 1)
    (recovery,) = task["recoveries"]
    assert (recovery["prior_agent"], recovery["prior_worker"], recovery["prior_fence"]) == ("reviewer", "w-dead", 1)
    assert recovery["action"] == "re-queued to delegated, attempt 2 of 3"
    assert re.match(r"lease of worker w-dead, fence 1, expired at \S+Z, last heartbeat \S+Z$", recovery["reason"])
    assert refusals(tenant.reviewer, task_id, dead["claim_id"]) == ALL_STALE

    alive = tenant.claim(task_id, worker="w-dead")  # the same worker, awake again
    assert (alive["fence"], alive["recoveries"]) == (2, [recovery])
    assert refusals(tenant.reviewer, task_id, dead["claim_id"]) == ALL_STALE
    assert tenant.task(task_id)["claim"]["fence"] == 2
    tenant.reviewer.post(f"/tasks/{task_id}/complete", {"claim_id": alive["claim_id"]})
    assert refusals(tenant.reviewer, task_id, dead["claim_id"]) == ALL_STALE
    assert tenant.trail(task_id)[-4:] == ["heartbeat_lost", "requeued", "handoff_received", "handoff_completed"]


def test_the_next_worker_takes_over_from_a_dead_one_and_needs_no_sweep(tenant: Tenant) -> None:
    dead = tenant.claimed(worker="w-dead", lease_seconds=15)
    task_id = dead["task"]["id"]
    assert tenant.reviewer.refused("POST", f"/tasks/{task_id}/claim", {}) == (409, "already_claimed")
    tenant.age(task_id, 16)
    alive = tenant.reviewer.post("/agents/reviewer/claims/wait?timeout=5", {"worker": "w-next"})
    assert (alive["task"]["id"], alive["fence"]) == (task_id, 2)
    assert [each["prior_worker"] for each in alive["recoveries"]] == ["w-dead"]
    assert refusals(tenant.reviewer, task_id, dead["claim_id"]) == ALL_STALE
    tenant.reviewer.post(f"/tasks/{task_id}/complete", {"claim_id": alive["claim_id"]})
    assert tenant.trail(task_id)[-4:] == ["heartbeat_lost", "requeued", "handoff_received", "handoff_completed"]


def test_a_heartbeat_after_the_lease_but_before_the_sweep_keeps_the_claim(deployed: Deployed, tenant: Tenant) -> None:
    claim = tenant.claimed(lease_seconds=15)
    task_id = claim["task"]["id"]
    tenant.age(task_id, 16)
    tenant.reviewer.post(f"/tasks/{task_id}/heartbeat", {"claim_id": claim["claim_id"]})
    deployed.sweep()
    assert tenant.task(task_id)["claim"]["fence"] == 1
    assert tenant.reviewer.post(f"/tasks/{task_id}/complete", {"claim_id": claim["claim_id"]})["state"] == "done"


def test_the_third_dead_worker_brings_a_human(deployed: Deployed, tenant: Tenant) -> None:
    task_id = tenant.approved()
    for _ in range(3):
        tenant.claim(task_id, lease_seconds=15)
        tenant.age(task_id, 16)
        deployed.sweep()
    task = tenant.task(task_id)
    assert (task["state"], task["flags"], len(task["recoveries"])) == ("needs", ["attempts_exhausted"], 3)


@pytest.mark.parametrize("verb", ["claim", "claims"])
def test_an_approval_can_be_undone_before_anybody_may_take_it(workspace: Workspaces, verb: str) -> None:
    tenant = workspace(dispatch_delay_seconds=600)
    task_id = tenant.needing()
    for _ in range(2):  # as often as one likes
        assert tenant.human.post(f"/tasks/{task_id}/approve")["state"] == "delegated"
        if verb == "claim":
            assert tenant.reviewer.refused("POST", f"/tasks/{task_id}/claim", {}) == (409, "not_claimable")
        else:
            assert tenant.reviewer.send("POST", "/agents/reviewer/claims", {}).status_code == 204
        assert tenant.human.post(f"/tasks/{task_id}/undo")["state"] == "needs"
    tenant.human.post(f"/tasks/{task_id}/approve")
    tenant.age(task_id, 600)
    assert tenant.human.refused("POST", f"/tasks/{task_id}/undo", {}) == (409, "undo_window_over")
    assert tenant.claim(task_id)["fence"] == 1


def test_work_can_be_failed_tried_again_released_resolved_and_cancelled(tenant: Tenant) -> None:
    claim = tenant.claimed()
    task_id = claim["task"]["id"]
    failure = {"type": "timeout", "description": f"no answer {CANARY}"}
    body = {"claim_id": claim["claim_id"], "failure": failure, "retryable": True}
    failed = tenant.reviewer.post(f"/tasks/{task_id}/fail", body)
    assert (failed["state"], failed["failure"]) == ("delegated", failure)
    assert tenant.reviewer.refused("POST", f"/tasks/{task_id}/claim", {}) == (409, "not_claimable")  # it backs off
    tenant.age(task_id, 5)
    claim = tenant.claim(task_id)
    released = tenant.reviewer.post(f"/tasks/{task_id}/release", {"claim_id": claim["claim_id"], "reason": CANARY})
    assert (released["state"], released["attempt"]) == ("delegated", 1)
    resolved = tenant.human.post(f"/tasks/{task_id}/resolve", {"output": {"by": CANARY}, "reason": CANARY})
    assert (resolved["state"], resolved["output"]) == ("done", {"by": CANARY})
    assert tenant.human.refused("POST", f"/tasks/{task_id}/cancel", {}) == (409, "task_ended")

    other = tenant.needing()
    assert tenant.human.post(f"/tasks/{other}/approve-next")["state"] == "next"
    assert tenant.reviewer.send("POST", "/agents/reviewer/claims", {}).status_code == 204  # claimed by id only
    claim = tenant.claim(other)
    assert tenant.scout.post(f"/tasks/{other}/cancel", {"reason": CANARY})["state"] == "cancelled"  # by its creator
    assert refusals(tenant.reviewer, other, claim["claim_id"]) == ALL_STALE


def test_the_third_escalation_is_capped_until_a_human_releases_it(tenant: Tenant) -> None:
    for _ in range(2):
        task_id = tenant.needing()
        tenant.human.post(f"/tasks/{task_id}/cancel")
    for _ in range(2):
        capped = tenant.mark()
        assert (capped["task_created"], capped["escalation_capped"], capped["needs_manual_review"]) == (
            False,
            True,
            True,
        )
    (review,) = tenant.human.get("/manual-reviews?state=open")["items"]
    assert review["count"] == 2
    released = tenant.human.post(f"/manual-reviews/{review['id']}/release")
    assert (released["state"], released["task"]["state"]) == ("released", "delegated")
    assert tenant.human.get(f"/manual-reviews/{review['id']}")["released_by"] == "human:alice"
    assert tenant.mark()["duplicate_prevented"]
