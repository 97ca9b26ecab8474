"""The handoff protocol over HTTP on the deployed stack, by workers outside of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from support.worlds.deployed import CANARY, Client, Deployed, until
from support.worlds.outside_workers import CREW, CRITERIA, Claim, OutsideWorkers, hired, specification_handoff
from support.worlds.tenant import Tenant

FIXTURES = "Missing test fixtures"


@pytest.fixture(scope="module")
def deployed(beside: Deployed) -> Deployed:
    return beside


def finish(client: Client, claim: Claim, **said: Any) -> dict[str, Any]:
    body = {"claim_id": claim["claim_id"], **said}
    done: dict[str, Any] = client.post(f"/tasks/{claim['task']['id']}/complete", body)
    return done


def asked(tenant: Tenant, target: str | None, reason: str, **more: Any) -> dict[str, Any]:
    """A root handoff by the human."""
    body = {"source": {"agent": "alice"}, "target": {"agent": target, "reason": reason}, **more}
    made: dict[str, Any] = tenant.human.post("/handoffs", body)
    return made


def architect(client: Client, claim: Claim) -> bool:
    made = client.send("POST", "/handoffs", specification_handoff(claim["claim_id"]))
    assert made.status_code == 201, made.text
    finish(client, claim, output={"designed": True})
    return False


def auto_code(client: Client, claim: Claim) -> bool:
    if claim["body"]["kind"] == "rollback":
        assert claim["body"]["failure"]["description"] == FIXTURES
        assert claim["body"]["rollback_request"]["questions"] == ["Which fixtures are there?"]
        fixed = [{"type": "code", "files_created": ["/tests/fixtures.ts"]}]
        finish(
            client,
            claim,
            deliverables=fixed,
            continuation={"suggested_next": "qa", "reason": "Retest auth implementation"},
        )
        return False
    assert claim["body"]["context"]["project"]["name"] == "TaskManager"
    unreported = {"claim_id": claim["claim_id"], "deliverables": []}
    path = f"/tasks/{claim['task']['id']}/complete"
    assert client.refused("POST", path, unreported) == (422, "criteria_unreported")
    client.post(
        f"/tasks/{claim['task']['id']}/checkpoints", {**_claim_id(claim), "step_name": "half", "state": {"n": 1}}
    )
    finish(
        client,
        claim,
        deliverables=[
            {
                "type": "code",
                "files_created": [
                    "/src/auth/jwt.ts",
                    "/src/auth/middleware.ts",
                    "/src/auth/routes.ts",
                    "/src/auth/i.ts",
                ],
                "files_modified": ["/src/app.ts"],
                "tests_created": ["/tests/auth.test.ts"],
            }
        ],
        verification={
            "tests_passing": True,
            "type_check_passing": True,
            "lint_passing": True,
            "acceptance_criteria_met": [{"criterion": each, "met": True} for each in CRITERIA],
        },
        notes=["Added refresh token rotation for security"],
        continuation={
            "suggested_next": "qa",
            "reason": "Test auth implementation",
            "context_for_next": {"focus_areas": ["auth flow", "token refresh"]},
        },
    )
    return False


def qa(client: Client, claim: Claim) -> bool:
    path = f"/tasks/{claim['task']['id']}"
    if claim["task"]["title"].startswith("Test"):
        assert claim["body"]["context"]["focus_areas"] == ["auth flow", "token refresh"]
        progress = {"completed": ["JWT"], "incomplete": ["OAuth"]}
        failure = {"type": "blocker", "description": FIXTURES, "partial_progress": progress}
        request = {
            "target_agent": "auto-code",
            "reason": "Add test fixtures",
            "questions": ["Which fixtures are there?"],
        }
        body = {**_claim_id(claim), "failure": failure, "rollback_request": request}
        failed = client.post(f"{path}/fail", body)
        assert (failed["state"], failed["failure"]["description"]) == ("failed", FIXTURES)
        assert client.post(f"{path}/fail", body) == failed  # the exact repeat
        return False
    finish(client, claim, output="12 passed", continuation={"suggested_next": "ciso", "reason": "Security review"})
    return False


def ciso(_client: Client, _claim: Claim) -> bool:
    return True  # the document's picture is drawn while this one is at work


SCRIPT = {"architect": architect, "auto-code": auto_code, "qa": qa, "ciso": ciso}


def _claim_id(claim: Claim) -> dict[str, str]:
    return {"claim_id": claim["claim_id"]}


def line(node: dict[str, Any]) -> list[dict[str, Any]]:
    """A chain's nodes, from the root to its one end."""
    assert len(node["children"]) <= 1, node
    return [node, *(line(node["children"][0]) if node["children"] else [])]


