"""The demo's scene of an agent that asks before it acts."""

from __future__ import annotations

import time

from tools.demo.stage import Player, Refused, escalate, heading, trail_of

ACTION = {"tool": "refund", "arguments": {"client": "Ada", "amount": 100}}
LONGEST_SECONDS = 30.0


def scene_a_question(player: Player) -> None:
    heading("11. An agent asks before it acts", "A person approves exactly this action, and it is done once.")
    task_id = escalate(player, "releaser", "A client wants their money back", "🟡 Medium", source="inspector")
    player.send("human", "POST", f"/tasks/{task_id}/approve", {}, show=("state", "ready_at"))
    claim_id, path = _claimed(player, task_id), f"/tasks/{task_id}"
    ask = {"claim_id": claim_id, "kind": "action", "text": "The delivery never came", **ACTION}
    asked = player.send("releaser", "POST", f"{path}/ask", ask, show=("id", "outcome", "digest", "never"))
    question = f"{path}/questions/{asked['id']}"
    print("           The person sees the whole action, and approves less. The digest says what they had before them:")
    approval = {"outcome": "approved", "digest": asked["digest"], "arguments": {"client": "Ada", "amount": 50}}
    approved = player.send("human", "POST", f"{question}/answer", approval, show=("outcome", "approved_digest"))
    print("           What was asked for isn't what was approved. And what was approved is used once:")
    use = {"claim_id": claim_id, "digest": asked["digest"]}
    player.send("releaser", "POST", f"{question}/use", use, show=("code", "detail"), refused=True)
    use = {"claim_id": claim_id, "digest": approved["approved_digest"]}
    player.send("releaser", "POST", f"{question}/use", use, show=("outcome", "used_at"))
    player.send("releaser", "POST", f"{question}/use", use, show=("code", "detail"), refused=True)
    done = {"claim_id": claim_id, "output": {"refunded": 50}}
    player.send("releaser", "POST", f"{path}/complete", done, show=("state",))
    trail_of(player, task_id)


def _claimed(player: Player, task_id: str) -> str:
    """The claim's id, once the undo window is over."""
    end = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < end:
        with player.stack.http(player.tokens["releaser"]) as client:
            reply = client.post(f"/tasks/{task_id}/claim", json={"worker": "asker"})
        if reply.status_code == 200:
            return str(reply.json()["claim_id"])
        time.sleep(0.5)
    raise Refused(f"{task_id} could not be claimed: {reply.text}")
