"""The demo's scene of a worker that waits by the bell."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from baton_client.bell import Bell, BellTimes
from baton_client.profiles import Profile
from tools.demo.stage import Player, Refused, escalate, heading

CLAIMS = "/agents/releaser/claims"
LONGEST_SECONDS = 30.0


def scene_the_bell(player: Player) -> None:
    heading("10. Waiting costs nothing", "An idle worker listens, and is rung before there is something to do.")
    task_id = escalate(player, "releaser", "The release notes of v2.4 are unread", "🟡 Medium", source="inspector")
    profile = Profile("", player.stack.api_url, player.tokens["releaser"])
    reasons = [f"the bell didn't answer within {LONGEST_SECONDS:.0f} s"]
    # A busy machine needs its time until the bell is open.
    with Bell(
        profile,
        "work:releaser",
        lambda said: reasons.append(said.partition(": asking")[0]),
        BellTimes(patience=LONGEST_SECONDS),
    ) as bell:
        print("           A worker looks once, finds nothing, and listens. This is how `baton worker` waits:")
        player.send("releaser", "POST", CLAIMS, {"worker": "listener"})
        if not bell.wait(3):  # nothing is due, so the time passes
            return _skip(player, task_id, reasons[-1])
        approved = player.send("human", "POST", f"/tasks/{task_id}/approve", {}, show=("state", "ready_at"))
        found = _claimed(player, bell)
    if found is None:
        return _skip(player, task_id, reasons[-1])
    claim, looks = found
    if claim["task"]["id"] != task_id:
        raise Refused("another task was claimed")
    late = _at(claim["task"]["claim"]["claimed_at"]) - _at(approved["ready_at"])
    print(f"           Rung ahead, and claimed {late * 1000:.0f} ms after it was ready; {looks} polls meanwhile.")
    done = {"claim_id": claim["claim_id"], "output": "read"}
    player.send("releaser", "POST", f"/tasks/{task_id}/complete", done, show=("state",))
    return None


def _skip(player: Player, task_id: str, why: str) -> None:
    """Ends the scene without a bell, and leaves no open task to the next scene."""
    print(f"           Skipped: {why}. Workers poll instead. The human cancels the task:")
    body = {"reason": "the demo's scene was skipped"}
    player.send("human", "POST", f"/tasks/{task_id}/cancel", body, show=("state",))


def _claimed(player: Player, bell: Bell) -> tuple[Any, int] | None:
    """Returns the claim, and how many polls before found nothing; None if the bell was lost."""
    end, looks = time.monotonic() + LONGEST_SECONDS, 0
    while bell.wait(LONGEST_SECONDS) and time.monotonic() < end:
        claim = player.send("releaser", "POST", CLAIMS, {"worker": "listener"}, show=("fence", "lease_seconds"))
        if claim:
            return claim, looks
        looks += 1
    return None


def _at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
