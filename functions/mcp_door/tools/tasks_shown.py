"""Tasks and outcomes in the words of a tool's answer."""

from __future__ import annotations

from typing import Any

from mcp_door.tools import texts
from mcp_door.tools.steps import ASK, OWN_CLAIM
from mcp_door.tools.tool import ToolCall

NEXT_STEPS = {
    "delegated": "no agent has taken it yet; await_task waits for its end",
    "next": "no agent has taken it yet; await_task waits for its end",
    "claimed": "it is being worked on; await_task waits for its end",
    "waiting": "it waits for parts, for people or for an answer from outside; await_task waits for its end",
    "done": "use the output",
    "failed": "read the failure; a human or the agent that handed it off may retry it",
    "rejected": "read the reason; hand it to another agent, or change what is asked",
    "cancelled": "nothing more comes of it",
}
# Fields of a shown task that hold others' words.
OTHERS = ("title", "output", "failure")
_HOLDER = ("fence", "worker", "claimed_at", "expires_at")
_BRIEF = ("state", "kind", "title", "source_agent", "target_agent", "priority", "updated_at")


def next_step(call: ToolCall[Any], task: dict[str, Any]) -> str:
    """Returns what there is to do about a task in its state. For one that waits for a human, who decides and where."""
    if task["state"] != "needs":
        return own_claim(call, task) + NEXT_STEPS[task["state"]]
    page = f"{call.caller.deps.public_url}/console/#/tasks/{task['id']}"
    return f"a human has to decide on it, at {page} or with the command baton approvals: {ASK}; await_task waits"


def own_claim(call: ToolCall[Any], task: dict[str, Any]) -> str:
    """Returns how to go on with a claim that the caller may have forgotten: it would wait for itself."""
    claim = task.get("claim")
    return OWN_CLAIM.format(**claim) if claim and claim["agent"] == call.agent else ""


def brief(task: dict[str, Any]) -> dict[str, Any]:
    """``claim``: of a claimed task, who holds it."""
    held = {"claim": {name: task["claim"][name] for name in _HOLDER}} if task.get("claim") else {}
    return {"task_id": task["id"], **{name: task[name] for name in (*_BRIEF, "handoff_id", "workflow_id")}, **held}


def head_lines(task: dict[str, Any]) -> list[str]:
    """Returns what Baton knows of a task. Its title is its author's."""
    source, target = texts.line(task["source_agent"]), texts.line(task["target_agent"] or "any able agent")
    attempts = f"attempt {task['attempt']} of {task['max_attempts']}"
    return [
        f"task_id: {task['id']} · handoff_id: {task['handoff_id']} · workflow_id: {task['workflow_id']}",
        f"title, by {source}: {texts.quoted(task['title'])}",
        f"{task['kind']} from {source} to {target}, priority {task['priority']}, {attempts}",
    ]


def outcome_lines(task: dict[str, Any]) -> list[str]:
    """Returns output and failure, each with its author."""
    author = task["target_agent"] or "its worker"
    shown: list[str] = []
    if task.get("output") is not None:
        shown += texts.block(author, "output", task["output"])
    if task.get("failure") is not None:
        shown += texts.block(author, "failure", task["failure"])
    return shown


def row(task: dict[str, Any]) -> str:
    """Returns a task in one line of a list."""
    to = texts.line(task["target_agent"] or "any able agent")
    by = texts.line(task["source_agent"])
    return f"{task['id']} {task['state']} {task['priority']} {by} → {to} {texts.quoted(task['title'])}{holder(task)}"


def holder(task: dict[str, Any]) -> str:
    """Returns who holds a claimed task. The worker's name is its own word."""
    claim = task.get("claim")
    if not claim:
        return ""
    times = f"since {claim['claimed_at']}, until {claim['expires_at']}"
    return f" · held by worker {texts.quoted(claim['worker'])} {times}, fence {claim['fence']}"
