"""A workflow's chain of handoffs as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from api.handoffs import views
from baton.domain import times
from baton.domain.canonical_json import canonical_json
from baton.domain.handoffs.chain import Step
from baton.domain.handoffs.handoff import status_of
from baton.domain.handoffs.loop_guard import Budget
from baton.domain.runs.transcript import Usage
from baton.domain.tasks.task import Kind
from baton.services.handoffs.workflow_chain import WorkflowOverview
from rest.tasks import views as task_views

# A function's answer has at most 6 MB; the rest of a node is under 2 KB.
MAX_SAID_BYTES = 3_000_000
_NO_REPORT: dict[str, Any] = {
    "files": {"created": [], "modified": [], "tests": []},
    "verification": None,
    "failure": None,
    "reason": None,
}


class FilesView(TypedDict):
    created: list[str]
    modified: list[str]
    tests: list[str]


class ChainFailureView(TypedDict):
    """``reason``: of the requested rollback, if it had one of its own."""

    type: str
    description: str
    reason: str | None


class ChainNode(TypedDict):
    """``agent``: the agent that works or worked on it; null for open work that was never claimed. ``started_at``: its
    first claim. ``duration_seconds``: from its first claim to its end, or from the handoff if it was never claimed.
    ``files``, ``verification``: from its completion. ``rollback_target``: the agent that got a handoff because of the
    failure. ``retry_of``: the task that this one retries. ``reason``: the failure's description. ``left_out``: true if
    the answer had no room for the node's report; GET /handoffs/{handoff_id} shows it. ``hidden``: true if the caller
    may not read the task; title and reports are left out."""

    handoff_id: str
    task_id: str
    kind: task_views.KindName
    title: str
    source_agent: str
    target_agent: str | None
    agent: str | None
    status: views.StatusName
    state: task_views.StateName
    depth: int
    created_at: str
    started_at: str | None
    ended_at: str | None
    duration_seconds: float | None
    attempts: int
    files: FilesView
    verification: dict[str, Any] | None
    failure: ChainFailureView | None
    reason: str | None
    rollback_target: str | None
    retry_of: str | None
    left_out: bool
    hidden: bool
    children: list[ChainNode]


class BudgetView(TypedDict):
    """Null where there is no limit. ``model_calls_left``, ``tokens_left``: of the whole workflow."""

    max_handoffs: int | None
    max_model_calls: int | None
    model_calls_left: int | None
    max_tokens: int | None
    tokens_left: int | None
    deadline: str | None


class ChainView(TypedDict):
    """``handoffs``: their number. ``usage``: of the whole workflow; ``budget``: its root's, null without one.
    ``nodes``: the roots, in the order of their creation. A node more than 100 levels deep stands beside its
    ancestor."""

    workflow_id: str
    handoffs: int
    usage: task_views.UsageView
    budget: BudgetView | None
    nodes: list[ChainNode]


def chain_view(workflow: WorkflowOverview) -> ChainView:
    space = _ReportSpace()
    nodes = [_node(root, space) for root in workflow.roots]
    return {
        "workflow_id": workflow.workflow_id,
        "handoffs": _count(workflow.roots),
        "usage": task_views.usage_view(workflow.usage),
        "budget": _budget_view(workflow.budget, workflow.usage),
        "nodes": nodes,
    }


def _budget_view(budget: Budget, usage: Usage) -> BudgetView | None:
    if budget == Budget():
        return None
    return {
        "max_handoffs": budget.max_handoffs,
        "max_model_calls": budget.max_model_calls,
        "model_calls_left": _left(budget.max_model_calls, usage.model_calls),
        "max_tokens": budget.max_tokens,
        "tokens_left": _left(budget.max_tokens, usage.tokens),
        "deadline": task_views.when(budget.deadline),
    }


def _left(most: int | None, used: int) -> int | None:
    return None if most is None else max(0, most - used)


@dataclass
class _ReportSpace:
    """The part of an answer that workers' reports may fill."""

    left: int = MAX_SAID_BYTES  # bytes

    def takes(self, report: dict[str, Any]) -> bool:
        self.left -= len(canonical_json(report).encode())
        return self.left >= 0


def _count(steps: Iterable[Step]) -> int:
    return sum(1 + _count(step.children) for step in steps)


def _node(step: Step, space: _ReportSpace) -> ChainNode:
    task, report = step.task, _report(step)
    is_shown = space.takes(report)
    shown: Any = {
        "handoff_id": task.handoff_id,
        "task_id": task.id,
        "kind": Kind(task.kind).value,
        "title": task.title,
        "source_agent": task.source_agent,
        "target_agent": task.target_agent,
        "agent": step.agent,
        "status": status_of(task),
        "state": task.state.value,
        "depth": task.depth,
        "created_at": times.rfc3339(task.created_at),
        "started_at": task_views.when(task.started_at),
        "ended_at": task_views.when(step.ended_at),
        "duration_seconds": step.duration_seconds,
        "attempts": task.attempt,
        **(report if is_shown else _NO_REPORT),
        "rollback_target": step.rollback_target,
        "retry_of": task.retry_of,
        "left_out": not is_shown,
        "hidden": step.hidden,
        "children": [_node(child, space) for child in step.children],
    }
    node: ChainNode = shown
    return node


def _report(step: Step) -> dict[str, Any]:
    files = step.files
    return {
        "files": {"created": files["created"], "modified": files["modified"], "tests": files["tests"]},
        "verification": step.verification,
        "failure": _failure(step),
        "reason": step.reason,
    }


def _failure(step: Step) -> ChainFailureView | None:
    why = step.why
    if why is None:
        return None
    return {"type": why["type"], "description": why["description"], "reason": step.rollback_reason}
