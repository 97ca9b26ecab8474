"""The write that makes a task's page due."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import ItemWrite
from baton.adapters.dynamodb.table import to_wire
from baton.domain import errors, times
from baton.ports.writes import MakePageDue


def page_due(workspace: str, due: MakePageDue) -> ItemWrite:
    """Makes the page due for a look now, also while another process synchronises it: saving then finds another version,
    and that process reads again. Without a condition, so that a report isn't refused for a sender."""
    request = {
        "Key": to_wire(keys.task_item(workspace, due.task_id, keys.MIRROR)._asdict()),
        "UpdateExpression": "SET #due = :due, #pk = :pk, #sk = :sk ADD #version :one, #looks :one",
        "ExpressionAttributeNames": {
            "#due": "due_ms",
            "#pk": "queue_pk",
            "#sk": "queue_sk",
            "#version": "version",
            "#looks": "looks",
        },
        "ExpressionAttributeValues": to_wire(
            {
                ":due": times.to_ms(due.at),
                ":pk": keys.page_sync_queue(workspace),
                ":sk": keys.due_sort_key(due.at, due.task_id),
                ":one": 1,
            }
        ),
    }
    return ItemWrite("Update", request, lambda: errors.Conflict("mirror"))
