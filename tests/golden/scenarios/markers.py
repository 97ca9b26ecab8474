"""Escalations by marker: the block, the task, and what holds them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.bodies import MARKER

if TYPE_CHECKING:
    from golden.play import Play


def marker(play: Play) -> None:
    """Made, repeated by key, prevented as a duplicate, as text only, and refused."""
    play.crew("scout", "auditor")
    play("agent:scout", "POST /handoff-markers", MARKER, key="m-1")
    play("agent:scout", "POST /handoff-markers", MARKER, key="m-1")
    play("agent:scout", "POST /handoff-markers", {**MARKER, "escalation_reason": "Another"}, key="m-1")
    play("agent:scout", "POST /handoff-markers", MARKER)
    play("agent:scout", "POST /handoff-markers", {**MARKER, "create_task": False})
    play("agent:scout", "POST /handoff-markers", {**MARKER, "target_agent": "nobody"})
    play("agent:auditor", "POST /handoff-markers", MARKER)
    play(None, "POST /handoff-markers", MARKER)
    play("human:alice", "POST /handoff-markers", "not json")


def capped_direction(play: Play) -> None:
    """The third in a window becomes a review, the next one its note; a human releases it."""
    play.crew("scout", "auditor")
    for _ in range(2):
        made = play("human:alice", "POST /handoff-markers", MARKER)
        play("human:alice", f"POST /tasks/{made['task_id']}/cancel", {"reason": "not needed"})
    for number in (3, 4):
        play(
            "agent:scout",
            "POST /handoff-markers",
            {**MARKER, "escalation_reason": f"Number {number}"},
            key=f"k{number}",
        )
    (review,) = play("human:alice", "GET /manual-reviews")["items"]
    play("human:alice", f"GET /manual-reviews/{review['id']}")
    play("agent:scout", f"POST /manual-reviews/{review['id']}/release", {})
    play("human:alice", f"POST /manual-reviews/{review['id']}/release", {"version": 2}, key="r-1")
    play("human:alice", f"POST /manual-reviews/{review['id']}/release", {"version": 2}, key="r-1")


def closed_review(play: Play) -> None:
    """A human wants nothing of it; who asked sees why, and the next request above the cap is a review of its own."""
    play.crew("scout", "auditor")
    with play.quietly():
        for _ in range(2):
            made = play("human:alice", "POST /handoff-markers", MARKER)
            play("human:alice", f"POST /tasks/{made['task_id']}/cancel", {"reason": "not needed"})
    play("agent:scout", "POST /handoff-markers", MARKER)
    (review,) = play("human:alice", "GET /manual-reviews?state=open")["items"]
    path = f"/manual-reviews/{review['id']}"
    play("agent:scout", f"POST {path}/close", {"reason": "Mended by hand"})
    play("human:alice", f"POST {path}/close", {"version": 2, "reason": "Mended by hand"})
    play("human:alice", f"POST {path}/close", {"version": 1, "reason": "Mended by hand"}, key="c-1")
    play("human:alice", f"POST {path}/close", {"version": 1, "reason": "Mended by hand"}, key="c-1")
    play("human:bob", f"POST {path}/release", {})
    play("agent:scout", f"GET {path}")
    play("agent:scout", "POST /handoff-markers", MARKER)
    play("human:alice", "GET /manual-reviews?state=closed")
    play("human:alice", "GET /manual-reviews?state=open")


def marker_for_an_agent_that_runs(play: Play) -> None:
    """Its standing approval sends it on at once, and the notice has it run."""
    play.crew("scout", "runner")
    play.environment.bedrock.parts["runner"] = [[{"text": "Nothing to be found."}]]
    made = play("agent:scout", "POST /handoff-markers", {**MARKER, "target_agent": "runner"})
    play.wait(5)
    play.ring()
    play("agent:scout", f"GET /tasks/{made['task_id']}")
    play.stream()
