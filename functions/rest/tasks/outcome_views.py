"""How a task ended: the worker's report and Baton's follow-up. The completion and failure messages of
docs/spec/protocol.md §4 and §5 as JSON."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from baton.domain.tasks.failure import failure_in


class SpeakerView(TypedDict):
    agent: str
    agent_id: NotRequired[str]
    phase: NotRequired[str]


class FollowUpView(TypedDict):
    """The result of a rollback. ``created``: a handoff; ``manual_review``: an entry for a human instead;
    ``told_to_waiting_task``: nothing more, as the source waits for the outcome anyway."""

    status: Literal["created", "manual_review", "told_to_waiting_task"]
    handoff_id: NotRequired[str]
    task_id: NotRequired[str]
    target_agent: NotRequired[str | None]
    rule: NotRequired[str]
    review_id: NotRequired[str]


class ContinuationView(TypedDict):
    """The worker's suggestion and, by ``status``, its result: as with a rollback, or why it names no usable agent."""

    suggested_next: str
    reason: NotRequired[str]
    context_for_next: NotRequired[dict[str, Any]]
    status: NotRequired[Literal["created", "manual_review", "unknown_agent", "inactive_agent"]]
    handoff_id: NotRequired[str]
    task_id: NotRequired[str]
    target_agent: NotRequired[str | None]
    rule: NotRequired[str]
    review_id: NotRequired[str]


class CompletionView(TypedDict):
    """``partial``: some acceptance criteria aren't met."""

    completion_id: str
    handoff_id: str
    timestamp: str
    status: Literal["success", "partial"]
    source: SpeakerView
    deliverables: NotRequired[list[dict[str, Any]]]
    verification: NotRequired[dict[str, Any]]
    notes: NotRequired[list[str]]
    results: NotRequired[list[dict[str, Any]]]
    continuation: NotRequired[ContinuationView]


class FailureView(TypedDict):
    """As the worker reported it. ``scripted``: a script failed, not a model. A failure that Baton declares itself, when
    a deadline has passed, has a type and a description only."""

    type: Literal["blocker", "error", "timeout", "validation", "capability"]
    description: str
    scripted: NotRequired[bool]
    blockers: NotRequired[list[dict[str, Any]]]
    partial_progress: NotRequired[dict[str, Any]]


class FailureRecordView(FailureView):
    """The failure with Baton's follow-up. ``checkpoint_id``: of the partial progress, if there was any. ``rollback``:
    its result, once the task has ended."""

    rollback_request: NotRequired[dict[str, Any]]
    failure_id: NotRequired[str]
    handoff_id: NotRequired[str]
    timestamp: NotRequired[str]
    source: NotRequired[SpeakerView]
    checkpoint_id: NotRequired[str | None]
    rollback: NotRequired[FollowUpView]


def failure_view(record: dict[str, Any] | None) -> FailureRecordView | None:
    """Returns the worker's report and Baton's follow-up in one object."""
    if record is None:
        return None
    view: Any = {**failure_in(record), **{name: value for name, value in record.items() if name != "failure"}}
    shown: FailureRecordView = view
    return shown
