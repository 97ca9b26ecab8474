"""The items of events: besides the event itself the states around it, and its key in the outbox until the bus has
accepted it."""

from __future__ import annotations

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain.events.bus_events import OutboxEvent
from baton.domain.tasks.task import Task


def outbox_event_item(task: Task, outbox_event: OutboxEvent) -> Item:
    index_key = keys.outbox_index_key(outbox_event.task_id, outbox_event.event.seq, outbox_event.event.at)
    return {
        **items.event_item(task, outbox_event.event),
        "state_before": outbox_event.state_before,
        "state": outbox_event.state,
        "wake_pk": index_key.pk,
        "wake_sk": index_key.sk,
    }


def outbox_event_from(item: Item) -> OutboxEvent:
    """Raises ``KeyError``, ``TypeError`` or ``ValueError`` if the item can't be read."""
    workspace, task_id = keys.parse_task(item["pk"])
    return OutboxEvent(
        workspace=workspace,
        task_id=task_id,
        event=items.event_from(item),
        state_before=item.get("state_before"),
        state=item["state"],
    )
