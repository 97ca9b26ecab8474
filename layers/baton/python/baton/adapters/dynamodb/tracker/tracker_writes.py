"""The write that makes a task's page due."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item, ItemWrite
from baton.adapters.dynamodb.table import to_wire
from baton.domain import errors, times
from baton.ports.writes import MakePageDue


def page_due(workspace: str, due: MakePageDue) -> ItemWrite:
    """Makes the page due for synchronisation now, also while another process synchronises it: saving then finds another
    version, and that process reads again. Without a condition: the tracker must not make a task's change fail."""
    if due.shows is None:
        return _due(workspace, due, ("", ", #looks :one"), {"#looks": "looks"}, {})
    return _due(workspace, due, (", #wanted = :wanted", ""), {"#wanted": "wanted"}, {":wanted": due.shows})


def _due(workspace: str, due: MakePageDue, updates: tuple[str, str], names: Item, values: Item) -> ItemWrite:
    """``updates``: what is set, and what is added, besides."""
    sets, adds = updates
    request = {
        "Key": to_wire(keys.task_item(workspace, due.task_id, keys.MIRROR)._asdict()),
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
                ":due": times.to_ms(due.at),
                ":pk": keys.page_sync_queue(workspace),
                ":sk": keys.due_sort_key(due.at, due.task_id),
                ":one": 1,
                **values,
            }
        ),
    }
    return ItemWrite("Update", request, lambda: errors.Conflict("mirror"))
