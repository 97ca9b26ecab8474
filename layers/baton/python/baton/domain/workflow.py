"""What lies around the tasks of a workflow: checkpoints, errands that are due, root handoffs of the last hour, and what
an agent finds in its inbox."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from baton.domain.errors import LoopTripped
from baton.domain.times import seconds

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.change import Change
    from baton.domain.settings import Settings

HOUR = seconds(3_600)
ANY_AGENT = "*"
ROOT_RATE = "root_rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A state that work can go on from (docs/spec/protocol.md §6)."""

    id: str
    workflow_id: str
    task_id: str
    step_name: str
    state: dict[str, Any]
    at: datetime
    by: str


@dataclass(frozen=True, slots=True)
class Member:
    """A task of a workflow, and the one that it descends from."""

    task_id: str
    parent_id: str | None


@dataclass(frozen=True, slots=True)
class Held:
    """A live claim, found by its agent. ``slot``: the permit that it takes, where the agent has a limit."""

    task_id: str
    claim_id: str
    workflow_id: str
    slot: int | None = None


class Errand(StrEnum):
    """What the system still has to do about a task, however often it is interrupted."""

    JOIN = "join"
    CASCADE = "cascade"


@dataclass(frozen=True, slots=True, kw_only=True)
class DueErrand:
    """``stamp`` is new whenever there is a new reason for it: it is only done with as it was read. ``data``: who lets
    it happen, and why."""

    kind: Errand
    task_id: str
    stamp: str
    at: datetime
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Roots:
    """Handoffs that agents began a workflow with, in one direction, in the last hour (docs/spec/protocol.md §1).
    ``target``: ``*`` for open work."""

    source: str
    target: str
    times: tuple[datetime, ...] = ()
    version: int = 0

    def one_more(self, now: datetime, settings: Settings) -> Roots:
        """Raises ``LoopTripped``. Exactly an hour ago is outside of the hour."""
        recent = tuple(at for at in self.times if now - at < HOUR)
        most = settings.root_handoffs_per_hour
        if settings.loop_guard and len(recent) >= most:
            message = f"{self.source} has begun {most} workflows with {self.target} within an hour."
            raise LoopTripped(ROOT_RATE, message, (self.source, self.target))
        return replace(self, times=(*recent, now), version=self.version + 1)


@dataclass(frozen=True, slots=True)
class InboxItem:
    """What became of something that an agent handed off. It stays until it is acknowledged."""

    agent: str
    id: str
    at: datetime
    content: dict[str, Any]


def inbox_item(change: Change, item_id: str) -> InboxItem:
    """For the agent that the task comes from: how it ended, and who said so."""
    task, last = change.task, change.events[-1]
    said = {name: value for name, value in last.data.items() if name != "changes"}
    content = {
        **said,
        "type": last.type,
        "task_id": task.id,
        "handoff_id": task.handoff_id,
        "workflow_id": task.workflow_id,
        "title": task.title,
        "state": str(task.state),
        "by": {"kind": last.principal_kind, "id": last.principal_id},
        "agent": (change.before.claim.agent if change.before and change.before.claim else task.agent),
    }
    return InboxItem(task.source_agent, item_id, task.updated_at, content)


@dataclass(frozen=True, slots=True)
class LateResult:
    """What a worker sent under a claim that was over by then: refused, and kept once per claim."""

    claim_fence: int
    agent: str
    at: datetime
    verb: str
    content: dict[str, Any]
