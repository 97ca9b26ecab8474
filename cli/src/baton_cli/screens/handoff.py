"""A handoff, and lists of them, as the protocol's document draws them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from baton_cli import times
from baton_cli.screen import Screen
from baton_cli.screens import message, needed
from baton_cli.screens.message import label_of, section
from baton_cli.screens.states import ENDED, passed, shown

MOST_NAMED = 3
CHECKS = (("Tests", "tests_passing"), ("Types", "type_check_passing"), ("Lint", "lint_passing"))


def listed(screen: Screen, page: dict[str, Any]) -> None:
    is_active = not any(each["state"] in ENDED for each in page["items"])
    screen.title("Active Handoffs" if is_active else "Handoffs")
    screen.line()
    rows = [
        (
            each["handoff_id"],
            each["source_agent"],
            each["target_agent"] or "any agent",
            shown(each["state"]),
            screen.when(each["created_at"]),
            each["title"],
        )
        for each in page["items"]
    ]
    if rows:
        screen.table(("ID", "From", "To", "Status", "Age", "About"), rows)
    else:
        screen.line("none", "dim")


def whole(screen: Screen, handoff: dict[str, Any], node: dict[str, Any] | None = None) -> None:
    """``node``: its place in the chain, if that may be read: it knows durations and attempts."""
    screen.title(f"Handoff {handoff['handoff_id']}")
    screen.line()
    _head(screen, handoff, node or {})
    message.asked(screen, handoff, message.Cut())
    completion = handoff["completion"] or {}
    section(screen, "Deliverables", _deliverables(completion))
    _verification(screen, completion.get("verification") or {})
    section(screen, "Notes", completion.get("notes") or [])
    _failure(screen, handoff["failure"] or {})
    _continuation(screen, completion.get("continuation") or {})


def _head(screen: Screen, handoff: dict[str, Any], node: dict[str, Any]) -> None:
    to = handoff["target"]["agent"] or "any agent"
    screen.line(f"From: {handoff['source']['agent']} → To: {to}")
    is_partial = (handoff["completion"] or {}).get("status") == "partial"
    status = shown(handoff["state"], is_partial=is_partial)
    screen.line(f"Status: {status.text}", status.style)
    if node.get("duration_seconds") is not None:
        screen.line(f"Duration: {times.length(node['duration_seconds'])}")
    if node.get("attempts", 0) > 1:
        screen.line(f"Attempts: {node['attempts']}")
    screen.marked("Reason:", handoff["target"]["reason"])
    if handoff["kind"] not in {"transfer", "escalation"}:
        screen.line(f"Kind: {handoff['kind']}")
    if (priority := handoff["metadata"].get("priority")) not in {None, "P2"}:
        screen.line(f"Priority: {priority}")
    screen.line(f"Task: {handoff['task_id']}, handed over {screen.ago(handoff['timestamp'])}", "dim")


def _deliverables(completion: dict[str, Any]) -> list[str]:
    delivered = completion.get("deliverables") or []
    lines = []
    for label, name in (("Created", "files_created"), ("Modified", "files_modified"), ("Tests", "tests_created")):
        files = [path for each in delivered for path in each.get(name) or []]
        if files:
            lines.append(f"{label}: {_count(len(files), 'file', 'files')} ({named(files)})")
    lines += [f"{label_of(each['type'])}: {each['description']}" for each in delivered if each.get("description")]
    return lines


def named(files: list[str]) -> str:
    more = len(files) - MOST_NAMED
    return ", ".join(files[:MOST_NAMED]) + (f", and {more} more" if more > 0 else "")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _verification(screen: Screen, verification: dict[str, Any]) -> None:
    if not any(name in verification for _, name in CHECKS):
        return
    screen.heading("Verification")
    for label, name in CHECKS:
        said = passed(verification.get(name))
        screen.marked("-", f"{label}: {said.text}", said.style)


def _failure(screen: Screen, failure: dict[str, Any]) -> None:
    if not failure:
        return
    screen.heading("Failure")
    _each(screen, _failure_lines(failure))
    if rolled := (failure.get("rollback") or {}).get("target_agent"):
        screen.line(f"[ROLLBACK to {rolled}]", "red")


def _failure_lines(failure: dict[str, Any]) -> Iterator[str]:
    yield f"{label_of(failure['type'])}: {failure['description']}"
    for blocker in failure.get("blockers") or []:
        yield f"Blocker: {blocker.get('description') or blocker.get('type') or ''}"
    progress = failure.get("partial_progress") or {}
    for label, name in (("Completed", "completed"), ("Incomplete", "incomplete")):
        if progress.get(name):
            yield f"{label}: {', '.join(progress[name])}"
    for question in (failure.get("rollback_request") or {}).get("questions") or []:
        yield f"Question: {question}"
    if failure.get("checkpoint_id"):
        yield f"Checkpoint: {failure['checkpoint_id']}"


def _each(screen: Screen, lines: Iterator[str]) -> None:
    for each in lines:
        screen.marked("-", each)


def _continuation(screen: Screen, continuation: dict[str, Any]) -> None:
    if not continuation:
        return
    screen.heading("Continuation")
    to = continuation.get("target_agent") or continuation["suggested_next"]
    went = continuation.get("handoff_id") or label_of(continuation.get("status") or "")
    reason = f": {continuation['reason']}" if continuation.get("reason") else ""
    screen.marked("→", f"{to}{reason} {f'({went})' if went else ''}".rstrip())


def created(screen: Screen, answer: dict[str, Any]) -> None:
    handoff, task = answer["handoff"], answer["task"]
    screen.marked(
        "✓", f"{handoff['handoff_id']}: {handoff['source']['agent']} → {task['target_agent'] or 'any agent'}", "green"
    )
    status = shown(task["state"])
    screen.line(f"{task['id']} is {status.text}", indent=2)
    needed.drawn(screen, task)
    if task["state"] == "needs" or task["held"]:
        screen.unwrapped(f"People approve it: baton tasks approve {task['id']}", "dim", indent=2)
    screen.unwrapped(f"The chain: baton handoff history {task['workflow_id']}", "dim", indent=2)


def retried(screen: Screen, answer: dict[str, Any]) -> None:
    handoff = answer["handoff"]
    retries = handoff.get("retries") or {}
    screen.line(f"Retrying handoff {retries.get('handoff_id', '')}...")
    if retries.get("checkpoint_id"):
        screen.marked("-", f"Restoring checkpoint: {retries['checkpoint_id']}")
    screen.marked("-", f"Re-initiating handoff to {handoff['target']['agent'] or 'any agent'}: {handoff['handoff_id']}")
    screen.marked("-", "Context preserved from previous attempt")
