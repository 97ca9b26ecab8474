"""A workspace as a person finds it in the middle of a day: tasks that wait, run, or have failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from support.worlds.console_server import ConsoleServer
from support.worlds.http_agents import ALICE, CRITERIA, message
from support.worlds.world import agent, marker_body

CONTEXT = {
    "project": {"name": "auth-service", "path": "services/auth", "tech_stack": ["TypeScript", "DynamoDB"]},
    "artifacts": [
        {
            "type": "decision",
            "path": "notes/sessions.txt",
            "description": "Sessions end with the token they came from",
            "rationale": "a revoked token must not live on",
        }
    ],
    "variables": {"branch": "auth-sessions", "ticket": 4127},
}
EXPECTATIONS = {
    "deliverables": [
        {
            "type": "code",
            "description": "The session module, and its tests",
            "files": ["services/auth/sessions.ts"],
            "acceptance_criteria": CRITERIA,
        }
    ],
    "constraints": ["No new dependency", "The public API stays as it is"],
    "estimated_duration": "2 hours",
}


@dataclass
class Desk:
    """``whole``: a task in `needs` with every field that a handoff can have. ``held``: a task that a worker holds, by
    ``claim``. ``failed``: a task that was rolled back. ``review``: the manual review of an escalation beyond its
    direction's cap. ``talk``: a conversation's id. ``entry``: a decision in the memory, with its reason."""

    served: ConsoleServer
    whole: dict[str, Any]
    held: dict[str, Any]
    failed: dict[str, Any]
    review: dict[str, Any]
    talk: str
    entry: dict[str, Any]
    claim: dict[str, Any]


def furnished(served: ConsoleServer) -> Desk:
    hand = served.agents.hand_off
    for reason in ("Add a limit to the sign-in form", "Say which field was wrong", "Log the request id"):
        hand("architect", "auto-code", target={"agent": "auto-code", "reason": reason})
    hand("qa", "auto-code", target={"agent": "auto-code", "reason": "The build is red: test_sessions fails at random"})
    with at_once(served):
        held, claim = _held(served)
        failed = _failed(served)
    whole = hand(
        "architect",
        "auto-code",
        target={"agent": "auto-code", "reason": "Implement sessions for the console"},
        summary="A person's token is exchanged for a session of 15 minutes; the trail goes on naming the person.",
        context=CONTEXT,
        expectations=EXPECTATIONS,
        metadata={"priority": "P0", "effort": "M"},
        budget={"max_handoffs": 12, "max_tokens": 400_000},
        rollback={"on_failure": "architect", "failure_context": ["error_logs"]},
    )
    desk = Desk(served, whole["task"], held, failed, _stopped(served), _talk(served), _known(served), claim)
    served.publish()
    return desk


@contextmanager
def at_once(served: ConsoleServer) -> Iterator[None]:
    """Within it, what is approved can be claimed without an undo window."""
    served.gateway.put(ALICE, "/workspace/settings", {"dispatch_delay_seconds": 0})
    yield
    served.gateway.put(ALICE, "/workspace/settings", {"dispatch_delay_seconds": 3})


def approved(served: ConsoleServer, source: str, target: str, reason: str, **changes: Any) -> dict[str, Any]:
    """Returns a task that a person asked for directly."""
    body = message(source, target, target={"agent": target, "reason": reason}, **changes)
    reply = served.gateway.post(ALICE, "/handoffs", body)
    assert reply.status == 201, reply.text
    task: dict[str, Any] = reply.json["task"]
    return task


def claimed(served: ConsoleServer, slug: str, task_id: str, worker: str = "laptop-3") -> dict[str, Any]:
    reply = served.gateway.post(agent(slug), f"/tasks/{task_id}/claim", {"worker": worker, "lease_seconds": 900})
    assert reply.status == 200, reply.text
    claim: dict[str, Any] = reply.json
    return claim


def _held(served: ConsoleServer) -> tuple[dict[str, Any], dict[str, Any]]:
    task = approved(served, "architect", "qa", "Try the release candidate of 2.4")
    claim = claimed(served, "qa", task["id"])
    served.agents.say(claim, "checkpoints", step_name="smoke tests passed", state={"passed": 41, "left": 12})
    served.agents.say(claim, "notes", text="The staging database is slow today; the suite takes twice as long.")
    return task, claim


def _talk(served: ConsoleServer) -> str:
    """Begins a conversation that waits for its agent, and makes a handoff tool."""
    config = {
        "target_agent": "qa",
        "handoff_instructions": "Be brief.",
        "context_variables": [{"name": "branch", "type": "string", "required": True, "description": "What to try"}],
    }
    tool = {"description": "Hand over to QA once the code is written.", "config": config}
    assert served.gateway.put(ALICE, "/tools/handoff_to_qa", tool).status == 201
    asks = {"agent": "ciso", "message": "Is the new sign-in safe?", "budget": {"max_tokens": 50_000}}
    begun = served.gateway.post(ALICE, "/conversations", asks)
    assert begun.status == 201, begun.text
    conversation_id: str = begun.json["conversation_id"]
    return conversation_id


def _stopped(served: ConsoleServer) -> dict[str, Any]:
    """Makes one escalation too many, after two that were cancelled, which raises an alert."""
    asks = marker_body(source_agent="ciso", target_agent="qa", escalation_reason="The scanner finds a leaked key")
    for _ in range(2):
        made = served.gateway.post(agent("ciso"), "/handoff-markers", asks).json
        served.gateway.post(ALICE, f"/tasks/{made['task_id']}/cancel", {})
    served.gateway.post(agent("ciso"), "/handoff-markers", asks)
    told = {"kind": "leaked-key", "severity": "critical", "message": "A key is in the history of the repository"}
    raised = served.gateway.post(agent("ciso"), "/alerts", told)
    assert raised.status == 201, raised.text
    review: dict[str, Any] = served.gateway.get(ALICE, "/manual-reviews").json["items"][0]
    return review


def _known(served: ConsoleServer) -> dict[str, Any]:
    decided = {
        "entry_type": "decision",
        "scope": "services/queue",
        "summary": "One queue for each kind of work",
        "detail": "A slow kind must not hold up a quick one.",
        "rationale": "Tried with one: the quick ones waited for minutes",
        "tags": ["queue"],
    }
    posted = served.gateway.post(agent("architect"), "/blackboard", decided)
    assert posted.status == 201, posted.text
    entry: dict[str, Any] = posted.json
    return entry


def _failed(served: ConsoleServer) -> dict[str, Any]:
    task = approved(served, "architect", "auto-code", "Move the queue to a standard one")
    claim = claimed(served, "auto-code", task["id"], "laptop-1")
    failure = {
        "type": "blocker",
        "description": "The order of two messages of one group can't be kept",
        "blockers": [
            {"type": "technical", "description": "No group id on a standard queue", "required_to_proceed": True}
        ],
        "partial_progress": {"completed": ["Read the consumers"], "incomplete": ["Change the producer"]},
    }
    asks = {
        "target_agent": "architect",
        "reason": "The design has to change",
        "questions": ["May messages be reordered?"],
    }
    reply = served.agents.say(claim, "fail", failure=failure, rollback_request=asks)
    assert reply.status == 200, reply.text
    return task
