"""Waiting for what people say to a question, under a claim that is kept meanwhile."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from baton_cli import times
from baton_cli.command_context import CommandContext
from baton_cli.failures import ClaimOver, ExitCode
from baton_client.core import FOREVER, Request, with_query

Question = dict[str, Any]
LONGEST_PAUSE_SECONDS = 20.0  # between two heartbeats
MOST = 100
OVER = {"stale_claim", "claim_over", "task_ended"}
EXITS = {
    "answered": ExitCode.OK,
    "approved": ExitCode.OK,
    "refused": ExitCode.REFUSED,
    "revoked": ExitCode.REFUSED,
    "expired": ExitCode.EXPIRED,
    "withdrawn": ExitCode.WITHDRAWN,
}


def path_of(question: Question) -> str:
    return f"/tasks/{question['task_id']}/questions/{question['id']}"


def said(question: Question) -> Question:
    """Returns the question with what its worker needs of the last decision: ``answer``, ``reason``, and the
    ``approved_arguments``, which need not be those that were asked for."""
    last = question["decisions"][-1] if question["decisions"] and question["outcome"] != "open" else {}
    changed = last.get("arguments")
    approved = (question["arguments"] if changed is None else changed) if question["approved_digest"] else None
    return question | {"answer": last.get("answer"), "reason": last.get("reason"), "approved_arguments": approved}


@dataclass
class HeldWait:
    """Looks at a question until it is closed. The trail of its task tells of each decision, so a look is due after each
    entry of it, and when the question's time is over. ``claim_id``: its lease is extended each third of it."""

    app: CommandContext
    claim_id: str
    _after: int = field(default=0, repr=False)  # the trail's last entry that was read

    def until_closed(self, question: Question) -> Question:
        """Returns the question as it is then. Raises ``ClaimOver``, and what the heartbeat is refused with."""
        if question["outcome"] != "open":
            return question
        task_id, pause = question["task_id"], self._pause(question)
        heartbeat = Request[Any]("POST", f"/tasks/{task_id}/heartbeat", {"claim_id": self.claim_id})
        beat_at, client = time.monotonic() + pause, self.app.client.lasting(FOREVER)
        with self.app.bell(f"task:{task_id}") as bell:
            bell.expect(question["until"])
            while question["outcome"] == "open":
                if time.monotonic() >= beat_at:
                    client.call(heartbeat, repeatable=True)
                    beat_at = time.monotonic() + pause
                if not bell.wait(beat_at - time.monotonic()):
                    self._wait(question, beat_at - time.monotonic())
                question = client.get(path_of(question))
        return question

    def _pause(self, question: Question) -> float:
        """Returns the seconds between two heartbeats, by the API's own clock."""
        claim = self.app.client.get(f"/tasks/{question['task_id']}")["claim"]
        if claim is None:
            raise claim_over(question["task_id"])
        lease = times.parsed(claim["expires_at"]) - times.parsed(claim["heartbeat_at"])
        return min(lease.total_seconds() / 3, LONGEST_PAUSE_SECONDS)

    def _wait(self, question: Question, longest: float) -> None:
        """Without a bell: a long poll at the trail, which ends at the question's time at the latest."""
        left = (times.parsed(question["until"]) - self.app.clock()).total_seconds()
        seconds = round(max(0.0, min(longest, max(left, 0.5))), 1)
        path, query = f"/tasks/{question['task_id']}/events", {"after": self._after, "limit": MOST}
        wait = Request[Any]("GET", with_query(f"{path}/wait", {**query, "timeout": seconds}))
        look = Request[Any]("GET", with_query(path, query))
        self._after = self.app.client.wait(wait, look, seconds, FOREVER)["next_after"]


def claim_over(task_id: str) -> ClaimOver:
    why = "its task has ended, or is another worker's: no answer helps this one any more"
    return ClaimOver("the claim is over", why, f"baton tasks show {task_id}")
