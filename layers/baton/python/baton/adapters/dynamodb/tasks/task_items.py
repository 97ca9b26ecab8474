"""The items of what is stored with a task besides HEAD and its trail."""

from __future__ import annotations

from typing import Any

from baton.adapters.dynamodb import items, keys, records
from baton.adapters.dynamodb.handoffs import handoff_items
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.runs import run_items
from baton.domain.conversations.conversation_thread import NextTask
from baton.domain.escalations.review import ReviewRequest
from baton.domain.handoffs.workflow import Checkpoint, ClaimLateResult, RunState
from baton.domain.runs.transcript import TaskEntry
from baton.domain.tasks.task import Task
from baton.domain.tasks.task_items import Retry


def body_item(task: Task, body: dict[str, Any]) -> Item:
    """Returns the body of a new task, with the task's place in its agent's list."""
    listed = keys.place(keys.QUEUE_INDEX, keys.agent_list_index_key(task))
    return {**items.payload_item(keys.task_item(task.workspace, task.id, keys.BODY), body), **listed}


def late_result_item(workspace: str, late: ClaimLateResult) -> Item:
    key = keys.late_result(workspace, late.task_id, late.result.claim_fence, late.claim_id)
    return handoff_items.late_item(key, late.result)


def entry_item(workspace: str, of_task: TaskEntry) -> Item:
    return run_items.entry_item(workspace, of_task)


def retry_item(workspace: str, retry: Retry) -> Item:
    return {**keys.task_item(workspace, retry.task_id, keys.RETRY)._asdict(), "retry_id": retry.retry_id}


def next_task_item(workspace: str, following: NextTask) -> Item:
    return {**keys.task_item(workspace, following.task_id, keys.FOLLOWED)._asdict(), "next_id": following.next_id}


def listed_checkpoint_item(workspace: str, checkpoint: Checkpoint) -> Item:
    key = keys.Key(keys.checkpoints(workspace, checkpoint.workflow_id), checkpoint.id)
    return handoff_items.checkpoint_item(key, checkpoint)


def run_state_item(workspace: str, run_state: RunState) -> Item:
    return {**keys.task_item(workspace, run_state.task_id, keys.RUN_STATE)._asdict(), **records.written(run_state)}


def run_state_from(item: Item) -> RunState:
    return records.read(RunState, item)


def review_request_item(workspace: str, request: ReviewRequest) -> Item:
    return items.payload_item(keys.review_request(workspace, request.review_id), request.content)
