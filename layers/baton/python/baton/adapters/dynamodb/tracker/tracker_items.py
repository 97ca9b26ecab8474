"""The items of the outbox to the tracker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baton.adapters.dynamodb import keys, records
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.tracker.page_sync import PageLink, PageRef, PageSync
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.domain.tracker.webhook import Webhook

# Fields with a time, each with the attribute that has it in milliseconds.
_SYNC_TIMES = {"held_until": "held_until_ms", "happened_by": "happened_by_ms", "due_at": "due_ms", "since": "since_ms"}
_CIRCUIT_TIMES = {"open_until": "closed_until_ms", "reconciled_at": "reconciled_ms", "wake_at": "wake_ms"}


def page_sync_item(page_sync: PageSync) -> Item:
    values = _written(page_sync, _SYNC_TIMES, "is_settled", "message", "unclear", "our_id")
    return {
        **values,
        **keys.task_item(page_sync.workspace, page_sync.task_id, keys.MIRROR)._asdict(),
        **dict.fromkeys(("workspace", "task_id", "page", "look_at")),
        "reports": set(page_sync.reports) or None,
        "page_id": page_sync.page and page_sync.page.id,
        "url": page_sync.page and page_sync.page.url,
        **keys.place(keys.QUEUE_INDEX, keys.page_sync_index_key(page_sync)),
        **keys.place(keys.WAKE_INDEX, keys.page_look_index_key(page_sync)),
    }


def page_link_item(workspace: str, link: PageLink) -> Item:
    return {**keys.page(workspace, link.page_id)._asdict(), "task": link.task_id}


def page_sync_from(item: Item | None) -> PageSync | None:
    if item is None:
        return None
    workspace, task_id = keys.parse_task(item["pk"])
    page = PageRef(item["page_id"], item["url"]) if "page_id" in item else None
    look_at = keys.parse_due_at(item["wake_sk"]) if "wake_sk" in item else None
    odd: Item = {"workspace": workspace, "task_id": task_id, "page": page, "look_at": look_at}
    return records.read(PageSync, item, **odd, **_times(item, _SYNC_TIMES))


def tracker_circuit_item(circuit: TrackerCircuit) -> Item:
    values = {**_written(circuit, _CIRCUIT_TIMES, "message"), "workspace": None}
    place = keys.place(keys.WAKE_INDEX, keys.tracker_circuit_index_key(circuit))
    return {**keys.tracker_circuit(circuit.workspace)._asdict(), **values, **place}


def tracker_circuit_from(workspace: str, item: Item | None) -> TrackerCircuit:
    found = item or {}
    return records.read(TrackerCircuit, found, workspace=workspace, **_times(found, _CIRCUIT_TIMES))


def webhook_item(webhook: Webhook) -> Item:
    return {**keys.webhook(webhook.workspace)._asdict(), **records.written(webhook)}


def webhook_from(item: Item | None) -> Webhook | None:
    """Ignores fields that this version no longer knows; new ones get their defaults."""
    return None if item is None else records.read(Webhook, item)


def _written(value: PageSync | TrackerCircuit, moments: Mapping[str, str], *unless_set: str) -> Item:
    """Returns the fields, times in milliseconds; ``unless_set``: those that are stored only if they say something."""
    values = records.written(value)
    values |= {name: values[name] or None for name in unless_set} | dict.fromkeys(moments)
    found = {name: getattr(value, of) for of, name in moments.items()}
    return values | {name: times.to_ms(at) for name, at in found.items() if at is not None}


def _times(item: Item, moments: Mapping[str, str]) -> dict[str, Any]:
    return {of: times.from_ms(int(item[name])) for of, name in moments.items() if name in item}
