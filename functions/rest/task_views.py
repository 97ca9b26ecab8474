"""Tasks, claims and events as spec/lifecycle.md §8 spells them. The types are what docs/openapi.json is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NotRequired

from typing_extensions import TypedDict

from baton.domain.task import State
from baton.domain.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from baton.domain.events import Event
    from baton.domain.mirror import Mirror
    from baton.domain.task import Claim, Recovery, Task
    from baton.ports import Baton, Dossier, Note
    from baton.services.claim_task import Claimed

StateName = Literal["needs", "delegated", "next", "claimed", "waiting", "done", "failed", "rejected", "cancelled"]


class ClaimView(TypedDict):
    fence: int
    agent: str
    worker: str
    claimed_at: str
    heartbeat_at: str
    expires_at: str


class RecoveryView(TypedDict):
    """Why a task came back."""

    at: str
    reason: str
    prior_agent: str
    prior_worker: str
    prior_fence: int
    last_checkpoint_id: str | None
    action: str


class FailureView(TypedDict):
    """``scripted``: it was a script that failed, not a model."""

    type: Literal["blocker", "error", "timeout", "validation", "capability"]
    description: str
    scripted: NotRequired[bool]


class TrackerView(TypedDict):
    """The task's page in the tracker. ``status``: ``ok`` once the page shows the task; ``pending``, ``denied`` and
    ``error`` are tried again; ``dead`` waits for POST /tracker/retry. ``message``: what is wrong, or what the page had
    to be made without."""

    page_id: str | None
    url: str | None
    status: Literal["ok", "pending", "denied", "error", "dead"]
    message: str


class ListedTask(TypedDict):
    """A task in a list: without its output, failure and recoveries. ``tracker``: null for one that was made while there
    was no tracker."""

    id: str
    state: StateName
    title: str
    source_agent: str
    target_agent: str
    priority: Literal["P0", "P1", "P2"]
    effort: str | None
    created_at: str
    updated_at: str
    ready_at: str | None
    due_date: str | None
    deadline: str | None
    attempt: int
    max_attempts: int
    version: int
    revision: int
    handoff_id: str
    master_task_id: str
    parent_id: str | None
    workflow_id: str
    depth: int
    flags: list[str]
    claim: ClaimView | None
    tracker: TrackerView | None
    url: str


class ChangedTask(ListedTask):
    """The task after a verb: without its recoveries."""

    output: Any
    failure: FailureView | None


class TaskView(ChangedTask):
    """The whole task."""

    recoveries: list[RecoveryView]


class AwaitedTask(TaskView):
    timed_out: bool


class TaskPage(TypedDict):
    items: list[ListedTask]
    next_cursor: str | None


class ClaimAnswer(TypedDict):
    """All that a worker needs. ``claim_id`` is shown here and nowhere else."""

    task: TaskView
    body: dict[str, Any]
    claim_id: str
    fence: int
    expires_at: str
    lease_seconds: int
    recoveries: list[RecoveryView]
    checkpoint: None
    drift: None


class Beat(TypedDict):
    fence: int
    expires_at: str
    state: Literal["claimed"]


class PrincipalView(TypedDict):
    kind: Literal["agent", "human", "service"]
    id: str


class EventView(TypedDict):
    """One entry of the trail. ``hash``: SHA-256 over the canonical JSON of the other fields (without ``prev_hash``),
    followed by ``prev_hash``."""

    seq: int
    at: str
    type: str
    principal: PrincipalView
    fence: int
    data: dict[str, Any]
    prev_hash: str
    hash: str


class Trail(TypedDict):
    events: list[EventView]
    next_after: int


class NoteView(TypedDict):
    id: str
    at: str
    by: str
    content: dict[str, Any]


class NotePage(TypedDict):
    items: list[NoteView]
    next_cursor: str | None


def listed_task(baton: Baton, task: Task, row: Mirror | None) -> ListedTask:
    return {
        "id": task.id,
        "state": task.state.value,
        "title": task.title,
        "source_agent": task.source_agent,
        "target_agent": task.target_agent,
        "priority": task.priority.value,
        "effort": task.effort,
        "created_at": rfc3339(task.created_at),
        "updated_at": rfc3339(task.updated_at),
        "ready_at": when(task.ready_at),
        "due_date": task.due_date.isoformat() if task.due_date else None,
        "deadline": when(task.deadline),
        "attempt": task.attempt,
        "max_attempts": task.max_attempts,
        "version": task.version,
        "revision": task.revision,
        "handoff_id": task.handoff_id,
        "master_task_id": task.master_task_id,
        "parent_id": task.parent_id,
        "workflow_id": task.workflow_id,
        "depth": task.depth,
        "flags": sorted(flag.value for flag in task.flags),
        "claim": claim_view(task.claim) if task.claim else None,
        "tracker": tracker_view(row) if row else None,
        "url": baton.task_url(task.id),
    }


def changed_task(baton: Baton, dossier: Dossier) -> ChangedTask:
    """A task that was done in the end shows no failure of an earlier attempt."""
    failure: Any = None if dossier.task.state is State.DONE else dossier.failure
    return {**listed_task(baton, dossier.task, dossier.mirror), "output": dossier.output, "failure": failure}


def task_view(baton: Baton, dossier: Dossier) -> TaskView:
    return {**changed_task(baton, dossier), "recoveries": recovery_views(dossier.recoveries)}


def tracker_view(row: Mirror) -> TrackerView:
    return {
        "page_id": row.page.id if row.page else None,
        "url": row.page.url if row.page else None,
        "status": row.status.value,
        "message": row.message,
    }


def claim_view(claim: Claim) -> ClaimView:
    return {
        "fence": claim.fence,
        "agent": claim.agent,
        "worker": claim.worker,
        "claimed_at": rfc3339(claim.claimed_at),
        "heartbeat_at": rfc3339(claim.heartbeat_at),
        "expires_at": rfc3339(claim.expires_at),
    }


def recovery_views(recoveries: Iterable[Recovery]) -> list[RecoveryView]:
    return [
        {
            "at": rfc3339(each.at),
            "reason": each.reason,
            "prior_agent": each.prior_agent,
            "prior_worker": each.prior_worker,
            "prior_fence": each.prior_fence,
            "last_checkpoint_id": each.last_checkpoint_id,
            "action": each.action,
        }
        for each in recoveries
    ]


def claim_answer(baton: Baton, claimed: Claimed) -> ClaimAnswer:
    dossier, claim = claimed.dossier, claimed.dossier.task.claim
    if claim is None:
        raise ValueError("a claim's answer needs a claimed task")
    return {
        "task": task_view(baton, dossier),
        "body": dossier.body or {},
        "claim_id": claimed.claim_id,
        "fence": claim.fence,
        "expires_at": rfc3339(claim.expires_at),
        "lease_seconds": claim.lease_seconds,
        "recoveries": recovery_views(dossier.recoveries),
        "checkpoint": None,
        "drift": None,
    }


def beat(claim: Claim) -> Beat:
    return {"fence": claim.fence, "expires_at": rfc3339(claim.expires_at), "state": "claimed"}


def trail(events: tuple[Event, ...], after: int) -> Trail:
    shown: list[Any] = [event.public() for event in events]
    return {"events": shown, "next_after": events[-1].seq if events else after}


def note_view(note: Note) -> NoteView:
    return {"id": note.id, "at": rfc3339(note.at), "by": note.by, "content": note.content}


def when(at: datetime | None) -> str | None:
    return None if at is None else rfc3339(at)
