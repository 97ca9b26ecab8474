"""The items around a workflow's tasks: slots of live claims, checkpoints, background jobs, inboxes, late results."""

from __future__ import annotations

from dataclasses import replace

from baton.adapters.dynamodb import keys, records
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.canonical_json import canonical_json
from baton.domain.handoffs.workflow import (
    BackgroundJob,
    Checkpoint,
    HeldClaim,
    JobKind,
    LateResult,
    RootHandoffs,
)
from baton.domain.ids import workflow_id_of
from baton.domain.numbers import loads
from baton.domain.questions.approval import ready_approvals
from baton.domain.tasks.task import Claim, Task
from baton.ports.queues import ReadyTask, Skills


def slot_item(task: Task, claim: Claim, key: keys.Key) -> Item:
    return {
        **key._asdict(),
        "task_id": task.id,
        "claim_id": claim.claim_id,
        "workflow_id": task.workflow_id,
        "slot": claim.slot,
    }


def free_slot_item(key: keys.Key) -> Item:
    """Returns a slot that was given back. It stays, as Baton has no permission to delete items."""
    return {**key._asdict(), "free": True}


def slot_from(item: Item) -> tuple[int, str] | None:
    """Returns the slot that a live claim holds, with the claim's id; None for a slot that was given back."""
    return None if "free" in item else (int(item["slot"]), item["claim_id"])


def held_from(mark: Item) -> HeldClaim:
    """Reads the mark of a claimed task in its agent's queue."""
    _, task_id = keys.parse_task(mark["pk"])
    _, claim_id = keys.parse_claim_mark(mark["queue_sk"])
    return HeldClaim(task_id, claim_id, mark.get("workflow_id") or workflow_id_of(task_id))


def ready_from(place: ReadyTask, entry: Item) -> ReadyTask:
    """Reads ready work as its queue shows it. ``place``: the values in its key there."""
    approved_by = ready_approvals(entry["accepts"]) if "accepts" in entry else ()
    return replace(
        place, requires=tuple(entry.get("requires", ())), source=entry["source_agent"], approved_by=approved_by
    )


def lapsed_from(mark: Item) -> ReadyTask:
    """Reads a mark whose time is over as a candidate for a claim."""
    _, task_id = keys.parse_task(mark["pk"])
    ended_at, claim_id = keys.parse_claim_mark(mark["queue_sk"])
    return ReadyTask(task_id, ended_at, priority=keys.MARKS, lapsed_claim=claim_id)


def checkpoint_item(key: keys.Key, checkpoint: Checkpoint) -> Item:
    return {**key._asdict(), **records.written(checkpoint)}


def checkpoint_from(item: Item) -> Checkpoint:
    return records.read(Checkpoint, item)


def job_item(workspace: str, job: BackgroundJob) -> Item:
    written = {"stamp": job.stamp, "due_ms": times.to_ms(job.at), "data": canonical_json(job.data)}
    place = keys.place(keys.WAKE_INDEX, keys.job_index_key(job))
    return {**keys.job(workspace, job.kind, job.task_id)._asdict(), **written, **place}


def job_from(kind: JobKind, task_id: str, item: Item | None) -> BackgroundJob | None:
    """Returns the background job; None also if it was done."""
    if item is None or "stamp" not in item:
        return None
    at, data = times.from_ms(int(item["due_ms"])), loads(item["data"])
    return BackgroundJob(kind=kind, task_id=task_id, stamp=item["stamp"], at=at, data=data)


def late_item(key: keys.Key, result: LateResult) -> Item:
    return {**key._asdict(), **records.written(result), "claim_fence": None, "fence": result.claim_fence}


def late_from(item: Item) -> LateResult:
    return records.read(LateResult, item, claim_fence=int(item["fence"]))


def roots_item(workspace: str, roots: RootHandoffs) -> Item:
    key = keys.roots(workspace, roots.source, roots.target)
    return {**key._asdict(), "times": [times.to_ms(at) for at in roots.times], "version": roots.version}


def roots_from(source: str, target: str, item: Item | None) -> RootHandoffs:
    if item is None:
        return RootHandoffs(source, target)
    return RootHandoffs(source, target, tuple(times.from_ms(int(ms)) for ms in item["times"]), int(item["version"]))


def skills_from(entry: Item) -> Skills:
    """Reads the agent's own entry in its queue."""
    most = int(entry["max_concurrent"]) if "max_concurrent" in entry else None
    return Skills(tuple(entry["accepts"]), tuple(entry["produces"]), most)
