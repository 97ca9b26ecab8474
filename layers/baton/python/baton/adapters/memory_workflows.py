"""The part of the memory store that lies around the tasks of a workflow: members, counts, checkpoints, inboxes."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

from baton.adapters.memory_registry import page
from baton.adapters.memory_routes import MemoryRoutes
from baton.adapters.memory_tasks import MemoryTasks
from baton.domain.errors import Conflict, KeyTaken
from baton.domain.task import State
from baton.domain.workflow import Checkpoint, InboxItem, Member, Roots
from baton.ports import (
    MAX_ITEMS,
    CheckpointKept,
    ErrandDone,
    ErrandDue,
    Facts,
    Followed,
    HandoffsCounted,
    InboxPosted,
    LateKept,
    NotCancelled,
    RetryOpened,
    RootsCounted,
    Unchanged,
    UnderClaim,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baton.ports import Page, Wanted

WorkflowExtra = (
    UnderClaim
    | NotCancelled
    | Unchanged
    | HandoffsCounted
    | RootsCounted
    | CheckpointKept
    | InboxPosted
    | ErrandDue
    | ErrandDone
    | LateKept
    | RetryOpened
    | Followed
)


class MemoryWorkflows(MemoryTasks, MemoryRoutes):
    def __init__(self) -> None:
        super().__init__()
        self._handoffs: dict[tuple[str, str], int] = {}
        self._roots: dict[tuple[str, str, str], Roots] = {}
        self._checkpoints: dict[tuple[str, str], dict[str, Checkpoint]] = {}
        self._inboxes: dict[tuple[str, str], dict[str, InboxItem]] = {}

    def handoff_facts(self, workspace: str, wanted: Wanted) -> Facts:
        with self._lock:
            parent_id, workflow_id = wanted.parent_id, wanted.workflow_id
            has_parent = parent_id is not None and (workspace, parent_id) in self._tasks
            return Facts(
                settings=self.settings(workspace),
                agents={agent.slug: agent for agent in self.roster(workspace) if agent.slug in wanted.agents},
                route=None if wanted.work_type is None else self.route(workspace, wanted.work_type),
                remembered=None if wanted.once is None else self.remembered(wanted.once),
                parent=self._with_body(workspace, parent_id) if parent_id is not None and has_parent else None,
                handoffs=None if workflow_id is None else self._handoffs.get((workspace, workflow_id)),
                roots=None if wanted.roots is None else self._roots_of(workspace, *wanted.roots),
            )

    def workflow(self, workspace: str, workflow_id: str) -> tuple[Member, ...]:
        with self._lock:
            found = [t for (owner, _), t in self._tasks.items() if owner == workspace and t.workflow_id == workflow_id]
        return tuple(Member(task.id, task.parent_id) for task in sorted(found, key=lambda task: task.id))

    def checkpoints(self, workspace: str, workflow_id: str, limit: int, cursor: str | None) -> Page:
        with self._lock:
            found = deepcopy(self._checkpoints.get((workspace, workflow_id), {}))
        return page(found, limit, cursor, newest_first=True)

    def inbox(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        with self._lock:
            found = deepcopy(self._inboxes.get((workspace, agent), {}))
        return page(found, limit, cursor)

    def acknowledge(self, workspace: str, agent: str, ids: Sequence[str]) -> None:
        if len(set(ids)) > MAX_ITEMS:
            raise ValueError(f"{len(set(ids))} items in one transaction")
        with self._lock:
            for item_id in ids:
                self._inboxes.get((workspace, agent), {}).pop(item_id, None)

    def _roots_of(self, workspace: str, source: str, target: str) -> Roots:
        return self._roots.get((workspace, source, target), Roots(source, target))

    def _check_workflow(self, workspace: str, extra: WorkflowExtra) -> None:
        """Raises what the condition of the extra's write would."""
        match extra:
            case UnderClaim(task_id, claim_id):
                task = self._tasks.get((workspace, task_id))
                if task is None or task.claim is None or task.claim.claim_id != claim_id:
                    raise Conflict("claim")
            case NotCancelled(task_id):
                above = self._tasks.get((workspace, task_id))
                if above is None or above.state is State.CANCELLED:
                    raise Conflict("task")
            case Unchanged(task_id, version):
                task = self._tasks.get((workspace, task_id))
                if task is None or task.version != version:
                    raise Conflict("task")
            case HandoffsCounted(workflow_id, number, start, most, is_first):
                if is_first and (workspace, workflow_id) in self._handoffs:
                    raise Conflict("workflow")
                if self._handoffs.get((workspace, workflow_id), start) + number > most:
                    raise Conflict("workflow")
            case RootsCounted(roots):
                if self._roots_of(workspace, roots.source, roots.target).version != roots.version - 1:
                    raise Conflict("root handoffs")
            case LateKept(task_id, claim_id):
                if claim_id in self._beside(workspace, task_id).late:
                    raise KeyTaken
            case RetryOpened(task_id, _, seen):
                if self._beside(workspace, task_id).retry_id != seen:
                    raise Conflict("retry")
            case Followed(task_id, _, seen):
                if self._beside(workspace, task_id).followed_by != seen:
                    raise Conflict("conversation")
            case _:
                pass

    def _write_workflow(self, workspace: str, extra: WorkflowExtra) -> None:
        match extra:
            case HandoffsCounted(workflow_id, number, start):
                count = self._handoffs.get((workspace, workflow_id), start)
                self._handoffs[workspace, workflow_id] = count + number
            case RootsCounted(roots):
                self._roots[workspace, roots.source, roots.target] = roots
            case CheckpointKept(checkpoint):
                kept = deepcopy(checkpoint)
                self._checkpoints.setdefault((workspace, kept.workflow_id), {})[kept.id] = kept
                self._keep(workspace, kept.task_id).checkpoint = kept
            case InboxPosted(item):
                self._inboxes.setdefault((workspace, item.agent), {})[item.id] = deepcopy(item)
            case ErrandDue(errand):
                self._keep(workspace, errand.task_id).errands[errand.kind] = deepcopy(errand)
            case ErrandDone(errand):
                due = self._beside(workspace, errand.task_id).errands
                if errand.kind in due and due[errand.kind].stamp == errand.stamp:
                    del due[errand.kind]
            case LateKept(task_id, claim_id, result):
                self._keep(workspace, task_id).late[claim_id] = deepcopy(result)
            case RetryOpened(task_id, retry_id):
                self._keep(workspace, task_id).retry_id = retry_id
            case Followed(task_id, next_id):
                self._keep(workspace, task_id).followed_by = next_id
            case UnderClaim(task_id, _, kept_bytes) if kept_bytes:
                task = self._tasks[workspace, task_id]
                if task.claim is not None:
                    more = replace(task.claim, kept_bytes=task.claim.kept_bytes + kept_bytes)
                    self._tasks[workspace, task_id] = replace(task, claim=more)
            case UnderClaim() | NotCancelled() | Unchanged():
                pass
