"""The chain of a workflow's handoffs, as a tree and as a drawing (docs/spec/protocol.md §7, §9). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from baton.domain.handoffs.handoff import files_of
from baton.domain.one_line import one_line
from baton.domain.task_state import State
from baton.domain.tasks.failure import failure_in
from baton.domain.tasks.task import Kind, Task

# Bounds the depth of a response's JSON. A chain is deeper only without the loop guard.
MAX_LEVELS = 100
WIDTH = 65
LANE = "    "
MAX_REASON_DRAWN = 200
_STATUSES = {
    State.NEEDS: "⏸ Needs Approval",
    State.DELEGATED: "⏳ Pending",
    State.NEXT: "⏳ Pending",
    State.CLAIMED: "🔄 In Progress",
    State.WAITING: "🔄 Waiting",
    State.DONE: "✓ Completed",
    State.FAILED: "⚠️ Failed",
    State.REJECTED: "⚠️ Rejected",
    State.CANCELLED: "✗ Cancelled",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A handoff of a chain, with its outcome."""

    task: Task
    completion: dict[str, Any] | None = None  # the completion record
    failure: dict[str, Any] | None = None  # the failure record
    hidden: bool = False  # the caller may not read the texts
    children: tuple[Step, ...] = field(default=())

    @property
    def agent(self) -> str | None:
        """The agent that works on it or did; None for unclaimed open work."""
        if self.task.claim is not None:
            return self.task.claim.agent
        outcome = self.completion or self.failure or {}
        worker: str | None = (outcome.get("source") or {}).get("agent")
        return worker or self.task.agent

    def without_words(self) -> Step:
        """Returns the step for a caller that may not read its task: agents, state and times, without any text."""
        task = self.task.changed(title=f"Handoff to {self.task.target_agent or 'any agent'}")
        return replace(
            self,
            task=task,
            completion=_only(self.completion, "source", "status"),
            failure=_only(self.failure, "source", "rollback"),
            hidden=True,
        )

    @property
    def ended_at(self) -> datetime | None:
        return self.task.meta.updated_at if self.task.is_ended else None

    @property
    def duration_seconds(self) -> float | None:
        """From the first claim, or from the handoff if there was no claim, to the end. None before the end."""
        if self.ended_at is None:
            return None
        return (self.ended_at - (self.task.started_at or self.task.created_at)).total_seconds()

    @property
    def files(self) -> dict[str, list[str]]:
        return files_of(self.completion)

    @property
    def verification(self) -> dict[str, Any] | None:
        return (self.completion or {}).get("verification")

    @property
    def why(self) -> dict[str, Any] | None:
        """The failure; None if the texts are hidden or the task was done in the end."""
        if self.failure is None or self.hidden or self.task.is_done:
            return None
        return failure_in(self.failure)

    @property
    def reason(self) -> str | None:
        return (self.why or {}).get("description")

    @property
    def rollback_target(self) -> str | None:
        """The agent that the rollback handoff went to."""
        return ((self.failure or {}).get("rollback") or {}).get("target_agent")

    @property
    def rollback_reason(self) -> str | None:
        return ((self.failure or {}).get("rollback_request") or {}).get("reason")

    @property
    def is_partial(self) -> bool:
        return (self.completion or {}).get("status") == "partial"


def _only(record: dict[str, Any] | None, *names: str) -> dict[str, Any] | None:
    return None if record is None else {name: record[name] for name in names if name in record}


def tree(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Returns the roots in the order of their creation, with their descendants. ``steps``: without children. A step
    whose parent is missing is a root; a step deeper than ``MAX_LEVELS`` is placed beside its parent."""
    found = {step.task.id: step for step in steps}
    below: dict[str | None, list[str]] = {}
    for task_id in sorted(found):
        parent = found[task_id].task.parent_id
        below.setdefault(parent if parent in found else None, []).append(task_id)
    placed: list[tuple[str, str | None, int]] = [(root, None, 1) for root in below.get(None, ())]
    for task_id, under, level in placed:  # grows during the loop: parents come before their children
        position = (task_id, level + 1) if level < MAX_LEVELS else (under, level)
        placed += [(child, *position) for child in below.get(task_id, ())]
    grown: dict[str | None, tuple[Step, ...]] = {}
    for task_id, under, _ in reversed(placed):
        step = replace(found[task_id], children=grown.get(task_id, ()))
        grown[under] = (step, *grown.get(under, ()))
    return grown.get(None, ())


def drawn(workflow_id: str, roots: tuple[Step, ...]) -> str:
    """Returns the drawing: top to bottom in the order of the work, delegated steps one lane to the right."""
    walked = [each for root in roots for each in _walk(root, 0)]
    lines = [f"## Handoff Chain: {workflow_id}", ""]
    for number, (step, lane) in enumerate(walked):
        margin = LANE * lane
        bar = f"{margin}{LANE}│"
        lines += [f"{margin}{_arrow(step.agent or 'any agent', lane)}", bar]
        lines += [f"{bar} {each}".rstrip() for each in _step_lines(step)]
        if number + 1 < len(walked):
            lines.append(f"{margin}{LANE}▼")
    return "\n".join(lines) + "\n"


def _walk(step: Step, lane: int) -> Iterator[tuple[Step, int]]:
    yield step, lane
    for child in step.children:
        yield from _walk(child, lane + (child.task.kind == Kind.DELEGATION))


def _arrow(agent: str, lane: int) -> str:
    room = WIDTH - len(LANE) * lane - len(agent) - len(" ▶")
    return f"{agent} {'─' * max(3, room)}▶"


def _step_lines(step: Step) -> Iterator[str]:
    task, files = step.task, step.files
    yield f"{task.handoff_id}: {one_line(task.title)}"
    yield f"Status: {_STATUSES[task.state]}{' (partial)' if step.is_partial else ''}"
    if task.is_done and step.duration_seconds is not None:
        yield f"Duration: {length(step.duration_seconds)}"
    if files["created"] or files["modified"]:
        yield f"Files: {len(files['created'])} created, {len(files['modified'])} modified"
    if tests := _test_summary(step):
        yield f"Tests: {tests}"
    if step.reason is not None:
        yield f"Reason: {one_line(step.reason)[:MAX_REASON_DRAWN]}"
    if step.rollback_target is not None:
        yield ""
        yield f"[ROLLBACK to {step.rollback_target}]"


def _test_summary(step: Step) -> str:
    created, passing = len(step.files["tests"]), (step.verification or {}).get("tests_passing")
    parts = [f"{created} created"] if created else []
    if isinstance(passing, bool):
        parts.append("passing" if passing else "failing")
    return ", ".join(parts)


def length(seconds: float) -> str:
    """Returns ``45 s``, ``28 min``, ``2 h 5 min`` or ``3 d 4 h``, rounded down."""
    minutes, rest = divmod(int(seconds), 60)
    hours, days = minutes // 60, minutes // 1_440
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{rest} s"
