"""Work in the middle of which people are asked, and handoffs that more than one of them has to approve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.bodies import begun, handed, looked_at, say, taken

if TYPE_CHECKING:
    from golden.play import Play

REFUND = {"kind": "action", "text": "It came broken", "tool": "refund", "arguments": {"amount": 100, "to": "Ä"}}
SETTINGS = {"groups": {"leads": ["alice", "bert"]}}


def _answered(play: Play, claim: dict[str, Any], question: dict[str, Any], by: str = "human:alice", **said: Any) -> Any:
    path = f"POST /tasks/{claim['task']['id']}/questions/{question['id']}/answer"
    if said.get("outcome", "approved") == "approved":
        said = {"outcome": "approved", "digest": question["digest"], **said}
    return play(by, path, said)


def _used(play: Play, claim: dict[str, Any], question: dict[str, Any], key: str | None = None) -> Any:
    body = {"claim_id": claim["claim_id"], "digest": question["approved_digest"]}
    return play("agent:auditor", f"POST /tasks/{claim['task']['id']}/questions/{question['id']}/use", body, key=key)


def action_approved(play: Play) -> None:
    """By two of a group, the second with other arguments first; used once."""
    play.crew("scout", "auditor", **SETTINGS)
    claim = begun(play)
    task = claim["task"]["id"]
    asked = say(play, claim, "ask", {**REFUND, "group": "leads", "needed": 2}, key="a-1")
    say(play, claim, "ask", {**REFUND, "group": "leads", "needed": 2}, key="a-1")
    play("human:alice", "GET /questions")
    _answered(play, claim, asked, digest="0" * 64)
    _answered(play, claim, asked, by="human:carla")
    _answered(play, claim, asked)
    _answered(play, claim, asked, by="human:bert", arguments={"amount": 50, "to": "Ä"})
    approved = _answered(play, claim, asked, arguments={"amount": 50, "to": "Ä"})
    _used(play, claim, {**approved, "approved_digest": asked["digest"]})
    _used(play, claim, approved, key="u-1")
    _used(play, claim, approved, key="u-1")
    _used(play, claim, approved)
    say(play, claim, "ask", {"kind": "text", "text": "Anything else?"})
    play("human:alice", f"GET /tasks/{task}/questions")
    looked_at(play, task)


def waiting_for_answers(play: Play) -> None:
    """One is answered, one refused, one expires: then the task comes back."""
    play.crew("scout", "auditor")
    claim = begun(play)
    form = {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}, "required": ["size"]}
    until = {"until": "2026-11-18T13:00:00Z"}
    color = say(play, claim, "ask", {"kind": "choice", "text": "Which?", "options": ["red", "blue"]})
    size = say(play, claim, "ask", {"kind": "form", "text": "How large?", "form": form})
    words = say(play, claim, "ask", {"kind": "text", "text": "Why?", **until})
    say(play, claim, "wait-for-answers", {"questions": [color["id"], size["id"], words["id"]]}, key="w-1")
    _answered(play, claim, color, outcome="answered", answer="green")
    _answered(play, claim, color, outcome="answered", answer="blue")
    _answered(play, claim, size, outcome="answered", answer={"size": 0})
    _answered(play, claim, size, outcome="refused", reason="Measure it")
    play.wait(4_000)
    play.sweep()
    again = taken(play)
    say(play, again, "complete", {"output": "answered"})
    looked_at(play, claim["task"]["id"])


def standing_answer(play: Play) -> None:
    """Approves the next one at once; it and an approval are taken back."""
    play.crew("scout", "auditor")
    claim = begun(play)
    task = claim["task"]["id"]
    first = say(play, claim, "ask", REFUND)
    _answered(play, claim, first, standing={"for": "tool", "times": 2})
    second = say(play, claim, "ask", {**REFUND, "arguments": {"amount": 7}})
    _used(play, claim, second)
    third = say(play, claim, "ask", REFUND)
    play("human:alice", f"GET /tasks/{task}/questions/{third['id']}")
    listed = play("human:alice", "GET /standing-answers")["items"]
    play("human:alice", f"POST /tasks/{task}/questions/{third['id']}/revoke", {"reason": "Too much"})
    _used(play, claim, third)
    fourth = say(play, claim, "ask", REFUND)
    _answered(play, claim, fourth, standing={"for": "arguments"})
    listed = play("human:alice", "GET /standing-answers")["items"]
    for each in listed:
        play("human:alice", f"DELETE /standing-answers/{each['id']}")
    say(play, claim, "ask", {"kind": "text", "text": "Anything else?"})
    say(play, claim, "complete", {"output": "done"})
    looked_at(play, task)


def approval_by_rule(play: Play) -> None:
    """Of two leads; nobody decides in time, so that others may, too."""
    rule = {"target": "auditor", "group": "leads", "needed": 2, "remind_after_seconds": 600}
    rules = [{**rule, "then_group": "night", "then_after_seconds": 1_200}]
    play.crew("scout", "auditor", groups={"leads": ["alice", "bert"], "night": ["carla"]}, approval_rules=rules)
    task = handed(play, by="agent:scout")
    play("human:alice", f"POST /tasks/{task}/approve", {"revision": 1}, key="a-1")
    play("human:alice", f"POST /tasks/{task}/approve", {"revision": 1}, key="a-1")
    play("human:alice", f"POST /tasks/{task}/approve", {"revision": 1})
    play("human:carla", f"POST /tasks/{task}/approve", {"revision": 1})
    play.wait(700)
    play.sweep()
    play.wait(600)
    play.sweep()
    play("human:alice", "GET /alerts")
    play("human:carla", f"POST /tasks/{task}/approve", {"revision": 1})
    looked_at(play, task)


def action_by_rule(play: Play) -> None:
    """Two rules about the tool decide who approves, whoever the asker chooses."""
    groups = {"leads": ["alice", "bert"], "finance": ["carla"]}
    rules = [
        {"tool": "refund", "group": "leads", "needed": 2},
        {"tool": "Refund", "target": "auditor", "group": "finance"},
    ]
    play.crew("scout", "auditor", groups=groups, approval_rules=rules)
    claim = begun(play)
    asked = say(play, claim, "ask", {**REFUND, "people": ["dora"]}, key="a-1")
    for by in ("human:dora", "human:alice", "human:carla", "human:bert"):
        _answered(play, claim, asked, by=by)
    _used(play, claim, {**asked, "approved_digest": asked["digest"]})
    looked_at(play, claim["task"]["id"])


def approval_at_the_claim(play: Play) -> None:
    """Open work that one person approved is held back from an agent that a rule guards, until its people approve it."""
    rules = [{"target": "auditor", "people": ["bert", "carla"], "needed": 2}]
    play.crew("scout", "auditor", approval_rules=rules)
    for subject in ("bert", "carla"):
        play("human:alice", "POST /tokens", {"kind": "human", "subject": subject})
    body = {"source": {"agent": "scout"}, "target": {"reason": "Deploy it"}}
    task = play("human:alice", "POST /handoffs", body)["task"]["id"]
    play.wait(5)
    play("agent:auditor", "POST /agents/auditor/claims", {"worker": "w"})
    play("agent:auditor", f"POST /tasks/{task}/claim", {"worker": "w"})
    play("human:alice", f"POST /tasks/{task}/approve", {"revision": 1})
    play("human:bert", "GET /tasks?held=true")
    play("human:bert", f"POST /tasks/{task}/approve", {"revision": 1}, key="a-1")
    play("human:bert", f"POST /tasks/{task}/approve", {"revision": 1}, key="a-1")
    play("human:bert", f"POST /tasks/{task}/approve", {"revision": 1})
    play("human:carla", f"POST /tasks/{task}/approve", {"revision": 1})
    play("agent:auditor", f"POST /tasks/{task}/claim", {"worker": "w"})
    looked_at(play, task)
