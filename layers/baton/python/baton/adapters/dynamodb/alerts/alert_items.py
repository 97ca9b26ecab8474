"""The items of alerts."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Fitness, Item, ItemWrite, KeyBar
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put
from baton.domain import errors
from baton.domain.alerts.alert import Alert, from_snapshot, snapshot


def alert_item(alert: Alert) -> Item:
    place = keys.place(keys.QUEUE_INDEX, keys.alert_index_key(alert))
    return {**snapshot(alert), **keys.alert(alert.workspace, alert.id)._asdict(), **place}


def alert_listing(alert: Alert) -> list[ItemWrite]:
    """Returns the write of a new alert's entry in the listing of its task. The entry never changes, while the alert
    itself does."""
    if alert.version > 1:
        return []
    key = keys.Key(keys.alerts_of_task(alert.workspace, alert.task_id), alert.id)
    return [put(key._asdict(), NOT_THERE_YET, lambda: errors.Conflict("alert"), Fitness.LASTING, KeyBar(key))]


def alert_from(item: Item) -> Alert:
    return from_snapshot(item)
