"""The screens of a task, of a claim, and of the parts of a split."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from baton_cli.screen import Screen
from baton_cli.screens import message, needed
from baton_cli.screens.states import shown
from baton_cli.text import one_line
from baton_client import numbers


def show(screen: Screen, task: dict[str, Any], handoff: dict[str, Any] | None = None) -> None:
    """Draws a task. ``handoff``: what the task asks for; None if the profile may not read it."""
    screen.title(f"Task {task['id']}")
    screen.line(one_line(task["title"]))
    screen.line()
    status = shown(task["state"])
    screen.line(f"From: {task['source_agent']} → To: {task['target_agent'] or 'any agent'}")
    screen.line(f"Status: {status.text}", status.style)
    screen.pairs(_facts(screen, task))
    if handoff is not None:
        screen.marked("Asks:", handoff["target"]["reason"])
        message.asked(screen, handoff, message.Cut())
    for title, value in (
        ("Input", (task.get("input") or {}).get("message")),
        ("Context", task.get("context") if handoff is None else None),
        ("Output", task["output"]),
    ):
        if value not in (None, {}, []):
            screen.heading(title)
            screen.line(written(value), indent=2)
    _failure(screen, task["failure"])
    _recoveries(screen, task.get("recoveries") or [])
    is_held = task["state"] in needed.READY and bool(task.get("held"))
    if step := _NEXT.get("held" if is_held else task["state"]):
        screen.line()
        screen.unwrapped(f"next: {step.format(id=task['id'], revision=task['revision'])}", "dim")


_NEXT = {
    "needs": "a human decides: baton approvals, or baton tasks approve {id} --revision {revision}",
    "held": "people approve it: baton approvals, or baton tasks approve {id} --revision {revision}",
    "delegated": "its agent takes it: baton tasks claim {id}",
    "next": "its worker takes it: baton tasks claim {id}",
    "claimed": "baton await {id}",
    "waiting": "baton await {id}",
    "failed": "baton tasks retry {id}",
    "rejected": "baton tasks retry {id}",
}


def _facts(screen: Screen, task: dict[str, Any]) -> Iterator[tuple[str, str]]:
    claim, wait = task["claim"], task["wait"]
    yield from needed.needed(task)
    yield "Priority", task["priority"]
    yield "Attempt", f"{task['attempt']} of {task['max_attempts']}" if task["attempt"] else ""
    if claim:
        worker = f" ({claim['worker']})" if claim["worker"] else ""
        yield (
            "Claimed by",
            f"{claim['agent']}{worker}, heard {screen.ago(claim['heartbeat_at'])}, fence {claim['fence']}",
        )
        yield "Lease ends", screen.when(claim["expires_at"])
    if wait:
        yield "Waits for", f"{wait['for']}, since {screen.ago(wait['since'])}"
    for label, name in (
        ("Ready", "ready_at"),
        ("Not before", "not_before"),
        ("Deferred", "deferred_until"),
        ("Deadline", "deadline"),
    ):
        yield label, screen.ago(task[name])
    yield "Created", screen.ago(task["created_at"])
    yield "Changed", screen.ago(task["updated_at"])
    yield "Revision", str(task["revision"])
    yield "Digest", task["digest"] or ""
    yield "Flags", ", ".join(task["flags"])
    yield "Handoff", task["handoff_id"]
    yield "Workflow", task["workflow_id"]
    yield "Page", (task["tracker"] or {}).get("url") or ""


def _failure(screen: Screen, failure: dict[str, Any] | None) -> None:
    if failure:
        screen.heading("Failure")
        screen.marked(f"{failure['type']}:", failure["description"], "red")


def _recoveries(screen: Screen, recoveries: list[dict[str, Any]]) -> None:
    if recoveries:
        screen.heading("Recoveries")
        screen.table(
            ("At", "Agent", "Worker", "Reason", "Action"),
            [
                (screen.when(each["at"]), each["prior_agent"], each["prior_worker"], each["reason"], each["action"])
                for each in recoveries
            ],
        )


def claim(screen: Screen, answer: dict[str, Any] | None) -> None:
    """Draws the answer to a claim."""
    if answer is None:
        screen.line("nothing to do", "dim")
        return
    task = answer["task"]
    screen.marked("✓", f"{task['id']} is yours until {answer['expires_at']}", "green")
    screen.pairs(
        (
            ("Claim", answer["claim_id"]),
            ("Title", task["title"]),
            ("From", task["source_agent"]),
            ("Attempt", f"{task['attempt']} of {task['max_attempts']}"),
            ("Checkpoint", (answer["checkpoint"] or {}).get("step_name") or ""),
        )
    )
    _recoveries(screen, answer["recoveries"])
    screen.heading("Body")
    screen.line(written(answer["body"]))
    screen.line()
    screen.unwrapped(f"next: baton tasks complete {task['id']} --claim {answer['claim_id']} --output '…'", "dim")


def split(screen: Screen, answer: dict[str, Any]) -> None:
    screen.line(f"{answer['task']['id']} is {answer['task']['state']}")
    for part in answer["parts"]:
        screen.marked("✓", f"{part['task']['id']}: {part['task']['title']}", "green")


def written(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else numbers.dumps(value, ensure_ascii=False, indent=2)