def test_the_documented_chain_is_played_by_outside_workers_and_drawn(tenant: Tenant) -> None:
    crew = hired(tenant)
    root = asked(tenant, "architect", "Design authentication module")
    crew.play(SCRIPT)

    workflow = root["task"]["workflow_id"]
    chain = tenant.human.get(f"/workflows/{workflow}/chain")
    (top,) = chain["nodes"]
    nodes = line(top)
    told = [(node["source_agent"], node["target_agent"], node["kind"], node["status"]) for node in nodes]
    assert told == [
        ("human:alice", "architect", "transfer", "completed"),
        ("architect", "auto-code", "transfer", "completed"),
        ("auto-code", "qa", "continuation", "failed"),
        ("qa", "auto-code", "rollback", "completed"),
        ("auto-code", "qa", "continuation", "completed"),
        ("qa", "ciso", "continuation", "in_progress"),
    ]
    assert [node["depth"] for node in nodes] == [1, 2, 3, 4, 5, 6]
    code, tested, rolled_back = nodes[1], nodes[2], nodes[3]
    assert [len(code["files"][what]) for what in ("created", "modified", "tests")] == [4, 1, 1]
    assert (tested["failure"]["description"], tested["rollback_target"]) == (FIXTURES, "auto-code")
    assert rolled_back["title"] == "Add test fixtures"
    assert all(node["duration_seconds"] >= 0 for node in nodes[:-1])
    assert nodes[-1]["duration_seconds"] is None

    drawn = tenant.human.send("GET", f"/workflows/{workflow}/chain?format=text")
    assert drawn.headers["content-type"].startswith("text/plain")
    for text in ("✓ Completed", "⚠️ Failed", f"Reason: {FIXTURES}", "[ROLLBACK to auto-code]", "🔄 In Progress"):
        assert text in drawn.text
    assert drawn.text.index("[ROLLBACK to auto-code]") < drawn.text.index("In Progress")

    # Nothing of it is unattributed, and every trail rebuilds its task.
    for node in nodes:
        assert tenant.human.get(f"/tasks/{node['task_id']}/events/verify")["intact"] is True
        assert {event["principal"]["kind"] for event in tenant.events(node["task_id"])} <= {"human", "agent"}
    seen = crew.clients["auto-code"].get("/agents/auto-code/inbox")["items"]
    assert {item["type"] for item in seen} == {"handoff_failed", "handoff_completed"}


def test_a_failed_handoff_is_retried_as_it_was_approved_with_its_last_checkpoint_beside_it(tenant: Tenant) -> None:
    made = asked(tenant, "reviewer", "Review the release", context={"state": {"phase": "one"}})
    path = f"/tasks/{made['task']['id']}"
    claim = tenant.claim(made["task"]["id"])
    progress = {"completed": ["half"], "incomplete": ["rest"]}
    failure = {"type": "error", "description": f"it broke {CANARY}", "partial_progress": progress}
    tenant.reviewer.post(f"{path}/fail", {"claim_id": claim["claim_id"], "failure": failure})
    again = tenant.human.post(f"/handoffs/{made['handoff']['handoff_id']}/retry", key="retry-1")
    assert tenant.human.post(f"/handoffs/{made['handoff']['handoff_id']}/retry", key="retry-1") == again
    assert again["handoff"]["kind"] == "retry"
    assert again["handoff"]["context"]["state"] == {"phase": "one"}
    assert again["handoff"]["retries"]["checkpoint"]["state"] == {"partial_progress": progress}
    assert tenant.human.refused("POST", f"/handoffs/{made['handoff']['handoff_id']}/retry") == (409, "already_retried")


def test_a_waiting_parent_goes_on_once_with_what_its_branches_came_to(tenant: Tenant) -> None:
    """The notice of the last branch runs the join; nobody sweeps."""
    relay = hired(tenant)
    made = asked(tenant, "architect", "Design and build")
    parent = made["task"]["id"]
    claim = relay.clients["architect"].post("/agents/architect/claims", {})
    branches = [
        {"call_id": "code", "target": {"agent": "auto-code", "reason": "Build it"}},
        {"call_id": "review", "target": {"agent": "ciso", "reason": "Review it"}},
    ]
    body = {"claim_id": claim["claim_id"], "branches": branches}
    waiting = relay.clients["architect"].post(f"/tasks/{parent}/delegate", body)
    assert (waiting["state"], len(waiting["wait"]["branches"])) == ("waiting", 2)

    built = relay.clients["auto-code"].post("/agents/auto-code/claims", {})
    handed_on = {"claim_id": built["claim_id"], "target": {"agent": "qa", "reason": "Test before it counts"}}
    relay.clients["auto-code"].post(f"/tasks/{built['task']['id']}/transfer", handed_on)
    tested = relay.clients["qa"].post("/agents/qa/claims", {})
    reviewed = relay.clients["ciso"].post("/agents/ciso/claims", {})
    assert tenant.task(parent)["state"] == "waiting"
    with ThreadPoolExecutor(2) as pool:  # two last branches end at once
        list(pool.map(lambda each: finish(*each), [(relay.clients["qa"], tested), (relay.clients["ciso"], reviewed)]))

    assert tenant.awaited(parent, "delegated")["state"] == "delegated"
    resumed = relay.clients["architect"].post("/agents/architect/claims", {})
    assert [(result["call_id"], result["agent"], result["state"]) for result in resumed["results"]] == [
        ("code", "qa", "done"),
        ("review", "ciso", "done"),
    ]
    assert tenant.trail(parent).count("resumed") == 1


