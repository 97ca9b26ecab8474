"""What only humans do with what waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.bodies import handed, target

if TYPE_CHECKING:
    from golden.play import Play


def approval_and_undo(play: Play) -> None:
    play.crew("scout", "auditor")
    task = handed(play, by="agent:scout")
    play("agent:scout", f"POST /tasks/{task}/approve", {})
    play("human:alice", f"POST /tasks/{task}/approve", {"revision": 2})
    play("human:alice", f"POST /tasks/{task}/approve", {"revision": 1}, key="a-1")
    play("human:alice", f"POST /tasks/{task}/approve", {"revision": 1}, key="a-1")
    play("human:alice", f"POST /tasks/{task}/undo", {}, key="u-1")
    play("human:alice", f"POST /tasks/{task}/approve-next", {"revision": 1}, key="n-1")
    play("human:alice", f"POST /tasks/{task}/undo", {}, key="u-2")
    play("human:alice", f"POST /tasks/{task}/approve", {})
    play.wait(60)
    play("human:alice", f"POST /tasks/{task}/undo", {})
    play("human:alice", f"GET /tasks/{task}/events")


def several_approvals(play: Play) -> None:
    play.crew("scout", "auditor", "runner")
    first, second, third = (handed(play, by="agent:scout", summary=f"Part {number}") for number in range(3))
    items = [
        {"task_id": first, "revision": 1},
        {"task_id": second, "for": "next"},
        {"task_id": third, "revision": 7},
        {"task_id": "task_unknown"},
    ]
    play("human:alice", "POST /approvals", {"items": items}, key="s-1")
    play("human:alice", "POST /approvals", {"items": items}, key="s-1")
    play("human:alice", "GET /tasks?state=needs")
    play("human:alice", "GET /tasks?state=next")
    play("human:alice", "GET /tasks?day=2026-11-18&limit=2")
    play("human:alice", "GET /tasks?agent=auditor&limit=2")


def deferral_and_dismissal(play: Play) -> None:
    play.crew("scout", "auditor")
    task, other = handed(play, by="agent:scout"), handed(play, by="agent:scout", summary="Another")
    play("human:alice", f"POST /tasks/{task}/defer", {"until": "2026-11-19T12:00:00Z", "revision": 1}, key="d-1")
    play("human:alice", "GET /tasks?state=needs")
    play.wait(90_000)
    play.sweep()
    play("human:alice", "GET /tasks?state=needs")
    play("human:alice", f"POST /tasks/{other}/dismiss", {"reason": "Known already"}, key="d-2")
    play("human:alice", f"POST /tasks/{other}/dismiss", {"reason": "Known already"}, key="d-2")
    play("agent:scout", "GET /agents/scout/inbox")


def split(play: Play) -> None:
    play.crew("scout", "auditor", "fixer")
    task = handed(play, by="agent:scout")
    parts = [
        {"summary": "First half"},
        {"summary": "Second half", "target": target("fixer"), "metadata": {"priority": "P2"}},
    ]
    made = play("human:alice", f"POST /tasks/{task}/split", {"parts": parts, "revision": 1}, key="s-1")
    play("human:alice", f"POST /tasks/{task}/split", {"parts": parts, "revision": 1}, key="s-1")
    play("human:alice", f"POST /tasks/{task}/split", {"parts": parts})
    play("human:alice", f"GET /tasks/{task}/events")
    play("human:alice", f"GET /workflows/{made['task']['workflow_id']}/chain")
    play("human:alice", f"GET /workflows/{made['task']['workflow_id']}/chain?format=text")


def resolution_and_cancellation(play: Play) -> None:
    play.crew("scout", "auditor")
    first, second = handed(play, by="agent:scout"), handed(play, by="agent:scout", summary="Another")
    play("human:alice", f"POST /tasks/{first}/resolve", {"output": {"found": [1, 2.5]}, "reason": "By hand"}, key="r-1")
    play("human:alice", f"POST /tasks/{first}/resolve", {"output": {"found": [1, 2.5]}, "reason": "By hand"}, key="r-1")
    play("agent:auditor", f"POST /tasks/{second}/cancel", {"reason": "Not mine"})
    play("agent:scout", f"POST /tasks/{second}/cancel", {"reason": "Not needed"}, key="c-1")
    play("human:alice", f"POST /tasks/{second}/cancel", {})
    play("agent:scout", f"GET /tasks/{first}")
    play("human:bob@other", f"GET /tasks/{first}")
