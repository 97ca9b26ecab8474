"""What the sweeper finds, and what the outside is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.bodies import HANDOFF, handed, looked_at, taken

if TYPE_CHECKING:
    from golden.play import Play


def lost_leases(play: Play) -> None:
    """Until the attempts are used up."""
    play.crew("scout", "auditor", max_attempts=2)
    task = handed(play)
    for _ in range(2):
        taken(play)
        play.wait(600)
        play.sweep()
        play.wait(60)
    play.sweep()
    looked_at(play, task)
    play("human:alice", "GET /alerts")


def unclaimed_work(play: Play) -> None:
    """An alarm once; what is run is notified of again."""
    play.crew("scout", "auditor", "runner", unclaimed_alert_seconds=600)
    handed(play)
    handed(play, "runner", summary="Run it")
    for _ in range(3):
        play.wait(400)
        play.sweep()
    play("human:alice", "GET /alerts")


def switched_off_agent(play: Play) -> None:
    play.crew("scout", "auditor")
    waiting, before = handed(play, by="agent:scout"), handed(play, summary="Another")
    play("human:alice", "PUT /agents/auditor", {"active": False, "version": 1})
    play("agent:scout", "POST /handoffs", HANDOFF)
    play("human:alice", f"POST /tasks/{waiting}/approve", {})
    play("agent:auditor", "POST /agents/auditor/claims", {})
    play.wait(120)
    play.sweep()
    looked_at(play, before)
    play("human:alice", "PUT /agents/auditor", {"active": True})
    play("human:alice", "GET /alerts")


def agent_that_a_service_changed(play: Play) -> None:
    """What was approved for it as it was waits for a human; what is approved again names the version that was seen."""
    play.crew("scout", "auditor")
    task = handed(play, by="agent:scout")
    play("human:alice", f"POST /tasks/{task}/approve", {})
    play.wait(60)
    play("service:ci", "PUT /agents/auditor", {"system_prompt": "Another one"})
    play("agent:auditor", "POST /agents/auditor/claims", {})
    looked_at(play, task)
    play("human:alice", f"POST /tasks/{task}/approve", {})
    play.wait(60)
    play("agent:auditor", "POST /agents/auditor/claims", {})
    looked_at(play, task)


def stale_next(play: Play) -> None:
    """What was put off to be next, and isn't begun."""
    play.crew("scout", "auditor")
    task = handed(play, by="agent:scout")
    play("human:alice", f"POST /tasks/{task}/approve-next", {})
    for _ in range(2):
        play.wait(8 * 86_400)
        play.sweep()
    looked_at(play, task)


def published_events(play: Play) -> None:
    """By the stream, and by the schedule what the stream has missed."""
    play.crew("scout", "auditor")
    play.environment.stream.clear()
    task = handed(play)
    play.stream()
    taken(play)
    play.environment.stream.clear()
    play.wait(120)
    play.publish()
    play.publish()
    play("human:alice", f"POST /tasks/{task}/cancel", {"reason": "Not needed"})
    play.stream()
    for path in ("/stats?by=agent", "/stats?by=hour", "/stats/agents", "/agents/auditor/health", "/decisions"):
        play("human:alice", f"GET {path}")


def watched_lists(play: Play) -> None:
    """A list that somebody looks at again and again: made, answered from its watch, made anew after a change."""
    play.crew("scout", "auditor")
    play.environment.stream.clear()
    task = handed(play, by="agent:scout")

    def look() -> None:
        play(
            "human:alice", "GET /tasks?state=needs", headers={"cache-control": "max-age=30", "if-none-match": play.tag}
        )

    for _ in range(2):
        look()
        play.stream()
        play.wait(5)
    look()
    look()
    play("human:alice", f"POST /tasks/{task}/cancel", {"reason": "Not needed"})
    look()
    play.stream()
    look()


def alerts(play: Play) -> None:
    play.crew("scout", "auditor")
    task = handed(play, by="agent:scout")
    body = {"kind": "disk-full", "severity": "warning", "message": "The disk is full"}
    first = play("agent:auditor", "POST /alerts", body, key="a-1")
    play("agent:auditor", "POST /alerts", body, key="a-1")
    about = play("agent:scout", "POST /alerts", {**body, "severity": "critical", "task_id": task})
    play("human:alice", f"POST /alerts/{first['id']}/acknowledge", {"note": "Mine"}, key="k-1")
    play("human:alice", f"POST /alerts/{first['id']}/resolve", {"note": "Emptied"}, key="k-2")
    play("human:alice", f"POST /alerts/{first['id']}/acknowledge", {})
    play("human:alice", f"GET /alerts/{first['id']}")
    play("human:alice", f"POST /alerts/{about['id']}/resolve", {})
    play("human:alice", "GET /alerts?state=resolved")
    play("human:alice", f"GET /alerts?task_id={task}")
    play("agent:auditor", f"GET /alerts/{about['id']}")
    third = play("agent:scout", "POST /alerts", {**body, "kind": "disk-slow"})
    play("human:alice", f"POST /alerts/{third['id']}/snooze", {"until": "2026-11-18T18:00:00Z"}, key="s-1")
    play("human:alice", "GET /alerts?state=open&snoozed=false")
    play("human:alice", f"POST /alerts/{third['id']}/snooze", {"until": None})
    play(None, f"GET /alerts/{third['id']}", headers={"accept": "text/html, */*;q=0.8"})
