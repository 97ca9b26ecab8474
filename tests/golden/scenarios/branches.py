"""Work that waits: for the branches that it was split into, or for an answer from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.bodies import EXPECTED, FAILURE, REPORTED, begun, looked_at, say, taken, target

if TYPE_CHECKING:
    from golden.play import Play

BRANCHES = [
    {"call_id": "one", "target": target("fixer"), "summary": "Mend the first", "context": {"state": {"n": 1}}},
    {"call_id": "two", "target": target("scout"), "summary": "Look for a second", "metadata": {"priority": "P1"}},
]


def delegation_joined(play: Play) -> None:
    """Both branches end, and the parent comes back with what they brought."""
    play.crew("scout", "auditor", "fixer")
    parent = begun(play, expectations=EXPECTED)
    say(play, parent, "delegate", {"branches": BRANCHES}, key="d-1")
    say(play, parent, "delegate", {"branches": BRANCHES}, key="d-1")
    for task in play("human:alice", "GET /tasks?state=needs")["items"]:
        play("human:alice", f"POST /tasks/{task['id']}/approve", {})
    play.wait(10)
    say(play, taken(play, "fixer"), "complete", {"output": {"mended": True}})
    say(play, taken(play, "scout"), "fail", {"failure": FAILURE, "retryable": False})
    play.wait(120)
    play.sweep()
    again = taken(play)
    say(play, again, "complete", {"output": "joined", "verification": REPORTED})
    looked_at(play, parent["task"]["id"])
    play("human:alice", f"GET /workflows/{parent['task']['workflow_id']}/chain")


def delegation_to_any(play: Play) -> None:
    """The first that ends is enough; the other is cancelled."""
    play.crew("scout", "auditor", "fixer")
    parent = begun(play)
    say(play, parent, "delegate", {"branches": BRANCHES, "join": {"policy": "any"}})
    for task in play("human:alice", "GET /tasks?state=needs")["items"]:
        play("human:alice", f"POST /tasks/{task['id']}/approve", {})
    play.wait(10)
    say(play, taken(play, "fixer"), "complete", {"output": {"mended": True}})
    play.wait(120)
    play.sweep()
    looked_at(play, parent["task"]["id"])
    play("human:alice", f"GET /workflows/{parent['task']['workflow_id']}/chain")


def cancelled_parent(play: Play) -> None:
    """What it waited for is cancelled after it."""
    play.crew("scout", "auditor", "fixer", waiting_alert_seconds=600)
    parent = begun(play)
    say(play, parent, "delegate", {"branches": BRANCHES})
    play.wait(700)
    play.sweep()
    play("human:alice", "GET /alerts")
    play("human:alice", f"POST /tasks/{parent['task']['id']}/cancel", {"reason": "Not needed"})
    play.wait(120)
    play.sweep()
    looked_at(play, parent["task"]["id"])
    play("human:alice", "GET /tasks?day=2026-11-18")


def errands_that_are_due(play: Play) -> None:
    """What the sweeper will do: a join, and the end of what a cancelled task waited for."""
    play.crew("scout", "auditor", "fixer")
    for summary in ("Joined", "Cancelled"):
        parent = begun(play, summary=summary)
        say(play, parent, "delegate", {"branches": BRANCHES, "join": {"policy": "quorum", "quorum": 1}})
    for task in play("human:alice", "GET /tasks?state=needs")["items"]:
        play("human:alice", f"POST /tasks/{task['id']}/approve", {})
    play.wait(10)
    say(play, taken(play, "fixer"), "complete", {"output": {"mended": True}})
    play("human:alice", f"POST /tasks/{parent['task']['id']}/cancel", {})


def callback(play: Play) -> None:
    """Answered once, and its repeat."""
    play.crew("scout", "auditor")
    claim = begun(play)
    asked = say(
        play, claim, "wait-callback", {"interaction_id": "review-1", "until": "2026-11-19T12:00:00Z"}, key="w-1"
    )
    path = asked["callback"]["url"].removeprefix("https://baton.example")
    play(None, f"POST {path}", {"approved": True, "by": "Ä"})
    play(None, f"POST {path}", {"approved": True, "by": "Ä"})
    play(None, f"POST {path}", {"approved": False})
    play(None, "POST /callbacks/nothing", {})
    again = taken(play)
    say(play, again, "complete", {"output": "answered"})
    looked_at(play, claim["task"]["id"])


def missed_callback(play: Play) -> None:
    play.crew("scout", "auditor")
    claim = begun(play)
    say(play, claim, "wait-callback", {"interaction_id": "review-1", "until": "2026-11-18T13:00:00Z"})
    play.wait(4_000)
    play.sweep()
    looked_at(play, claim["task"]["id"])
    play("human:alice", "GET /alerts?state=open")
