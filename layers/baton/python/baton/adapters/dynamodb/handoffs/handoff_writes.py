"""Writes around the tasks of a workflow, and their conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.handoffs import handoff_items
from baton.adapters.dynamodb.puts import NOT_THERE_YET, VERSION_UNCHANGED, delete, put, put_version
from baton.adapters.dynamodb.table import Write, to_wire
from baton.domain.errors import Conflict, KeyTaken, SlotTaken
from baton.domain.tasks.task import State
from baton.ports import (
    CheckpointKept,
    ConversationContinued,
    HandoffsCounted,
    InboxPosted,
    JobFinished,
    JobScheduled,
    LateResultKept,
    NotCancelled,
    RetryOpened,
    RootsCounted,
    UnderClaim,
    VersionUnchanged,
)

if TYPE_CHECKING:
    from baton.domain.handoffs.workflow import Checkpoint
    from baton.domain.tasks.change import Change
    from baton.domain.tasks.task import Task

# The claim that the decision was made under is still current.
CLAIM_IS_CURRENT = "#claim.#id = :id"
# The task exists and isn't cancelled. Work below a cancelled task has to end.
IS_NOT_CANCELLED = "attribute_exists(#state) AND #state <> :cancelled"
# There is room for this many more, or nothing was counted yet and there is room from the start.
HAS_ROOM = "#count <= :room"
HAS_ROOM_OR_IS_NEW = "attribute_not_exists(#count) OR #count <= :room"
# No workflow with this id was begun.
IS_NEW = "attribute_not_exists(#count)"
# The task's latest retry is still the one that was read.
RETRY_IS_SEEN = "#retry_id = :seen"
# The conversation's next task is still the one that was read.
NEXT_IS_SEEN = "#next_id = :seen"

HandoffExtra = (
    UnderClaim
    | NotCancelled
    | VersionUnchanged
    | HandoffsCounted
    | RootsCounted
    | CheckpointKept
    | InboxPosted
    | JobScheduled
    | JobFinished
    | LateResultKept
    | RetryOpened
    | ConversationContinued
)


def held_writes(change: Change) -> list[Write]:
    """Returns the writes that a change of claim needs: the new claim's item, and the old one's removal. Every commit of
    a task comes through here, so no command can forget them."""
    task, before = change.task, change.before
    was, now = before.claim if before else None, task.claim
    if (was and was.claim_id) == (now and now.claim_id):
        return []
    freed = keys.held_claim(task.workspace, task.id, was) if was else None
    writes = []
    if now is not None:
        is_free = now.slot is None or keys.held_claim(task.workspace, task.id, now) == freed
        held = handoff_items.held_item(task, now)
        writes.append(put(held) if is_free else put(held, NOT_THERE_YET, SlotTaken))
    if freed is not None and (now is None or keys.held_claim(task.workspace, task.id, now) != freed):
        writes.append(delete(freed))
    return writes


def member(task: Task) -> Write:
    """Lists the task in its workflow."""
    return put({"pk": keys.members(task.workspace, task.workflow_id), "sk": task.id, "parent_id": task.parent_id})


def handoff_writes(workspace: str, extra: HandoffExtra, token: str) -> list[Write]:
    stamp = {"written_by": token}
    match extra:
        case UnderClaim():
            return [_under_claim(workspace, extra)]
        case NotCancelled(task_id):
            return [_not_cancelled(workspace, task_id)]
        case VersionUnchanged():
            return [_unchanged(workspace, extra)]
        case HandoffsCounted():
            return [_counted(workspace, extra)]
        case RootsCounted(roots):
            return [
                put_version({**handoff_items.roots_item(workspace, roots), **stamp}, roots.version, "root handoffs")
            ]
        case CheckpointKept(checkpoint):
            return _checkpoint_kept(workspace, checkpoint, token)
        case InboxPosted(item):
            return [put({**handoff_items.inbox_item(workspace, item), **stamp})]
        case JobScheduled(job):
            return [put({**handoff_items.job_item(workspace, job), **stamp})]
        case LateResultKept(task_id, claim_id, result):
            key = keys.late_result(workspace, task_id, result.claim_fence, claim_id)
            return [put({**handoff_items.late_item(key, result), **stamp}, NOT_THERE_YET, KeyTaken)]
        case RetryOpened():
            return [_retry_opened(workspace, extra)]
        case ConversationContinued():
            return [_followed(workspace, extra, token)]
        case JobFinished():
            return []  # deleted by an update of its own, after the commit: its condition must not refuse the rest


def _under_claim(workspace: str, under: UnderClaim) -> Write:
    """Checks the claim, and counts the bytes kept under it: either way it is one item of the transaction."""
    request: dict[str, Any] = {
        "Key": to_wire(keys.head(workspace, under.task_id)._asdict()),
        "ConditionExpression": CLAIM_IS_CURRENT,
        "ExpressionAttributeNames": {"#claim": "claim", "#id": "claim_id"},
        "ExpressionAttributeValues": to_wire({":id": under.claim_id}),
    }
    if under.kept_bytes:
        request["UpdateExpression"] = "SET #claim.#kept = if_not_exists(#claim.#kept, :none) + :more"
        request["ExpressionAttributeNames"]["#kept"] = "kept_bytes"
        request["ExpressionAttributeValues"] |= to_wire({":none": 0, ":more": under.kept_bytes})
    return Write("Update" if under.kept_bytes else "ConditionCheck", request, lambda: Conflict("claim"))


def _not_cancelled(workspace: str, task_id: str) -> Write:
    request = {
        "Key": to_wire(keys.head(workspace, task_id)._asdict()),
        "ConditionExpression": IS_NOT_CANCELLED,
        "ExpressionAttributeNames": {"#state": "state"},
        "ExpressionAttributeValues": to_wire({":cancelled": str(State.CANCELLED)}),
    }
    return Write("ConditionCheck", request, lambda: Conflict("task"))


def _unchanged(workspace: str, unchanged: VersionUnchanged) -> Write:
    request = {
        "Key": to_wire(keys.head(workspace, unchanged.task_id)._asdict()),
        "ConditionExpression": VERSION_UNCHANGED,
        "ExpressionAttributeNames": {"#version": "version"},
        "ExpressionAttributeValues": to_wire({":seen": unchanged.version}),
    }
    return Write("ConditionCheck", request, lambda: Conflict("task"))


def _followed(workspace: str, followed: ConversationContinued, token: str) -> Write:
    key = keys.task_item(workspace, followed.task_id, keys.FOLLOWED)
    item = {**key._asdict(), "next_id": followed.next_id, "written_by": token}
    if followed.seen is None:
        return put(item, NOT_THERE_YET, lambda: Conflict("conversation"))
    return put(item, NEXT_IS_SEEN, lambda: Conflict("conversation"), seen=followed.seen)


def _counted(workspace: str, counted: HandoffsCounted) -> Write:
    fits_from_the_start = counted.start + counted.number <= counted.most
    values = {":start": counted.start, ":number": counted.number}
    condition = IS_NEW if counted.is_first and fits_from_the_start else HAS_ROOM
    if fits_from_the_start and not counted.is_first:
        condition = HAS_ROOM_OR_IS_NEW
    if condition != IS_NEW:
        values[":room"] = counted.most - counted.number
    request = {
        "Key": to_wire(keys.handoff_count(workspace, counted.workflow_id)._asdict()),
        "UpdateExpression": "SET #count = if_not_exists(#count, :start) + :number",
        "ConditionExpression": condition,
        "ExpressionAttributeNames": {"#count": "count"},
        "ExpressionAttributeValues": to_wire(values),
    }
    return Write("Update", request, lambda: Conflict("workflow"))


def _checkpoint_kept(workspace: str, checkpoint: Checkpoint, token: str) -> list[Write]:
    listed = keys.Key(keys.checkpoints(workspace, checkpoint.workflow_id), checkpoint.id)
    latest = keys.task_item(workspace, checkpoint.task_id, keys.CHECKPOINT)
    return [
        put({**handoff_items.checkpoint_item(listed, checkpoint), "written_by": token}),
        put(handoff_items.checkpoint_item(latest, checkpoint)),
    ]


def _retry_opened(workspace: str, opened: RetryOpened) -> Write:
    item = {**keys.task_item(workspace, opened.task_id, keys.RETRY)._asdict(), "retry_id": opened.retry_id}
    if opened.seen is None:
        return put(item, NOT_THERE_YET, lambda: Conflict("retry"))
    return put(item, RETRY_IS_SEEN, lambda: Conflict("retry"), seen=opened.seen)


def resume_payload(task: Task, content: dict[str, object]) -> Write:
    """Keeps the payload that the task resumes with after its wait."""
    return put(items.payload_item(keys.task_item(task.workspace, task.id, keys.BROUGHT), content))
