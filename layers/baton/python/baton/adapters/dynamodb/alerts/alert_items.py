"""The items of alerts."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain.alerts.alert import Alert, from_snapshot, snapshot


def alert_item(alert: Alert) -> Item:
    place = keys.place(keys.QUEUE_INDEX, keys.alert_index_key(alert))
    return {**snapshot(alert), **keys.alert(alert.workspace, alert.id)._asdict(), **place}


def alert_from(item: Item) -> Alert:
    return from_snapshot(item)
