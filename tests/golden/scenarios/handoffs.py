"""Handoffs by envelope: sent, listed, routed, refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.bodies import EXPECTED, HANDOFF, REPORTED, begun, handed, say, taken, target

if TYPE_CHECKING:
    from golden.play import Play


REPORT = EXPECTED["deliverables"][0]


def handoff(play: Play) -> None:
    play.crew("scout", "auditor")
    body = {
        **HANDOFF,
        "target": target("Auditor", "The repository needs an audit"),
        "expectations": {**EXPECTED, "estimated_duration": "2h", "deadline": "2026-11-20T12:00:00+01:00"},
        "rollback": {"on_failure": "scout", "failure_context": ["The log"]},
        "budget": {"max_handoffs": 5, "max_model_calls": 10, "max_tokens": 10_000},
    }
    made = play("agent:scout", "POST /handoffs", body, key="h-1")
    play("agent:scout", "POST /handoffs", body, key="h-1")
    play("agent:scout", "POST /handoffs", {**body, "target": target("nobody")})
    play("agent:scout", "POST /handoffs", {**body, "metadata": {"priority": "P9"}, "surprise": 1})
    play("human:alice", f"GET /handoffs/{made['handoff']['handoff_id']}")
    play("human:alice", "GET /handoffs?limit=5")
    play("human:alice", "GET /tasks/search?label=TEAM%3Dblue")
    play("agent:scout", "GET /tasks/search?q=audit&since=2026-11-01T00:00:00Z&limit=1")
    play("agent:fixer", "GET /tasks/search?q=audit&agent=auditor")
    play(
        "human:alice",
        "GET /tasks/search?by=scout&kind=transfer,retry&priority=P0&state=needs&since=2026-11-18T00:00:00Z",
    )
    play("human:alice", f"GET /handoffs?workflow={made['task']['workflow_id']}&state=needs")
    play("human:alice", "GET /handoffs?target=auditor&since=2026-11-18T00:00:00Z")
    play("agent:auditor", f"GET /tasks/{made['task']['id']}")


def open_work(play: Play) -> None:
    """For whom it fits, by what it needs."""
    play.crew("scout", "auditor", "fixer")
    needed = {**HANDOFF, "target": target(None, "Whoever can"), "expectations": EXPECTED}
    play("agent:scout", "POST /handoffs", {**needed, "expectations": {"deliverables": [{**REPORT, "type": "poem"}]}})
    task = play("agent:scout", "POST /handoffs", needed)["task"]["id"]
    play("human:alice", f"POST /tasks/{task}/approve", {})
    play.wait(10)
    play("agent:auditor", "GET /agents/auditor/pending")
    play("agent:fixer", f"POST /tasks/{task}/claim", {})
    claim = taken(play)
    say(play, claim, "complete", {"output": "done", "verification": REPORTED})
    other = play("agent:scout", "POST /handoffs", {**needed, "summary": "Another"})["task"]["id"]
    play("human:alice", f"POST /tasks/{other}/approve", {})


def routed_work(play: Play) -> None:
    """A human's standing word of where work of a type goes."""
    play.crew("scout", "auditor", "fixer")
    for mode in ("dispatch", "next", "manual"):
        route = {"agent": "auditor", "mode": mode, "dispatch_rank": 7}
        play("human:alice", f"PUT /routes/audit-{mode}", {**route, "version": 0})
        body = {**HANDOFF, "work_type": f"audit-{mode}", "summary": f"By {mode}"}
        play("agent:scout", "POST /handoffs", body)
        play("agent:scout", "POST /handoffs", {**body, "target": target(None, "Whoever it is")})
    play("human:alice", "PUT /routes/audit-manual", {"agent": "fixer", "mode": "manual", "version": 1})
    play("human:alice", "PUT /routes/audit-manual", {"agent": "fixer", "mode": "manual", "version": 1})
    play("agent:scout", "GET /routes")
    play("agent:scout", "GET /routes/audit-next")
    play("human:alice", "DELETE /routes/audit-next")
    play("human:alice", "GET /routes/audit-next")


def loop_guard(play: Play) -> None:
    """A chain that comes back too often, or goes too deep, isn't lengthened."""
    play.crew("scout", "auditor", "fixer", max_depth=3, max_same_direction=2, root_handoffs_per_hour=3)
    claim = begun(play)
    say(play, claim, "transfer", {"target": target("fixer")})
    for task in play("human:alice", "GET /tasks?state=needs")["items"]:
        play("human:alice", f"POST /tasks/{task['id']}/approve", {})
    play.wait(10)
    second = taken(play, "fixer")
    say(play, second, "transfer", {"target": target("auditor")})
    for task in play("human:alice", "GET /tasks?state=needs")["items"]:
        play("human:alice", f"POST /tasks/{task['id']}/approve", {})
    play.wait(10)
    say(play, taken(play), "transfer", {"target": target("fixer")})
    for number in range(4):
        play("agent:scout", "POST /handoffs", {**HANDOFF, "summary": f"Root {number}"})
    play("human:alice", "GET /alerts")


def guarded_texts(play: Play) -> None:
    """Secrets are refused or masked, and so is what a workspace forbids."""
    play.crew("scout", "auditor")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for rule in ("refuse", "mask"):
        guardrails = {"secrets": rule, "forbidden_patterns": ["*forbidden*"], "max_text_characters": 1_000}
        play("human:alice", "PUT /workspace/settings", {"guardrails": guardrails})
        play("agent:scout", "POST /handoffs", {**HANDOFF, "summary": f"It is {secret}"})
        play("agent:scout", "POST /handoffs", {**HANDOFF, "summary": "This is forbidden"})
        play("agent:scout", "POST /handoffs", {**HANDOFF, "summary": "x" * 1_001})
    play("human:alice", "GET /workspace/settings")


def dated_work(play: Play) -> None:
    """Not before a day, and failed once its deadline has passed."""
    play.crew("scout", "auditor")
    late = handed(play, metadata={"not_before": "2026-11-18T13:00:00Z"})
    hard = {"deadline": "2026-11-18T14:00:00Z", "fail_on_deadline": True}
    handed(play, summary="Hard", expectations=hard)
    claim = taken(play)
    say(play, claim, "heartbeat", {"lease_seconds": 9_000})
    say(play, claim, "release")
    soft = handed(play, summary="Soft", expectations={"deadline": "2026-11-18T14:00:00Z"})
    play.wait(7_300)
    play.sweep()
    play("human:alice", "GET /tasks?day=2026-11-18")
    play("human:alice", f"GET /tasks/{late}/events")
    play("human:alice", f"GET /tasks/{soft}/events")
    play("human:alice", "GET /alerts")
