"""Writes of the outbox to the tracker, and their conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.table import Item, Write, to_wire
from baton.domain.errors import Conflict, PageHeld
from baton.domain.times import to_ms

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.tasks.task import Task

# No task has the page, or this task has it: a page never belongs to two tasks.
PAGE_IS_OURS = "attribute_not_exists(#pk) OR #task = :task"


def page_sync_behind(task: Task, at: datetime) -> Write:
    """Marks the page as behind, also while another process synchronises it: saving then finds another version, and that
    process reads again."""
    return _due(task.workspace, task.id, at, ", #wanted = :wanted", "", {"#wanted": "wanted"}, {":wanted": task.seq})


def page_reported(workspace: str, task_id: str, at: datetime) -> Write:
    return _due(workspace, task_id, at, "", ", #looks :one", {"#looks": "looks"}, {})


def page_linked(workspace: str, page_id: str, task_id: str) -> Write:
    request: Item = {
        "Item": to_wire({**keys.page(workspace, page_id)._asdict(), "task": task_id}),
        "ConditionExpression": PAGE_IS_OURS,
        "ExpressionAttributeNames": {"#pk": "pk", "#task": "task"},
        "ExpressionAttributeValues": to_wire({":task": task_id}),
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    return Write("Put", request, PageHeld)


def _due(workspace: str, task_id: str, at: datetime, sets: str, adds: str, names: Item, values: Item) -> Write:
    """Makes the page due for synchronisation now. Without a condition: the tracker must not make a task's change
    fail."""
    request = {
        "Key": to_wire(keys.task_item(workspace, task_id, keys.MIRROR)._asdict()),
        "UpdateExpression": f"SET #due = :due, #pk = :pk, #sk = :sk{sets} ADD #version :one{adds}",
        "ExpressionAttributeNames": {
            "#due": "due_ms",
            "#pk": "queue_pk",
            "#sk": "queue_sk",
            "#version": "version",
            **names,
        },
        "ExpressionAttributeValues": to_wire(
            {
                ":due": to_ms(at),
                ":pk": keys.page_sync_queue(workspace),
                ":sk": keys.due_sort_key(at, task_id),
                ":one": 1,
                **values,
            }
        ),
    }
    return Write("Update", request, lambda: Conflict("mirror"))
