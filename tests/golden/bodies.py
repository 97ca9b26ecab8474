"""What several scenarios send, and the first steps that they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from golden.play import Play

Json = dict[str, Any]

MARKER: Json = {
    "source_agent": "scout",
    "target_agent": "auditor",
    "escalation_reason": "Stale spike in CI failures; needs a repo audit — größer als gedacht",
    "source_digest_url": "https://notes.example/digest/1",
    "create_task": True,
    "task_priority": "🔴 High",
    "client_relation_ids": ["1f0a5a5e-28f4-4bb5-9d9e-0c1d2e3f4a5b"],
    "project_relation_ids": ["2f0a5a5e28f44bb59d9e0c1d2e3f4a5b"],
}
CRITERIA = ["Every finding names a file", "No finding is older than a week"]
HANDOFF: Json = {
    "source": {"agent": "scout", "phase": "scouting_complete"},
    "target": {"agent": "auditor", "reason": "The repository needs an audit"},
    "summary": "Audit the repository",
    "results": [{"description": "A list of suspects", "status": "completed", "artifacts": ["suspects.txt"]}],
    "context": {
        "state": {"suspects": 3, "share": 0.5},
        "variables": {"branch": "main"},
        "relevant_memories": ["April"],
    },
    "metadata": {"priority": "P0", "effort": "S", "labels": {"team": "blue"}},
}
EXPECTED: Json = {
    "deliverables": [{"type": "report", "description": "The findings", "acceptance_criteria": CRITERIA}],
    "constraints": ["Read only"],
}
REPORTED: Json = {
    "acceptance_criteria_met": [{"criterion": text, "met": True, "evidence": "See the report"} for text in CRITERIA],
    "tests_passing": True,
}
FAILURE: Json = {"type": "error", "description": "The repository can't be read"}


def target(agent: str | None, reason: str = "Look at it") -> Json:
    return {"agent": agent, "reason": reason}


def handed(play: Play, to: str | None = "auditor", by: str = "human:alice", **changes: Any) -> str:
    """A task by a handoff, and past the time in which its approval could be undone."""
    body = {**HANDOFF, "target": target(to, HANDOFF["target"]["reason"]), **changes}
    made = play(by, "POST /handoffs", body)
    play.wait(5)
    return str(made["task"]["id"])


def taken(play: Play, by: str = "auditor", lease_seconds: int = 300) -> Json:
    """A claim on the agent's best task."""
    body = {"worker": "laptop-1", "lease_seconds": lease_seconds}
    claim: Json = play(f"agent:{by}", f"POST /agents/{by}/claims", body)
    return claim


def begun(play: Play, by: str = "auditor", **changes: Any) -> Json:
    handed(play, by, **changes)
    return taken(play, by)


def say(play: Play, claim: Json, verb: str, body: Json | None = None, key: str | None = None) -> Any:
    """A word of the one that holds the claim."""
    task = claim["task"]
    body = {"claim_id": claim["claim_id"], **(body or {})}
    return play(f"agent:{task['claim']['agent']}", f"POST /tasks/{task['id']}/{verb}", body, key=key)


def looked_at(play: Play, task_id: str, by: str = "human:alice") -> None:
    """The task, and its trail."""
    play(by, f"GET /tasks/{task_id}")
    play(by, f"GET /tasks/{task_id}/events")
