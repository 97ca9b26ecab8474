"""What workers do under a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.bodies import EXPECTED, FAILURE, REPORTED, begun, handed, looked_at, say, taken, target

if TYPE_CHECKING:
    from golden.play import Play


def claims(play: Play) -> None:
    """By id, the next one, waiting for one, under permits; and reading what there is."""
    play.crew("scout", "auditor", "fixer")
    first, second = handed(play), handed(play, summary="Another")
    play("agent:auditor", "GET /agents/auditor/pending")
    play("agent:auditor", f"POST /tasks/{second}/claim", {"worker": "w", "lease_seconds": 60}, key="c-1")
    play("agent:auditor", f"POST /tasks/{second}/claim", {"worker": "w", "lease_seconds": 60}, key="c-1")
    play("agent:auditor", f"POST /tasks/{second}/claim", {})
    play("agent:auditor", "GET /agents/auditor/claims")
    play("agent:auditor", f"POST /tasks/{second}/claim", {"worker": "w2", "resume_fence": 1}, key="c-2")
    play("agent:auditor", f"POST /tasks/{second}/claim", {"worker": "w3", "resume_fence": 1})
    play("agent:auditor", "POST /agents/auditor/claims/wait?timeout=1", {"lease_seconds": 600})
    play("agent:auditor", "POST /agents/auditor/claims/wait?timeout=1", {})
    play("agent:auditor", "POST /agents/auditor/claims", {})
    for number in range(3):
        handed(play, "fixer", summary=f"Part {number}")
    for number in range(3):
        play("agent:fixer", "POST /agents/fixer/claims", {}, key=f"c-{number}")
    play("human:alice", f"GET /tasks/{first}/await?state=claimed")
    play("human:alice", f"GET /tasks/{first}/await?timeout=0.5")


def work_to_its_end(play: Play) -> None:
    """Heartbeats, checkpoints, notes, a completion with evidence, its repeat, and what is read of it."""
    play.crew("scout", "auditor")
    claim = begun(play, expectations=EXPECTED)
    task = claim["task"]["id"]
    play.wait(60)
    say(play, claim, "heartbeat")
    say(play, claim, "heartbeat", {"lease_seconds": 900})
    say(play, claim, "checkpoints", {"step_name": "half", "state": {"done": [1, 2], "share": 0.5}}, key="p-1")
    say(play, claim, "checkpoints", {"step_name": "half", "state": {"done": [1, 2], "share": 0.5}}, key="p-1")
    say(play, claim, "notes", {"text": "Half of it is done"}, key="n-1")
    say(play, claim, "run-state", {"state": "e30=", "signature": "ab" * 32}, key="s-1")
    say(play, claim, "run-state", {"state": "e30=", "signature": "ab" * 32}, key="s-1")
    say(play, claim, "complete", {"output": {"found": 2}})
    said = {"output": {"found": 2}, "verification": REPORTED, "notes": ["Mind the gap"], "status": "success"}
    say(play, claim, "complete", said)
    say(play, claim, "complete", said)
    say(play, claim, "complete", {**said, "output": {"found": 3}})
    say(play, claim, "heartbeat")
    looked_at(play, task)
    play("human:alice", f"GET /tasks/{task}/events?after=2&limit=1")
    play("human:alice", f"GET /tasks/{task}/events/wait?after=1&timeout=1")
    play("human:alice", f"GET /tasks/{task}/events/verify")
    play("human:alice", f"GET /tasks/{task}/checkpoints")
    play("human:alice", f"GET /workflows/{claim['task']['workflow_id']}/checkpoints")
    play("human:alice", f"GET /tasks/{task}/notes")
    play("human:alice", f"GET /tasks/{task}/await")
    play("agent:scout", "GET /agents/scout/inbox")


def large_output(play: Play) -> None:
    """Too large for HEAD; its repeat, and what is read of it."""
    play.crew("scout", "auditor")
    claim = begun(play)
    said = {"output": {"report": "Nothing was found. " * 60}, "notes": ["Looked twice"]}
    say(play, claim, "complete", said)
    say(play, claim, "complete", said)
    looked_at(play, claim["task"]["id"])


def failures_and_retries(play: Play) -> None:
    """Tried again after a while, until the attempts are used up; then a human has the whole handed over anew."""
    play.crew("scout", "auditor", max_attempts=2)
    claim = begun(play)
    say(play, claim, "checkpoints", {"step_name": "half", "state": {"done": 1}})
    say(play, claim, "run-state", {"state": "e30=", "signature": "ab" * 32}, key="s-1")
    say(play, claim, "fail", {"failure": FAILURE, "retryable": True}, key="f-1")
    say(play, claim, "fail", {"failure": FAILURE, "retryable": True}, key="f-1")
    taken(play)
    play.wait(60)
    again = taken(play)
    blockers = [{"type": "missing", "description": "No key", "required_to_proceed": True}]
    failure = {**FAILURE, "type": "blocker", "blockers": blockers, "partial_progress": {"completed": ["a"]}}
    say(play, again, "fail", {"failure": failure, "retryable": True, "failure_id": "fail_1"})
    play("human:alice", "GET /alerts")
    handoff = claim["task"]["handoff_id"]
    play("human:alice", f"POST /handoffs/{handoff}/retry", {}, key="r-1")
    play("human:alice", f"POST /handoffs/{handoff}/retry", {}, key="r-1")
    play("human:alice", f"POST /handoffs/{handoff}/retry", {})
    looked_at(play, claim["task"]["id"])


def rollback(play: Play) -> None:
    """A failure that goes back with questions, and a task that is refused."""
    play.crew("scout", "auditor", "fixer")
    claim = begun(play)
    back = {"target_agent": "scout", "reason": "Which one?", "questions": ["This one?", "Or that?"]}
    say(play, claim, "fail", {"failure": FAILURE, "retryable": False, "rollback_request": back})
    looked_at(play, claim["task"]["id"])
    say(play, begun(play, summary="Another"), "reject", {"reason": "Not my field", "rollback_request": back}, key="j-1")
    say(play, begun(play, "fixer", summary="A third"), "reject", {"reason": "Not my field"})
    play("human:alice", "GET /handoffs?target=scout")
    play("agent:scout", "GET /agents/scout/inbox?limit=1")


def release_too_often(play: Play) -> None:
    """The last time, it goes back to a human."""
    play.crew("scout", "auditor")
    with play.quietly():
        task = handed(play)
        for _ in range(8):
            say(play, taken(play), "release")
            play.wait(400)
    for number in range(2):
        say(play, taken(play), "release", {"reason": f"Not now ({number})"}, key=f"l-{number}")
        play.wait(400)
    taken(play)
    play("human:alice", f"GET /tasks/{task}")
    play("human:alice", f"GET /tasks/{task}/events?after=18")


def release_by_a_human(play: Play) -> None:
    """Of the claim that was seen and no other; the worker is refused, and what it said too late is kept."""
    play.crew("scout", "auditor")
    claim = begun(play)
    path = f"POST /tasks/{claim['task']['id']}/release-claim"
    play("agent:auditor", path, {"fence": 1, "reason": "It hangs"})
    play("human:alice", path, {"fence": 2, "reason": "It hangs"}, key="l-1")
    play("human:alice", path, {"fence": 1, "reason": "It hangs"}, key="l-2")
    play("human:alice", path, {"fence": 1, "reason": "It hangs"}, key="l-2")
    play("human:bob", path, {"fence": 1, "reason": "It hangs"})
    say(play, claim, "heartbeat")
    say(play, claim, "complete", {"output": {"too": "late"}})
    play("human:alice", f"GET /tasks/{claim['task']['id']}/late-results")
    say(play, taken(play), "complete", {"output": "in time"})
    looked_at(play, claim["task"]["id"])


def transfer(play: Play) -> None:
    play.crew("scout", "auditor", "fixer")
    claim = begun(play)
    body = {
        "target": target("fixer", "It has to be mended"),
        "summary": "Mend it",
        "results": [{"description": "Found it", "status": "partial", "notes": "In main"}],
        "context": {"state": {"line": 7}},
        "metadata": {"priority": "P2"},
    }
    say(play, claim, "transfer", body, key="t-1")
    say(play, claim, "transfer", body, key="t-1")
    say(play, claim, "complete", {"output": 1})
    play("human:alice", f"GET /workflows/{claim['task']['workflow_id']}/chain")
    looked_at(play, claim["task"]["id"])


def continuation(play: Play) -> None:
    play.crew("scout", "auditor", "fixer")
    claim = begun(play)
    after = {"suggested_next": "Fixer", "reason": "Mend it", "context_for_next": {"focus_areas": ["main"]}}
    done = say(play, claim, "complete", {"output": "found", "continuation": after}, key="c-1")
    play("human:alice", f"GET /handoffs/{claim['task']['handoff_id']}")
    play("human:alice", f"GET /tasks/{done['id']}")
    play("human:alice", "GET /agents/fixer/pending")
    other = begun(play, summary="Another")
    say(play, other, "complete", {"continuation": {"suggested_next": "nobody"}})
    play("human:alice", "GET /handoffs?source=auditor&limit=1")


def late_result(play: Play) -> None:
    """Of a worker whose lease was over."""
    play.crew("scout", "auditor")
    claim = begun(play)
    play.wait(3_600)
    play.sweep()
    say(play, claim, "complete", {"output": {"too": "late"}})
    say(play, claim, "complete", {"output": {"too": "late"}})
    play("human:alice", f"GET /tasks/{claim['task']['id']}/late-results")
    again = taken(play)
    say(play, again, "complete", {"output": "in time"})
    looked_at(play, claim["task"]["id"])
