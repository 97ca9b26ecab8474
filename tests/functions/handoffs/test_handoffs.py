"""POST /handoffs and finding what was handed off, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway
from support.worlds.http_agents import ALICE, CRITERIA, HttpAgents, message
from support.worlds.world import World, agent, human, marker_body, service

ARCHITECT = agent("architect")
FULL: dict[str, Any] = {
    "source": {"agent": "architect", "agent_id": "arch_1", "phase": "design_complete"},
    "target": {"agent": "auto-code", "reason": "Implementation of authentication module"},
    "summary": "Implement auth module",
    "results": [{"description": "The design", "status": "completed", "artifacts": ["/TODO/auth.md"], "notes": "short"}],
    "context": {
        "project": {"name": "TaskManager", "path": "/path", "tech_stack": ["Node.js"]},
        "artifacts": [
            {"type": "specification", "path": "/TODO/auth.md", "description": "The specification"},
            {"type": "decision", "content": "Use JWT", "rationale": "Stateless"},
        ],
        "state": {"decisions_made": 3, "current": None, "share": 0.5},
        "relevant_memories": ["The user prefers explicit errors"],
        "variables": {"branch": "main"},
    },
    "expectations": {
        "deliverables": [
            {"type": "code", "description": "The module", "files": ["/src/*"], "acceptance_criteria": CRITERIA}
        ],
        "constraints": ["No breaking changes"],
        "estimated_duration": "30 minutes",
        "deadline": "2026-11-20T14:00:00+02:00",
        "fail_on_deadline": True,
    },
    "rollback": {"on_failure": "architect", "failure_context": ["What blocked it"]},
    "metadata": {"priority": "high", "effort": "M", "labels": {"team": "a"}},
    "budget": {"max_handoffs": 20, "max_model_calls": 5, "max_tokens": 9_000},
    "kind": "transfer",
}


def test_the_whole_message_is_kept_as_it_came_in(http_agents: HttpAgents, world: World) -> None:
    reply = http_agents.gateway.post(ARCHITECT, "/handoffs", FULL)
    assert reply.status == 201, reply.text
    handoff, task = reply.json["handoff"], reply.json["task"]
    assert reply.headers["Location"] == f"/handoffs/{handoff['handoff_id']}"
    for part in ("source", "target", "summary", "results", "context"):
        assert handoff[part] == FULL[part]
    deadline = {"deadline": "2026-11-20T12:00:00.000Z"}
    assert handoff["expectations"] == FULL["expectations"] | deadline
    assert handoff["metadata"] == {
        "priority": "P0",
        "effort": "M",
        "labels": {"team": "a"},
        "workflow_id": task["workflow_id"],
        "parent_handoff": None,
        "depth": 1,
    }
    assert handoff["rollback"]["checkpoint_id"].startswith("chk_")
    assert (task["priority"], task["state"], task["kind"]) == ("P0", "delegated", "transfer")
    assert (task["deadline"], task["title"]) == (deadline["deadline"], "Implement auth module")
    body = world.store.tasks.read("acme", task["id"], with_body=True).body
    assert body is not None
    assert set(body) == {*FULL, "handoff_id", "timestamp", "hops"}


def test_what_is_computed_is_ignored_if_it_is_given(http_agents: HttpAgents) -> None:
    given = {"handoff_id": {"a": 1}, "timestamp": 5, "metadata": {"depth": "deep", "parent_handoff": None}}
    handoff = http_agents.hand_off(**given)["handoff"]
    assert handoff["handoff_id"].startswith("ho_")
    assert (handoff["metadata"]["depth"], handoff["timestamp"]) == (1, "2026-11-18T12:00:00.000Z")


def test_least_that_may_be_said(http_agents: HttpAgents) -> None:
    told = http_agents.hand_off(metadata={})
    assert (told["handoff"]["summary"], told["handoff"]["results"], told["handoff"]["budget"]) == (None, [], None)
    assert (told["handoff"]["context"], told["handoff"]["expectations"]) == ({}, {})
    assert told["task"]["title"] == "Implementation of the auth module"


def test_handoff_is_read_by_its_id(http_agents: HttpAgents) -> None:
    handoff = http_agents.hand_off()["handoff"]
    reply = http_agents.gateway.get(ALICE, f"/handoffs/{handoff['handoff_id']}")
    assert (reply.status, reply.json) == (200, handoff)
    assert handoff["url"] == f"https://baton.example/handoffs/{handoff['handoff_id']}"
    assert (handoff["status"], handoff["completion"], handoff["failure"]) == ("pending", None, None)


def test_marker_is_a_handoff_too(http_agents: HttpAgents, world: World) -> None:
    handoff_id = world.mark().handoff_id
    handoff = http_agents.gateway.get(ALICE, f"/handoffs/{handoff_id}").json
    assert (handoff["kind"], handoff["source"], handoff["target"]["agent"]) == (
        "escalation",
        {"agent": "scout"},
        "auditor",
    )
    assert handoff["target"]["reason"] == marker_body()["escalation_reason"]
    assert handoff["escalation"]["source_digest_url"] == marker_body()["source_digest_url"]


@pytest.mark.parametrize("handoff_id", ["ho_unknown", "task_1", "ho_", "unknown"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_unknown_foreign_and_impossible_handoffs_answer_alike(
    http_agents: HttpAgents, method: str, handoff_id: str
) -> None:
    made = http_agents.hand_off()
    end = "/retry" if method == "POST" else ""
    stranger = human("other")
    foreign = http_agents.gateway.send(stranger, method, f"/handoffs/{made['handoff']['handoff_id']}{end}")
    unknown = http_agents.gateway.send(stranger, method, f"/handoffs/{handoff_id}{end}")
    by_task = http_agents.gateway.send(ALICE, method, f"/handoffs/{made['task']['id']}{end}")
    assert (foreign.status, foreign.code) == (404, "not_found")
    assert foreign.json == unknown.json == by_task.json


def test_exact_repeat_answers_with_the_same_handoff(http_agents: HttpAgents) -> None:
    key = {"headers": {"idempotency-key": "k-1"}}
    first, again = (http_agents.gateway.post(ARCHITECT, "/handoffs", message(), **key) for _ in range(2))
    assert (again.status, again.json) == (201, first.json)
    other = http_agents.gateway.post(ARCHITECT, "/handoffs", message(summary="Another"), **key)
    assert (other.status, other.code) == (422, "idempotency_key_reused")
    assert len(http_agents.gateway.get(ALICE, "/handoffs").json["items"]) == 1


WRONG: list[tuple[dict[str, Any], list[str]]] = [
    ({"source": None}, ["source"]),
    ({"source": {"agent": ""}}, ["source.agent"]),
    ({"source": {"agent": "architect", "id": "x"}}, ["source.id"]),
    ({"target": {"agent": "qa"}}, ["target.reason"]),
    ({"target": {"agent": "qa", "reason": " \n"}}, ["target.reason"]),
    ({"target": {"agent": "x" * 101, "reason": "x"}}, ["target.agent"]),
    ({"target": {"agent": ["qa"], "reason": "x" * 2_001}}, ["target.agent", "target.reason"]),
    ({"summary": None}, ["summary"]),
    ({"results": [{"description": "x", "status": "fine"}]}, ["results.0.status"]),
    ({"results": [{"status": "failed"}] * 101}, ["results"]),
    ({"context": {"artifacts": [{"path": "/x"}]}}, ["context.artifacts.0.type"]),
    ({"context": {"artifacts": None}}, ["context.artifacts"]),
    ({"context": {"state": []}}, ["context.state"]),
    ({"context": {"variables": {"_workspace": "other"}}}, ["context.variables"]),
    ({"context": {"variables": {"": 1}}}, ["context.variables"]),
    ({"context": {"relevant_memories": [1]}}, ["context.relevant_memories.0"]),
    ({"expectations": {"deliverables": [{"type": "code"}]}}, ["expectations.deliverables.0.description"]),
    (
        {"expectations": {"deliverables": [{"type": "c", "description": "d", "acceptance_criteria": ["x" * 501]}]}},
        ["expectations.deliverables.0.acceptance_criteria.0"],
    ),
    (
        {"expectations": {"deliverables": [{"type": "c", "description": "d", "acceptance_criteria": ["x"] * 51}]}},
        ["expectations.deliverables.0.acceptance_criteria"],
    ),
    ({"expectations": {"deadline": "2026-11-20T12:00:00"}}, ["expectations.deadline"]),
    ({"expectations": {"fail_on_deadline": 1}}, ["expectations.fail_on_deadline"]),
    ({"rollback": {"on_failure": None}}, ["rollback.on_failure"]),
    ({"rollback": {"checkpoint_id": "a b"}}, ["rollback.checkpoint_id"]),
    ({"metadata": {"priority": "urgent"}}, ["metadata.priority"]),
    ({"metadata": {"effort": "XL"}}, ["metadata.effort"]),
    ({"metadata": {"labels": {"a": 1}}}, ["metadata.labels.a"]),
    ({"metadata": {"labels": {str(n): "x" for n in range(51)}}}, ["metadata.labels"]),
    ({"metadata": {"not_before": 1_800_000_000}}, ["metadata.not_before"]),
    ({"metadata": {"workflow_id": "a/b"}}, ["metadata.workflow_id"]),
    ({"budget": {"max_handoffs": 0}}, ["budget.max_handoffs"]),
    ({"budget": {"max_tokens": True}}, ["budget.max_tokens"]),
    ({"budget": {"max_dollars": 5}}, ["budget.max_dollars"]),
    ({"claim_id": "a b"}, ["claim_id"]),
    ({"work_type": "Not A Slug"}, ["work_type"]),
    ({"kind": "escalation"}, ["kind"]),
    ({"kind": "retry"}, ["kind"]),
    ({"kind": "gift"}, ["kind"]),
    ({"approved": True}, ["approved"]),
    ({"workspace": "other"}, ["workspace"]),
]


def test_wrong_field_is_named_and_nothing_is_written(http_agents: HttpAgents) -> None:
    for changes, fields in WRONG:
        reply = http_agents.gateway.post(ARCHITECT, "/handoffs", message(**changes))
        assert (reply.status, reply.fields) == (422, fields), changes
    assert http_agents.gateway.get(ALICE, "/handoffs").json["items"] == []


def test_kinds_that_are_made_elsewhere_say_where(http_agents: HttpAgents) -> None:
    said = [
        http_agents.gateway.post(ARCHITECT, "/handoffs", message(kind=kind)).json["detail"]
        for kind in ("escalation", "retry")
    ]
    assert said == [
        "kind: escalations are made with POST /handoff-markers",
        "kind: what has failed is tried again with POST /handoffs/{handoff_id}/retry",
    ]


@pytest.mark.parametrize(
    ("target", "code"), [("nobody", "unknown_agent"), ("gone", "inactive_agent"), ("qa", "capability_mismatch")]
)
def test_target_that_would_not_take_it_is_refused(http_agents: HttpAgents, target: str, code: str) -> None:
    http_agents.gateway.put(ALICE, "/agents/gone", {"name": "Gone", "active": False})
    asked = {"deliverables": [{"type": "code", "description": "The module"}]}
    reply = http_agents.gateway.post(ARCHITECT, "/handoffs", message("architect", target, expectations=asked))
    assert (reply.status, reply.code, reply.fields) == (422, code, ["target.agent"])
    if code == "capability_mismatch":
        assert (reply.json["missing"], reply.json["able"][0]) == (["produces:code"], "auto-code")


def test_agent_speaks_for_itself_only(http_agents: HttpAgents) -> None:
    reply = http_agents.gateway.post(agent("qa"), "/handoffs", message("architect"))
    assert (reply.status, reply.code) == (403, "not_your_agent")
    assert http_agents.gateway.post(service(act_as=False), "/handoffs", message("architect")).code == "scope_required"
    assert http_agents.gateway.post(service(), "/handoffs", message("architect")).status == 201
    own = http_agents.gateway.post(human(), "/handoffs", message("alice")).json["handoff"]
    assert own["source"]["agent"] == "human:alice"


def test_agent_that_holds_a_claim_names_it(http_agents: HttpAgents) -> None:
    claim = http_agents.begun("auto-code")
    coder = agent("auto-code")
    refused = http_agents.gateway.post(coder, "/handoffs", message("auto-code", "qa"))
    assert (refused.status, refused.code, refused.fields) == (422, "claim_required", ["claim_id"])
    under = http_agents.gateway.post(coder, "/handoffs", message("auto-code", "qa", claim_id=claim["claim_id"])).json
    assert under["task"]["parent_id"] == claim["task"]["id"]
    assert under["handoff"]["metadata"]["parent_handoff"] == claim["task"]["handoff_id"]
    assert (under["handoff"]["metadata"]["depth"], under["task"]["workflow_id"]) == (2, claim["task"]["workflow_id"])
    stale = http_agents.gateway.post(coder, "/handoffs", message("auto-code", "qa", claim_id="clm_other"))
    assert (stale.status, stale.code) == (409, "stale_claim")


def test_round_trip_is_stopped_and_left_for_a_human(http_agents: HttpAgents) -> None:
    reply = http_agents.gateway.post(ARCHITECT, "/handoffs", message("architect", "architect"))
    assert (reply.status, reply.code, reply.json["rule"]) == (409, "loop_guard", "self_handoff")
    assert reply.json["chain"] == ["architect", "architect"]
    review = http_agents.gateway.get(ALICE, f"/manual-reviews/{reply.json['review_id']}").json
    assert (review["reason"], review["rule"], review["chain"]) == ("loop_guard", "self_handoff", reply.json["chain"])
    assert review["handoff"]["target"]["reason"] == review["request"]["reason"]


def test_open_work_is_anyones_that_is_able(http_agents: HttpAgents, world: World) -> None:
    asked = {"deliverables": [{"type": "test_results", "description": "The results"}]}
    made = http_agents.gateway.post(ALICE, "/handoffs", message("alice", None, expectations=asked)).json
    assert (made["handoff"]["target"]["agent"], made["task"]["target_agent"]) == (None, None)
    path = f"/tasks/{made['task']['id']}/claim"
    world.clock.advance(3)
    for by in (ALICE, service()):
        nobody = http_agents.gateway.post(by, path, {})
        assert (nobody.status, nobody.fields) == (422, ["agent"])
    unable = http_agents.gateway.post(agent("auto-code"), path)
    assert (unable.status, unable.code, unable.json["missing"]) == (
        422,
        "capability_mismatch",
        ["produces:test_results"],
    )
    assert http_agents.take("qa")["task"]["id"] == made["task"]["id"]


def test_work_type_decides_where_no_target_is_named(http_agents: HttpAgents) -> None:
    http_agents.gateway.put(ALICE, "/routes/testing", {"agent": "qa", "mode": "dispatch"})
    without = {"target": {"reason": "Test it"}}
    task = http_agents.hand_off(**without, work_type="testing")["task"]
    assert (task["target_agent"], task["work_type"]) == ("qa", "testing")
    reply = http_agents.gateway.post(ARCHITECT, "/handoffs", message(**without, work_type="nothing"))
    assert (reply.status, reply.fields) == (422, ["work_type"])


def test_body_over_the_limit_is_413_with_its_largest_field(http_agents: HttpAgents) -> None:
    reply = http_agents.gateway.post(
        ARCHITECT, "/handoffs", message(summary="x", context={"state": {"a": "x" * 262_144}})
    )
    assert (reply.status, reply.code, reply.fields) == (413, "too_large", ["context"])


# Listing


def listed(http_agents: HttpAgents, query: str = "", by: Any = ALICE) -> list[str]:
    reply = http_agents.gateway.get(by, "/handoffs", query=query)
    assert reply.status == 200, reply.text
    return [each["title"] for each in reply.json["items"]]


def walked(http_agents: HttpAgents, query: str) -> list[list[str]]:
    """Page by page."""
    pages, cursor = [], ""
    while True:
        reply = http_agents.gateway.get(ALICE, "/handoffs", query=query + cursor).json
        pages.append([each["title"] for each in reply["items"]])
        if reply["next_cursor"] is None:
            return pages
        cursor = f"&cursor={reply['next_cursor']}"


def several(http_agents: HttpAgents, world: World) -> None:
    """One a day."""
    for number, (source, target) in enumerate([("architect", "qa"), ("qa", "ciso"), ("architect", "ciso")]):
        http_agents.hand_off(source, target, summary=str(number))
        world.clock.advance(86_400)


def test_listed_newest_first_over_the_days(http_agents: HttpAgents, world: World) -> None:
    several(http_agents, world)
    assert listed(http_agents) == ["2", "1", "0"]
    assert [title for page in walked(http_agents, "limit=1") for title in page] == ["2", "1", "0"]


def test_filters_are_combined(http_agents: HttpAgents, world: World) -> None:
    several(http_agents, world)
    assert listed(http_agents, "target=ciso") == ["2", "1"]
    assert listed(http_agents, "source=architect") == ["2", "0"]
    assert listed(http_agents, "target=ciso&source=qa") == ["1"]
    assert listed(http_agents, "target=ciso&since=2026-11-20T00:00:00Z") == ["2"]
    assert listed(http_agents, "since=2026-11-19T12:00:00.000Z") == ["2", "1"]
    assert listed(http_agents, "since=2026-11-19T12:00:00.001Z") == ["2"]
    assert listed(http_agents, "state=needs,claimed") == []
    assert listed(http_agents, "state=delegated&state=needs&source=qa") == ["1"]
    assert listed(http_agents, by=human("other")) == []


def test_listed_by_workflow(http_agents: HttpAgents) -> None:
    claim = http_agents.begun("auto-code", summary="first")
    for number in range(3):
        http_agents.hand_off("auto-code", "qa", claim_id=claim["claim_id"], summary=str(number))
    http_agents.hand_off(summary="another")
    workflow = claim["task"]["workflow_id"]
    assert sorted(listed(http_agents, f"workflow={workflow}")) == ["0", "1", "2", "first"]
    assert listed(http_agents, f"workflow={workflow}&target=auto-code") == ["first"]
    pages = walked(http_agents, f"workflow={workflow}&limit=3")
    assert [len(page) for page in pages] == [3, 1]
    assert listed(http_agents, f"workflow={workflow}", by=human("other")) == []
    assert listed(http_agents, "workflow=wf_unknown") == []


def test_days_without_anything_are_walked_in_steps(http_agents: HttpAgents, world: World) -> None:
    http_agents.hand_off(summary="old")
    world.clock.advance(40 * 86_400)
    assert listed(http_agents) == []
    pages = walked(http_agents, "since=2026-11-01T00:00:00Z")
    assert [title for page in pages for title in page] == ["old"]
    assert len(pages) > 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("since=2025-11-17T11:59:59Z", "since"),
        ("since=2026-11-18", "since"),
        ("since=1800000000", "since"),
        ("since=soon", "since"),
        ("target=No.Slug", "target"),
        ("workflow=a%20b", "workflow"),
        ("state=open", "state"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("agent=qa", "agent"),
        ("cursor=x", "cursor"),
    ],
)
def test_wrong_parameter_is_named(http_agents: HttpAgents, query: str, field: str) -> None:
    reply = http_agents.gateway.get(ALICE, "/handoffs", query=query)
    assert (reply.status, reply.fields) == (422, [field])


def test_cursor_belongs_to_its_filters(http_agents: HttpAgents, world: World) -> None:
    several(http_agents, world)
    cursor = http_agents.gateway.get(ALICE, "/handoffs", query="limit=1").json["next_cursor"]
    assert http_agents.gateway.get(ALICE, "/handoffs", query=f"source=qa&cursor={cursor}").fields == ["cursor"]
    assert http_agents.gateway.get(ALICE, "/handoffs", query=f"limit=2&cursor={cursor}").status == 200


# Trying anew


def test_retry_answers_with_the_new_handoff(http_agents: HttpAgents) -> None:
    claim = http_agents.begun("auto-code", context={"state": {"step": 1}})
    http_agents.say(claim, "checkpoints", step_name="half", state={"step": 2})
    failed = http_agents.say(claim, "fail", failure={"type": "error", "description": "No fixtures"}).json
    path = f"/handoffs/{failed['handoff_id']}"
    key = {"headers": {"idempotency-key": "r-1"}}
    reply = http_agents.gateway.post(ARCHITECT, f"{path}/retry", **key)
    assert reply.status == 201, reply.text
    handoff = reply.json["handoff"]
    assert reply.headers["Location"] == f"/handoffs/{handoff['handoff_id']}"
    assert (handoff["kind"], handoff["context"]["state"]) == ("retry", {"step": 1})
    left = handoff["retries"]["checkpoint"]
    assert (left["step_name"], left["state"], left["by"]) == ("half", {"step": 2}, "agent:auto-code")
    assert handoff["retries"]["handoff_id"] == failed["handoff_id"]
    assert handoff["retries"]["failure"]["description"] == "No fixtures"
    assert reply.json["task"]["retry_of"] == failed["id"]
    assert http_agents.gateway.post(ARCHITECT, f"{path}/retry", **key).json == reply.json
    again = http_agents.gateway.post(ALICE, f"{path}/retry")
    assert (again.status, again.code) == (409, "already_retried")
    assert http_agents.gateway.post(agent("ciso"), f"{path}/retry").code == "not_found"


def test_what_is_under_way_is_not_retried(http_agents: HttpAgents) -> None:
    handoff = http_agents.hand_off()["handoff"]
    reply = http_agents.gateway.post(ALICE, f"/handoffs/{handoff['handoff_id']}/retry")
    assert (reply.status, reply.code) == (409, "not_allowed")


@pytest.mark.parametrize("path", ["/handoffs", "/tasks"])
@pytest.mark.parametrize("states", ["", "claimed,", ",", "gone"])
def test_a_filter_that_names_no_state_is_refused(gateway: Gateway, path: str, states: str) -> None:
    reply = gateway.get(human(), path, query=f"state={states}")
    assert (reply.status, reply.fields) == (422, ["state"])


@pytest.mark.parametrize("blank", [" ", "\x85", "\x1f", "\u2003", "\ufeff", " \u3000\t"])
def test_a_reason_of_nothing_but_blanks_is_refused(gateway: Gateway, blank: str) -> None:
    body = {"source": {"agent": "scout"}, "target": {"agent": "auditor", "reason": blank}}
    reply = gateway.post(human(), "/handoffs", body)
    assert (reply.status, reply.fields) == (422, ["target.reason"])
