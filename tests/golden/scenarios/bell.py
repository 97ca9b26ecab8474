"""Who listens to the bell, and what they hear."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from golden.bodies import handed

if TYPE_CHECKING:
    from golden.play import Play


def listening(play: Play) -> None:
    """By a token and by a ticket: work, a task, the lists and an inbox. One is revoked, the others leave."""
    play.crew("scout", "auditor")
    play("agent:auditor", "GET /bell")
    play.connect("agent:auditor", "worker=", "work:auditor")
    play.connect("agent:auditor", "spy=", "inbox:scout")
    play.connect("human:bob@other", "stranger=", "work:auditor")
    play.connect("agent:scout", "inbox=", "inbox:scout")
    play.connect("human:alice", "nonsense=", "all")
    ticket = play("human:alice", "POST /bell/tickets", {})["ticket"]
    protocols = {"Sec-WebSocket-Protocol": f"baton, baton.ticket.{ticket}", "Origin": "https://baton.example"}
    play.connect(None, "elsewhere=", "lists", **{**protocols, "Origin": "https://elsewhere.example"})
    play.connect(None, "page=", "lists", **protocols)
    play.connect(None, "again=", "lists", **protocols)
    task = handed(play, by="agent:scout")
    play.connect("agent:scout", "task=", f"task:{task}")
    play("human:alice", f"POST /tasks/{task}/approve", {"revision": 1})
    play("agent:auditor", "POST /agents/auditor/claims", {"worker": "w-1"})
    play.ring_the_bell()
    play.look("worker=")
    play.ring_the_bell(json.dumps({"workspace": "acme", "task_id": task, "number": 2}), "nonsense")
    play.wait(30)
    claim = play("agent:auditor", "POST /agents/auditor/claims", {"worker": "w-1"})["claim_id"]
    play("agent:auditor", "POST /agents/auditor/claims", {"worker": "w-2"})
    play.ring_the_bell()
    play("agent:auditor", f"POST /tasks/{task}/complete", {"claim_id": claim, "output": "Done"})
    play.ring_the_bell()
    play("human:alice", "PUT /agents/auditor", {"active": False})
    play.ring_the_bell()
    for each in ("page=", "inbox=", "nobody="):
        play.disconnect(each)
    play.look("page=")
