"""Handoffs as JSON: the stored message and its outcome. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.handoffs.handoff import status_of
from baton.domain.memory.taken_along import KEPT
from baton.domain.tasks.task import Kind, Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.memory.shown_message import shown_message
from rest import pages
from rest.claims.memory_views import SnapshotView
from rest.shape import ViewShape
from rest.tasks import outcome_views
from rest.tasks import views as task_views

StatusName = Literal["pending", "in_progress", "completed", "failed", "rejected", "cancelled"]


class SourceView(TypedDict):
    """``agent``: a slug, or the principal if it is no agent (``human:alice``)."""

    agent: str
    agent_id: NotRequired[str]
    phase: NotRequired[str]


class TargetView(TypedDict):
    """``agent``: null for open work."""

    agent: str | None
    reason: str


class ResultView(TypedDict):
    description: NotRequired[str]
    status: Literal["completed", "partial", "blocked", "failed"]
    artifacts: NotRequired[list[str]]
    notes: NotRequired[str]


class RollsBackView(TypedDict):
    """The handoff that failed, and its failure. ``checkpoint_id``: the latest checkpoint of its worker."""

    handoff_id: str
    task_id: str
    checkpoint_id: str | None
    failure: outcome_views.FailureRecordView
    rollback_request: dict[str, Any]


class LeftCheckpoint(TypedDict):
    """A saved state. ``by``: the principal that saved it. It isn't approved."""

    step_name: str
    state: dict[str, Any]
    at: str
    by: str


class RetriesView(TypedDict):
    """The handoff that this one retries, as it had ended. ``checkpoint``: its worker's latest one, if it fits in."""

    handoff_id: str
    state: task_views.StateName
    failure: outcome_views.FailureView | None
    checkpoint_id: str | None
    checkpoint: NotRequired[LeftCheckpoint]


class ContinuesView(TypedDict):
    handoff_id: str
    completion_id: str


class PartOfView(TypedDict):
    """The task that a human split, and the number of this part."""

    handoff_id: str
    task_id: str
    number: int


class ConversationPart(TypedDict):
    """The part of a conversation that the receiver gets. ``source``: the agent that handed it over, null for the user;
    ``instructions``: of the handoff tool; ``earlier``: the tasks whose transcripts come with it."""

    history: Literal["full", "last_message", "none"]
    source: str | None
    instructions: str
    earlier: list[task_views.EarlierTaskView]


class ListedHandoff(TypedDict):
    """``status``: in the handoff protocol's words; ``state``, ``revision``, ``digest``: of its task."""

    handoff_id: str
    task_id: str
    workflow_id: str
    kind: task_views.KindName
    status: StatusName
    state: task_views.StateName
    revision: int
    digest: str | None
    title: str
    source_agent: str
    target_agent: str | None
    priority: Literal["P0", "P1", "P2"]
    depth: int
    created_at: str
    updated_at: str
    url: str


class HandoffView(TypedDict):
    """The handoff's message, with every text that its claim brings, and its outcome. ``context``: merged with the
    context of the handoffs before it. ``snapshot``: what its scope saw when it, or the handoff that it follows from,
    was made; ``auto_memories``: so many entries come with its claim; ``input``: the user's message; ``hops``:
    source, target and reason of each handoff before it in its chain; ``left_out``: fields that didn't fit; ``more``:
    every other field; ``revision``, ``digest``: of its task; ``result_status``: of a twining handoff. ``completion``
    and ``failure``: of its task; ``escalation``: the request of a handoff marker; ``rolls_back``, ``retries``,
    ``continues``, ``part_of``: the handoff or task that it came from."""

    handoff_id: str
    task_id: str
    kind: task_views.KindName
    status: StatusName
    state: task_views.StateName
    revision: int
    digest: str | None
    timestamp: str
    source: SourceView
    target: TargetView
    summary: str | None
    results: list[ResultView]
    context: dict[str, Any]
    expectations: dict[str, Any]
    rollback: dict[str, Any] | None
    metadata: dict[str, Any]
    budget: dict[str, Any] | None
    input: NotRequired[task_views.InputView]
    conversation: NotRequired[ConversationPart]
    hops: NotRequired[list[list[str | None]]]
    left_out: NotRequired[list[str]]
    more: NotRequired[dict[str, Any]]
    scope: NotRequired[str]
    snapshot: NotRequired[SnapshotView]
    auto_memories: NotRequired[int]
    result_status: NotRequired[Literal["completed", "partial", "blocked", "failed", "mixed"]]
    escalation: NotRequired[dict[str, Any]]
    rolls_back: NotRequired[RollsBackView]
    retries: NotRequired[RetriesView]
    continues: NotRequired[ContinuesView]
    part_of: NotRequired[PartOfView]
    completion: outcome_views.CompletionView | None
    failure: outcome_views.FailureRecordView | None
    url: str