def test_a_cancelled_tree_ends_everywhere_and_keeps_what_comes_late(tenant: Tenant) -> None:
    relay = hired(tenant)
    asked(tenant, "architect", "Design it")
    top = relay.clients["architect"].post("/agents/architect/claims", {})
    middle = _child(relay, "architect", top, "auto-code")
    leaf = _child(relay, "auto-code", middle, "qa")
    cancelled = tenant.human.post(f"/tasks/{top['task']['id']}/cancel", {"reason": "changed our mind"})
    assert cancelled["state"] == "cancelled"
    for slug, claim in (("auto-code", middle), ("qa", leaf)):
        path = f"/tasks/{claim['task']['id']}"
        assert tenant.awaited(claim["task"]["id"])["state"] == "cancelled"
        late = {"claim_id": claim["claim_id"], "output": {"late": CANARY}}
        for _ in range(2):
            assert relay.clients[slug].refused("POST", f"{path}/complete", late) == (409, "stale_claim")
        (kept,) = tenant.human.get(f"{path}/late-results")["items"]
        assert kept["agent"] == slug
        (last,) = [event for event in tenant.events(claim["task"]["id"]) if event["type"] == "cancelled"]
        assert (last["principal"]["id"], last["data"]["ancestor"]) == ("alice", top["task"]["id"])


def _child(relay: OutsideWorkers, source: str, claim: Claim, target: str) -> Claim:
    body = {
        "claim_id": claim["claim_id"],
        "source": {"agent": source},
        "target": {"agent": target, "reason": f"For {target}"},
    }
    relay.clients[source].post("/handoffs", body)
    child: Claim = relay.clients[target].post(f"/agents/{target}/claims", {})
    return child


def test_the_outside_answers_a_waiting_task_once_at_its_secret_address(tenant: Tenant) -> None:
    claim = tenant.claimed()
    path = f"/tasks/{claim['task']['id']}"
    body = {"claim_id": claim["claim_id"], "interaction_id": "research-7"}
    waiting = tenant.reviewer.post(f"{path}/wait-callback", body)
    url = waiting["callback"]["url"]
    assert tenant.reviewer.post(f"{path}/wait-callback", body)["callback"]["url"] == url
    stranger = tenant.deployed.client(None)
    address = url.removeprefix(tenant.deployed.stack.api_url)
    assert stranger.refused("POST", address[:-1] + ("0" if address[-1] != "0" else "1"), {}) == (404, "not_found")
    report = {"report": f"done {CANARY}"}
    assert stranger.post(address, report) == {"accepted": True}
    assert stranger.post(address, report) == {"accepted": True}  # its reply may have been lost
    assert stranger.refused("POST", address, {"report": "another"}) == (409, "callback_used")
    again = tenant.claim(claim["task"]["id"])
    assert (again["callback"], again["interaction_id"]) == (report, "research-7")


def test_the_loop_guard_stops_agents_that_pass_the_same_work_round(tenant: Tenant) -> None:
    relay = hired(tenant)
    asked(tenant, "architect", "Begin")
    holder, claim = "architect", relay.clients["architect"].post("/agents/architect/claims", {})
    for hop in range(12):
        target = "qa" if holder == "architect" else "architect"
        body = {
            "claim_id": claim["claim_id"],
            "source": {"agent": holder},
            "target": {"agent": target, "reason": f"Your turn, {hop}"},
        }
        answer = relay.clients[holder].send("POST", "/handoffs", body)
        if answer.status_code != 201:
            break
        finish(relay.clients[holder], claim)
        holder, claim = target, relay.clients[target].post(f"/agents/{target}/claims", {})
    refusal = answer.json()
    assert (answer.status_code, refusal["code"], refusal["rule"]) == (409, "loop_guard", "ping_pong")
    assert hop <= 7
    assert tenant.task(claim["task"]["id"])["state"] == "claimed"
    (review,) = tenant.human.get("/manual-reviews?state=open")["items"]
    assert (review["id"], review["reason"], review["rule"]) == (refusal["review_id"], "loop_guard", "ping_pong")
    released = tenant.human.post(f"/manual-reviews/{review['id']}/release")
    assert (released["task"]["state"], released["task"]["target_agent"]) == ("delegated", target)


def test_open_work_goes_to_whoever_can_do_it(tenant: Tenant) -> None:
    relay = hired(tenant)
    made = asked(tenant, None, "Somebody test this", context={"artifacts": [{"type": "code", "path": "/src"}]})
    assert made["task"]["target_agent"] is None

    def claimed_by(slug: str) -> bool:
        return relay.clients[slug].send("POST", f"/agents/{slug}/claims", {}).status_code == 200

    takers = until(lambda: [slug for slug in CREW if claimed_by(slug)])  # the index that shows it lags, as on AWS
    assert takers in (["qa"], ["ciso"])
    assert not any(claimed_by(slug) for slug in CREW)
