"""A handoff before it is made. A request, a failure, a completion, a retry and a split all become a draft, and a draft
becomes a task in one way."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from baton.domain import times
from baton.domain.agents.route import Mode
from baton.domain.handoffs import handoff_message, loop_guard
from baton.domain.handoffs.handoff import MAX_MESSAGE_BYTES, must_fit
from baton.domain.handoffs.loop_guard import Budget, Hop
from baton.domain.ids import first_checkpoint_id_of, handoff_id_of
from baton.domain.settings.settings import Settings
from baton.domain.task_state import State
from baton.domain.tasks.approval_rules import Origin, origin_from, origin_of
from baton.domain.tasks.task import Kind, Task, TaskMeta

ROOT_DEPTH = 1
# Fields of a draft that its task has under the same names.
_SAME_IN_DRAFT = ("requires", "work_type", "dispatch_rank", "join_parent", "call_id", "retry_of")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """A handoff's position in its workflow."""

    workflow_id: str
    master_task_id: str | None = None
    parent_id: str | None = None  # None for a root
    parent_handoff_id: str | None = None
    hops: tuple[Hop, ...] = ()  # the chain from the root down to the parent
    budget: Budget = field(default_factory=Budget)
    origin: Origin | None = None  # the task that the handoff comes from, for approval rules; None for other work
    speakers: tuple[str, ...] = ()  # keys of the earlier writers in its conversation; not stored with a draft

    @property
    def is_root(self) -> bool:
        return self.parent_id is None

    @property
    def sources(self) -> frozenset[str]:
        """The agents above the handoff in its chain."""
        return frozenset(each.source for each in self.hops)


def lineage_under(parent: Task, record: handoff_message.HandoffMessage) -> Lineage:
    """Returns the position of a child of ``parent``."""
    return Lineage(
        workflow_id=parent.workflow_id,
        master_task_id=parent.master_task_id,
        parent_id=parent.id,
        parent_handoff_id=parent.handoff_id,
        hops=record.hops_to(parent),
        budget=record.budget.limits,
        origin=origin_of(parent, parent.claim.agent if parent.claim else parent.target_agent),
    )


