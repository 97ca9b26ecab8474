"""The items around tasks, and functions that put one of each into a store."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from baton.domain.errors import KeyTaken
from baton.domain.escalations.review import ReviewRequest
from baton.domain.handoffs.workflow import (
    BackgroundJob,
    Checkpoint,
    ClaimLateResult,
    HandoffCount,
    InboxItem,
    JobKind,
    LateResult,
    RootHandoffs,
    RunState,
    inbox_item,
)
from baton.domain.task_state import State
from baton.domain.tasks.task import Claim, Recovery, Task
from baton.domain.tasks.task_items import Retry
from baton.domain.times import seconds
from baton.ports.store import Store
from baton.ports.writes import Add, Insert, Put, Replace, Save
from support.clock import NOON
from support.values.changes import a_claim, claimed, ended, queued, stored, then, with_output
from support.worlds.world import WORKSPACE


def a_checkpoint(number: int = 1, **values: Any) -> Checkpoint:
    usual: dict[str, Any] = {
        "id": f"chk_{number:02d}",
        "workflow_id": "wf_1",
        "task_id": "task_1",
        "step_name": f"step {number}",
        "state": {"done": [number]},
        "at": NOON + seconds(number),
        "by": "agent:auditor",
    }
    return Checkpoint(**{**usual, **values})


def a_run_state(number: int = 1, **values: Any) -> RunState:
    usual: dict[str, Any] = {
        "id": f"chk_{number:02d}",
        "task_id": "task_1",
        "state": "e30=",
        "signature": "ab" * 32,
        "by": "agent:auditor",
        "agent": "auditor",
        "fence": number,
        "at": NOON + seconds(number),
    }
    return RunState(**{**usual, **values})


def a_job(
    kind: JobKind = JobKind.JOIN, task_id: str = "task_1", stamp: str = "stamp_1", at: datetime = NOON
) -> BackgroundJob:
    return BackgroundJob(kind=kind, task_id=task_id, stamp=stamp, at=at, data={"reason": "é", "by": ["human", "alice"]})


def told(store: Store, number: int = 1, agent: str = "scout", workspace: str = WORKSPACE, **data: Any) -> InboxItem:
    """Stores a task of the agent's that ended: the inbox's item ``inb_<number>``."""
    task = stored(store, f"task_told_{agent}_{number:03d}", workspace=workspace, source_agent=agent)
    change = replace(ended(task, **data), inbox_id=f"inb_{number:03d}")
    store.commit(workspace, change)
    assert change.inbox_id
    return inbox_item(change.task, change.inbox_id)


def a_late_result(fence: int = 1) -> LateResult:
    return LateResult(fence, "auditor", NOON + seconds(fence), "complete", {"output": {"x": fence}})


def slotted(slot: int | None, fence: int = 1, agent: str = "auditor") -> Claim:
    return replace(a_claim(fence=fence), slot=slot, agent=agent)


def holding(store: Store, task_id: str, slot: int | None = None, fence: int = 1, **values: Any) -> Task:
    """Stores a claimed task, under a permit if ``slot`` is given."""
    return claimed(store, task_id, slotted(slot, fence), **values)


def freed(store: Store, task: Task, **changes: Any) -> Task:
    """Ends the claim of the task."""
    change = then(task, **{"state": State.DELEGATED, "claim": None, "ready_at": NOON, **changes})
    store.commit(task.workspace, change)
    return change.task


def a_recovery(number: int = 1, **values: Any) -> Recovery:
    usual: dict[str, Any] = {
        "number": number,
        "at": NOON,
        "reason": "lease over",
        "prior_agent": "auditor",
        "prior_worker": "worker-1",
        "prior_fence": number,
        "last_checkpoint_id": None,
        "action": "re-queued",
    }
    return Recovery(**{**usual, **values})


def fill_task_items(store: Store, workspace: str = WORKSPACE) -> None:
    """Stores one of everything around tasks. ``task_1`` must be there."""
    told(store, workspace=workspace)
    queued(store, "task_4", workspace=workspace, target_agent=None, requires=("accepts:repo",))
    task = holding(store, "task_5", 1, workspace=workspace)
    resumed = then(task, state=State.DELEGATED, claim=None, ready_at=NOON, recoveries=1)
    store.commit(workspace, replace(resumed, resume_payload={"results": [1]}, recovery=a_recovery()))
    holding(store, "task_6", 1, workspace=workspace)
    last = holding(store, "task_7", workspace=workspace)
    store.commit(workspace, with_output(then(last, state=State.DONE, claim=None), 7, {"notes": ["done"]}))
    store.commit(
        workspace,
        Put(a_checkpoint()),
        Put(a_run_state()),
        Put(a_job()),
        Insert(ClaimLateResult("task_5", "clm_1", a_late_result()), KeyTaken),
        Replace(Retry("task_1", "task_4"), None),
        Put(ReviewRequest("review_01", {"message": "x"})),
        Save(RootHandoffs("scout", "auditor", (NOON,), 1)),
        Add(HandoffCount("wf_1", 4), 3, 50),
    )
