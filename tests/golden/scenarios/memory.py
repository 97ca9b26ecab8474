"""What the members of a workspace let each other know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.bodies import handed, say, target

if TYPE_CHECKING:
    from golden.play import Play

DECISION: dict[str, Any] = {
    "entry_type": "decision",
    "scope": "src/auth",
    "summary": "Tokens are opaque",
    "detail": "They are looked up with each request.",
    "rationale": "A signed one can't be revoked",
    "tags": ["security", "Prüfung", "security"],
    "relates_to": ["src/auth/token.py"],
}


def snapshots(play: Play) -> None:
    """Taken with a handoff, an escalation, a transfer; compared at the claim."""
    play.crew("scout", "auditor", "fixer")
    first = play("agent:scout", "POST /blackboard", DECISION)["id"]
    play("agent:scout", "POST /blackboard", {"entry_type": "warning", "summary": "The build machine is slow"})
    play("agent:scout", "POST /blackboard", {"entry_type": "finding", "summary": "Tokens are read 40 times a second"})
    play.wait(1)
    handed(play, summary="Audit the tokens", scope="src/auth/jwt", auto_snapshot=True)
    play("human:alice", "POST /blackboard", {**DECISION, "summary": "Tokens are signed", "supersedes": first})
    play(
        "agent:scout", "POST /blackboard", {"entry_type": "warning", "summary": "Keys rotate on Friday", "scope": "src"}
    )
    claim = play("agent:auditor", "POST /agents/auditor/claims", {"worker": "w", "auto_memories": 2})
    play("human:alice", f"GET /handoffs/{claim['task']['handoff_id']}")
    marker = {"source_agent": "scout", "target_agent": "auditor", "escalation_reason": "The tokens leak"}
    asked = {"scope": "src/auth/", "auto_snapshot": True, "auto_memories": 1}
    escalated = {**marker, "source_digest_url": "https://notes.example/1", "task_priority": "P1", **asked}
    play("agent:scout", "POST /handoff-markers", {**escalated, "auto_memories": 6})
    play("agent:scout", "POST /handoff-markers", escalated)
    part = {"target": target("fixer"), "scope": "src", "auto_snapshot": True}
    say(play, claim, "transfer", {**part, "scope": "a//b"})
    say(play, claim, "transfer", part)


def twining(play: Play) -> None:
    """Results handed over with what is known, and told to the blackboard."""
    play.crew("scout", "auditor")
    play("agent:scout", "POST /blackboard", DECISION)
    results = [
        {
            "description": "Read the token store",
            "status": "completed",
            "artifacts": ["notes.md"],
            "notes": "Look twice",
        },
        {"description": "Find the leak", "status": "blocked"},
    ]
    said = {"source_agent": "scout", "scope": "src/auth", "summary": "The token store leaks", "results": results}
    whole = {**said, "target_agent": "auditor"}
    made = play("agent:scout", "POST /twining-handoff", whole, key="t-1")
    play("agent:scout", "POST /twining-handoff", whole, key="t-1")
    play("agent:scout", "POST /twining-handoff", {**said, "results": [], "auto_snapshot": False})
    play("agent:scout", "POST /twining-handoff", {**said, "target_agent": "nobody"})
    play("agent:scout", "POST /twining-handoff", {**said, "results": [{"status": "completed"}]})
    play(None, "POST /twining-handoff", said)
    play("human:alice", f"POST /tasks/task_{made['id'].removeprefix('ho_')}/approve", {})
    play.wait(5)
    claim = play("agent:auditor", "POST /agents/auditor/claims", {})
    play("agent:auditor", "GET /blackboard?entry_type=status")
    say(play, claim, "complete", {"deliverables": [{"type": "fix", "files_modified": ["src/auth/token.py"]}]})
    play("human:alice", "GET /graph?node=agent:auditor&depth=3")
    play("agent:auditor", "GET /graph?node=file:src/auth/token.py&depth=2&since=2026-11-18T00:00:00Z")
    play("agent:auditor", "GET /graph?node=file:unknown.py")
    play("human:alice", "GET /graph/directions")


def blackboard(play: Play) -> None:
    """Posted, listed, superseded, overridden, withdrawn, deleted."""
    play.crew("scout", "auditor")
    first = play("agent:scout", "POST /blackboard", DECISION, key="b-1")["id"]
    play("agent:scout", "POST /blackboard", DECISION, key="b-1")
    play.wait(1)
    warning = {"entry_type": "warning", "summary": "The clock of the build machine is late"}
    warned = play("agent:auditor", "POST /blackboard", warning)["id"]
    play.wait(1)
    second = play("agent:auditor", "POST /blackboard", {**DECISION, "summary": "Signed", "supersedes": first})["id"]
    play("agent:scout", "POST /blackboard", {**DECISION, "supersedes": first})
    play.wait(1)
    third = play("human:alice", "POST /blackboard", {**DECISION, "summary": "Opaque again", "supersedes": second})["id"]
    play("agent:scout", "POST /blackboard", {**DECISION, "supersedes": third})
    play("agent:scout", "POST /blackboard", {**DECISION, "supersedes": warned})
    play("agent:scout", "POST /blackboard", {**DECISION, "supersedes": "ent_unknown"})
    play("agent:scout", "POST /blackboard", {**warning, "rationale": "x"})
    play("agent:scout", "POST /blackboard", {**warning, "scope": "a/../b"})
    play("service:ci", "POST /blackboard", {"entry_type": "status", "summary": "Build 7 is green", "tags": ["build"]})
    play("agent:scout", "GET /blackboard")
    play("agent:scout", "GET /blackboard?limit=2")
    play("agent:scout", "GET /blackboard?scope=src/auth/jwt&entry_type=decision,warning")
    play("agent:scout", "GET /blackboard?scope=src/authz&tag=security")
    play("human:alice", "GET /blackboard?since=2026-11-18T12:00:01Z&until=2026-11-18T12:00:02Z")
    play("human:alice", "GET /blackboard?since=2026-11-18T12:00:01Z&until=2026-11-18T12:00:01Z")
    play("agent:scout", "GET /recall?q=which+tokens+are+looked+up&scope=src/auth/jwt")
    play("agent:scout", "GET /recall?q=clock&entry_type=warning&limit=1")
    play("agent:scout", "GET /recall?q=Pr%C3%BCfung&scope=src/authz")
    play("human:bob@other", "GET /recall?q=tokens")
    play("agent:scout", "GET /recall")
    play("agent:auditor", "GET /why?path=src/auth/jwt/keys.py")
    play("agent:auditor", "GET /why?path=web/token.py")
    play("agent:auditor", "GET /why?path=../x")
    play("agent:scout", f"POST /blackboard/{warned}/withdraw", {})
    play("agent:auditor", f"POST /blackboard/{warned}/withdraw", {"reason": "It was set"}, key="w-1")
    play("agent:auditor", f"POST /blackboard/{warned}/withdraw", {"reason": "It was set"}, key="w-1")
    play("agent:auditor", f"DELETE /blackboard/{warned}")
    play("human:alice", f"DELETE /blackboard/{warned}")
    play("human:alice", f"DELETE /blackboard/{warned}")
    for entry in (first, second, third, warned):
        play("agent:scout", f"GET /blackboard/{entry}")
    play("agent:scout", "GET /blackboard/ent_unknown")
    play("human:bob@other", f"GET /blackboard/{first}")
    play("human:bob@other", "GET /blackboard")
    noise = {"posted_by": "service:ci", "reason": "Noise"}
    play("agent:scout", "POST /blackboard/withdrawals", noise)
    play("human:alice", "POST /blackboard/withdrawals", noise, key="w-2")
    play("human:alice", "POST /blackboard/withdrawals", noise, key="w-2")