def lineage_beside(task: Task, record: handoff_message.HandoffMessage) -> Lineage:
    """Returns the position of a replacement for ``task``: with its root, its parent and its ancestors."""
    return Lineage(
        workflow_id=task.workflow_id,
        master_task_id=task.master_task_id,
        parent_id=task.parent_id,
        parent_handoff_id=record.metadata.parent_handoff,
        hops=record.hops_to(task)[:-1],
        budget=record.budget.limits,
        origin=origin_of(task, task.target_agent),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffDraft:
    """A handoff before it is made. Raises ``TooLarge`` if its message is too large to store."""

    kind: Kind
    source: str
    target: str | None  # a slug; None for open work
    message: handoff_message.HandoffMessage  # its context is merged already
    lineage: Lineage
    requires: tuple[str, ...] = ()  # what the agent that takes it has to declare
    mode: Mode = Mode.DISPATCH
    work_type: str | None = None
    dispatch_rank: int | None = None
    join_parent: str | None = None
    call_id: str | None = None
    retry_of: str | None = None  # the task that this one tries anew

    def __post_init__(self) -> None:
        must_fit("context", self.message.plain(), MAX_MESSAGE_BYTES)

    @property
    def hop(self) -> Hop:
        return loop_guard.hop(self.source, self.target, self.message.reason)

    @property
    def budget(self) -> Budget:
        return self.lineage.budget.narrowed(self.message.budget.limits)

    def to(self, agent: str) -> HandoffDraft:
        """Returns the draft for an agent, by its slug."""
        message = replace(self.message, target=self.message.target.having(agent=agent))
        return replace(self, target=agent, message=message)

    def check(self, settings: Settings, handoffs: int, now: datetime) -> None:
        """Raises ``LoopTripped`` if the loop guard or the budget stops it. ``handoffs``: of the workflow so far."""
        attempt = loop_guard.HandoffAttempt(self.kind, handoffs, self.budget, now)
        loop_guard.check(self.lineage.hops, self.hop, settings, attempt)

    def task(self, workspace: str, task_id: str, created_by: str, settings: Settings, now: datetime) -> Task:
        """Returns the handoff's task, not approved yet."""
        message, lineage = self.message, self.lineage
        deadlines = [at for at in (message.expectations.deadline, self.budget.deadline) if at]
        same = {name: getattr(self, name) for name in _SAME_IN_DRAFT}
        same |= {name: getattr(lineage, name) for name in ("workflow_id", "parent_id")}
        same |= {name: getattr(message.metadata, name) for name in ("priority", "effort", "not_before")}
        return Task(
            **same,
            workspace=workspace,
            id=task_id,
            state=State.NEEDS,
            title=message.title,
            kind=str(self.kind),
            source_agent=self.source,
            target_agent=self.target,
            deadline=min(deadlines, default=None),
            fail_on_deadline=message.expectations.fails_on_deadline,
            handoff_id=handoff_id_of(task_id),
            master_task_id=lineage.master_task_id or task_id,
            depth=len(lineage.hops) + ROOT_DEPTH,
            created_at=now,
            created_by=created_by,
            max_attempts=settings.max_attempts,
            meta=TaskMeta(updated_at=now, mirrored=settings.tracker is not None, labels=message.metadata.labels),
        )

    def record(self, task: Task) -> handoff_message.HandoffMessage:
        """Returns the handoff's record: the message and its computed fields (docs/spec/protocol.md §1)."""
        message, budget = self.message, self.budget
        place = {"workflow_id": task.workflow_id, "parent_handoff": self.lineage.parent_handoff_id, "depth": task.depth}
        rollback = handoff_message.RollbackPart({"on_failure": self.source, **message.rollback.fields})
        completed = replace(
            message,
            source=message.source.having(agent=self.source),
            target=message.target.having(agent=self.target),
            rollback=rollback.having(checkpoint_id=rollback.checkpoint_id or first_checkpoint_id_of(task.id)),
            metadata=message.metadata.having(priority=str(task.priority), **place),
            budget=message.budget if budget == Budget() else handoff_message.BudgetPart(_budget_json(budget)),
        )
        known = {"handoff_id": task.handoff_id, "kind": task.kind, "timestamp": times.rfc3339(task.created_at)}
        return completed.having(**known, hops=[each.plain() for each in (*self.lineage.hops, self.hop)])

    def plain(self) -> dict[str, Any]:
        """Returns JSON for a manual review, which stores the draft until a human releases it."""
        lineage = self.lineage
        return {
            "kind": str(self.kind),
            "source": self.source,
            "target": self.target,
            "message": self.message.plain(),
            "requires": list(self.requires),
            "mode": str(self.mode),
            "work_type": self.work_type,
            "dispatch_rank": self.dispatch_rank,
            "retry_of": self.retry_of,
            "lineage": {
                "workflow_id": lineage.workflow_id,
                "master_task_id": lineage.master_task_id,
                "parent_id": lineage.parent_id,
                "parent_handoff_id": lineage.parent_handoff_id,
                "hops": [each.plain() for each in lineage.hops],
                "budget": _budget_json(lineage.budget),
                "origin": None if lineage.origin is None else lineage.origin.plain(),
            },
        }


def draft_from(kept: dict[str, Any]) -> HandoffDraft:
    """The inverse of ``plain``."""
    lineage, origin = kept["lineage"], kept["lineage"].get("origin")
    return HandoffDraft(
        kind=Kind(kept["kind"]),
        source=kept["source"],
        target=kept["target"],
        message=handoff_message.message_from(kept["message"]),
        requires=tuple(kept["requires"]),
        mode=Mode(kept["mode"]),
        work_type=kept["work_type"],
        dispatch_rank=kept["dispatch_rank"],
        retry_of=kept["retry_of"],
        lineage=Lineage(
            workflow_id=lineage["workflow_id"],
            master_task_id=lineage["master_task_id"],
            parent_id=lineage["parent_id"],
            parent_handoff_id=lineage["parent_handoff_id"],
            hops=tuple(Hop(source, target, reason) for source, target, reason in lineage["hops"]),
            budget=handoff_message.BudgetPart(lineage["budget"]).limits,
            origin=None if origin is None else origin_from(origin),
        ),
    )


def unbranched(draft: HandoffDraft) -> HandoffDraft:
    """Returns the draft without its branch: a handoff that is released later belongs to no wait."""
    return replace(draft, join_parent=None, call_id=None)


def _budget_json(budget: Budget) -> dict[str, Any]:
    values = {**asdict(budget), "deadline": None if budget.deadline is None else times.rfc3339(budget.deadline)}
    return {name: value for name, value in values.items() if value is not None}