class HandedOff(TypedDict):
    handoff: HandoffView
    task: task_views.ChangedTask


class SplitView(TypedDict):
    """``task``: the task that was split, now cancelled."""

    task: task_views.ChangedTask
    parts: list[HandedOff]


_ORIGINS = ("retries", "continues", "part_of")
_OF_MEMORY = (*KEPT, "result_status")
_OF_CONVERSATIONS = ("input", "conversation", "left_out")
_PARTS = ("source", "target", "summary", "results", "context", "expectations", "rollback", "metadata", "budget")
_OF_ROLLBACKS = ("rolls_back", "rollback_request", "failure", "failure_id")
# Fields that the view has under other names, or that contain no text of anybody.
_ELSEWHERE = ("handoff_id", "kind", "timestamp", "auto_snapshot", "hops")
_TASK_OF_MARKERS = ("source_agent", "target_agent", "create_task", "task_priority")
_OF_MARKERS = ("text", "source_digest_url", "client_relation_ids", "project_relation_ids")


HandoffPage = pages.of("HandoffPage", ListedHandoff)
_LISTED = ViewShape(ListedHandoff, Task, "task_id kind updated_at status url")


def listed_handoff(deps: Deps, task: Task) -> ListedHandoff:
    return _LISTED(
        task,
        task_id=task.id,
        kind=Kind(task.kind).value,
        updated_at=times.rfc3339(task.meta.updated_at),
        status=status_of(task),
        url=handoff_url(deps, task),
    )


def handoff_view(deps: Deps, by: Principal, details: TaskDetails) -> HandoffView:
    task, body = details.task, shown_message(deps, by, details.body or {})
    view: Any = {
        "handoff_id": task.handoff_id,
        "task_id": task.id,
        "kind": Kind(task.kind).value,
        "status": status_of(task),
        "state": task.state.value,
        "revision": task.revision,
        "digest": task.digest,
        "timestamp": times.rfc3339(task.created_at),
        "source": body.get("source") or {"agent": task.source_agent},
        "target": body.get("target") or {"agent": task.target_agent, "reason": _reason(task, body)},
        "summary": body.get("summary"),
        "results": body.get("results", []),
        "context": body.get("context", {}),
        "expectations": body.get("expectations", {}),
        "rollback": body.get("rollback"),
        "metadata": body.get("metadata") or _metadata(task),
        "budget": body.get("budget"),
        **_origin(task, body),
        "completion": details.completion,
        "failure": None if task.is_done else outcome_views.failure_view(details.failure),
        "url": handoff_url(deps, task),
    }
    shown: HandoffView = view
    return shown


def handed_off(deps: Deps, by: Principal, details: TaskDetails) -> HandedOff:
    return {"handoff": handoff_view(deps, by, details), "task": task_views.changed_task(deps, by, details)}


def handoff_url(deps: Deps, task: Task) -> str:
    return f"{deps.public_url}/handoffs/{task.handoff_id}"


def _reason(task: Task, body: dict[str, Any]) -> str:
    """Returns a marker's reason, or the title of a task that came from the tracker without one."""
    return str(body.get("escalation_reason") or task.title)


def _metadata(task: Task) -> dict[str, Any]:
    return {
        "priority": task.priority.value,
        "workflow_id": task.workflow_id,
        "parent_handoff": None,
        "depth": task.depth,
    }


def _origin(task: Task, body: dict[str, Any]) -> dict[str, Any]:
    found = {name: body[name] for name in (*_OF_MEMORY, *_OF_CONVERSATIONS, *_ORIGINS) if name in body}
    shown = {*_PARTS, *_ELSEWHERE, *found}
    if hops := body.get("hops", ())[:-1]:
        found["hops"] = hops
    if task.is_escalation:
        found["escalation"] = {name: body[name] for name in _OF_MARKERS if name in body}
        shown |= {*_OF_MARKERS, *_TASK_OF_MARKERS, *(() if "target" in body else ("escalation_reason",))}
    if "rolls_back" in body:
        shown |= {*_OF_ROLLBACKS}
        request = body.get("rollback_request") or {}
        failure = {**body["failure"], "failure_id": body["failure_id"]}
        found["rolls_back"] = {**body["rolls_back"], "failure": failure, "rollback_request": request}
    # A field that this view doesn't know is shown nevertheless: a person approves all that the claimer gets.
    if more := {name: value for name, value in body.items() if name not in shown}:
        found["more"] = more
    return found
