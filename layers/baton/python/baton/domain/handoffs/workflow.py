"""What a workflow has besides tasks: checkpoints, claims, background jobs, root handoffs, inbox items, late results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from baton.domain import errors, times
from baton.domain.settings.settings import Settings
from baton.domain.tasks import tail
from baton.domain.tasks.task import Claim, Task

HOUR = times.seconds(3_600)
ANY_AGENT = "*"
ROOT_RATE = "root_rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A saved state that a later attempt continues from (docs/spec/protocol.md §6). ``agent``: that of the claim; None
    for one of an earlier release."""

    id: str
    workflow_id: str
    task_id: str
    step_name: str
    state: dict[str, Any]
    at: datetime
    by: str
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """The saved state of a framework's run (docs/spec/protocol.md §6). ``state`` and ``signature``: as the worker
    program wrote them. Baton can't check the signature: the key stays with the program. ``by``, ``agent``, ``fence``:
    the claim that saved it."""

    id: str
    task_id: str
    state: str
    signature: str
    by: str
    agent: str
    fence: int
    at: datetime

    def is_of(self, claim: Claim) -> bool:
        """True if the claim's holder saved it, or an earlier claim of the same agent and principal."""
        return (self.agent, self.by) == (claim.agent, claim.principal)


@dataclass(frozen=True, slots=True)
class WorkflowMember:
    """A task of a workflow and its parent."""

    task_id: str
    parent_id: str | None


@dataclass(frozen=True, slots=True)
class HeldClaim:
    """A live claim, found by its agent."""

    task_id: str
    claim_id: str
    workflow_id: str


class JobKind(StrEnum):
    """The kind of a background job. A job is stored until it is done, however often it is interrupted."""

    JOIN = "join"  # resume the task whose branches have ended
    CASCADE = "cascade"  # cancel the task's descendants


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundJob:
    """Work that the system still has to do about a task."""

    kind: JobKind
    task_id: str
    stamp: str  # new with every new reason: a job is removed only with the stamp that was read
    at: datetime
    data: dict[str, Any]  # who caused it, and why


@dataclass(frozen=True, slots=True)
class RootHandoffs:
    """Handoffs of agents that began a workflow, in one direction, in the last hour (docs/spec/protocol.md §1)."""

    source: str
    target: str  # ``*`` for open work
    times: tuple[datetime, ...] = ()
    version: int = 0

    def one_more(self, now: datetime, settings: Settings, own: int | None = None) -> RootHandoffs:
        """Counts one more. ``own``: the source's own number, where a human gave it one. Raises ``LoopTripped`` at the
        limit, and names it. A handoff exactly an hour old doesn't count."""
        recent = tuple(at for at in self.times if now - at < HOUR)
        most = own or settings.root_handoffs_per_hour
        if settings.loop_guard and len(recent) >= most:
            message = (
                f"{self.source} has begun {most} workflows with {self.target} within an hour, which is the limit "
                f"(root_handoffs_per_hour of {'the agent' if own else 'the settings'}). A human can give the agent a "
                "number of its own."
            )
            raise errors.LoopTripped(ROOT_RATE, message, (self.source, self.target))
        return replace(self, times=(*recent, now), version=self.version + 1)


@dataclass(frozen=True, slots=True)
class InboxItem:
    """The outcome of a handoff, for the agent that made it. It stays until the agent acknowledges it."""

    agent: str
    id: str
    at: datetime
    content: dict[str, Any]


def inbox_item(task: Task, item_id: str) -> InboxItem:
    """Returns the outcome of an ended task for its source agent: the state, the last event's data and who caused it.
    Raises as ``event_from`` does."""
    entry = task.meta.tail[-1]
    last, ended = tail.event_from(entry, task.meta.chain), tail.ended_in(entry, task)
    event_data = {name: value for name, value in last.data.items() if name != "changes"}
    content = {
        **event_data,
        "type": last.type,
        "task_id": task.id,
        "handoff_id": task.handoff_id,
        "workflow_id": task.workflow_id,
        "title": task.title,
        "state": str(task.state),
        "by": {"id": last.principal_id, "kind": last.principal_kind},
        "agent": ended.agent if ended else task.agent,
    }
    return InboxItem(task.source_agent, item_id, task.meta.updated_at, dict(sorted(content.items())))


@dataclass(frozen=True, slots=True)
class LateResult:
    """A result that came after its claim had ended: refused, and stored once per claim."""

    claim_fence: int
    agent: str
    at: datetime
    verb: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ClaimLateResult:
    """A late result, with the claim that it came too late for."""

    task_id: str
    claim_id: str
    result: LateResult


@dataclass(frozen=True, slots=True)
class HandoffCount:
    """The counter of a workflow's handoffs."""

    workflow_id: str
    start: int  # the count so far, if nothing was counted yet
    # Counts only if the workflow has no count: of all that begin a workflow of one name, exactly one succeeds.
    is_first: bool = False
