"""The items of events: besides the event itself the states around it, and its key in the outbox until the bus has
accepted it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.adapters.dynamodb import items, keys
from baton.domain.published import Telling

if TYPE_CHECKING:
    from baton.domain.task import Task

Item = dict[str, Any]


def told_item(task: Task, telling: Telling) -> Item:
    index_key = keys.unsent_place(telling.task_id, telling.event.seq, telling.event.at)
    return {
        **items.event_item(task, telling.event),
        "state_before": telling.state_before,
        "state": telling.state,
        "wake_pk": index_key.pk,
        "wake_sk": index_key.sk,
    }


def telling_from(item: Item) -> Telling:
    """Raises ``KeyError``, ``TypeError`` or ``ValueError`` if the item can't be read."""
    workspace, task_id = keys.parse_task(item["pk"])
    return Telling(
        workspace=workspace,
        task_id=task_id,
        event=items.event_from(item),
        state_before=item.get("state_before"),
        state=item["state"],
    )
