"""The items of the outbox to the tracker."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.newer import member
from baton.domain.tracker.page_sync import PageLink, PageRef, PageSync, Sync
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.domain.tracker.webhook import Webhook

_MIRROR_COUNTS = ("wanted", "shown", "looks", "looked", "attempts", "failures", "version")


def page_sync_item(page_sync: PageSync) -> Item:
    index_key, page = keys.page_sync_index_key(page_sync), page_sync.page
    look_key = keys.page_look_index_key(page_sync)
    return {
        **keys.task_item(page_sync.workspace, page_sync.task_id, keys.MIRROR)._asdict(),
        **{name: getattr(page_sync, name) for name in _MIRROR_COUNTS},
        "page_id": page and page.id,
        "url": page and page.url,
        "page_status": page_sync.page_status,
        "shown_state": page_sync.shown_state,
        "is_settled": page_sync.is_settled or None,
        "status": str(page_sync.status),
        "message": page_sync.message or None,
        "sender": page_sync.sender,
        "held_until_ms": _ms(page_sync.held_until),
        "unclear": page_sync.unclear or None,
        "happened_by_ms": _ms(page_sync.happened_by),
        "due_ms": _ms(page_sync.due_at),
        "since_ms": _ms(page_sync.since),
        "queue_pk": index_key and index_key.pk,
        "queue_sk": index_key and index_key.sk,
        "wake_pk": look_key and look_key.pk,
        "wake_sk": look_key and look_key.sk,
    }


def page_link_item(workspace: str, link: PageLink) -> Item:
    return {**keys.page(workspace, link.page_id)._asdict(), "task": link.task_id}


def page_sync_from(item: Item | None) -> PageSync | None:
    if item is None:
        return None
    workspace, task_id = keys.parse_task(item["pk"])
    return PageSync(
        workspace=workspace,
        task_id=task_id,
        page=PageRef(item["page_id"], item["url"]) if "page_id" in item else None,
        page_status=item.get("page_status"),
        shown_state=item.get("shown_state"),
        is_settled=item.get("is_settled", False),
        status=member(Sync, item["status"]),
        message=item.get("message", ""),
        sender=item.get("sender"),
        held_until=_time(item, "held_until_ms"),
        unclear=item.get("unclear", False),
        happened_by=_time(item, "happened_by_ms"),
        due_at=_time(item, "due_ms"),
        look_at=keys.parse_due_at(item["wake_sk"]) if "wake_sk" in item else None,
        since=times.from_ms(int(item["since_ms"])),
        **{name: int(item[name]) for name in _MIRROR_COUNTS},
    )


def tracker_circuit_item(circuit: TrackerCircuit) -> Item:
    index_key = keys.tracker_circuit_index_key(circuit)
    return {
        **keys.tracker_circuit(circuit.workspace)._asdict(),
        "closed_until_ms": _ms(circuit.open_until),
        "failures": circuit.failures,
        "status": str(circuit.status),
        "message": circuit.message or None,
        "reconciled_ms": _ms(circuit.reconciled_at),
        "wake_ms": _ms(circuit.wake_at),
        "version": circuit.version,
        "wake_pk": index_key and index_key.pk,
        "wake_sk": index_key and index_key.sk,
    }


def tracker_circuit_from(workspace: str, item: Item | None) -> TrackerCircuit:
    if item is None:
        return TrackerCircuit(workspace=workspace)
    return TrackerCircuit(
        workspace=workspace,
        open_until=_time(item, "closed_until_ms"),
        failures=int(item["failures"]),
        status=member(Sync, item["status"]),
        message=item.get("message", ""),
        reconciled_at=_time(item, "reconciled_ms"),
        wake_at=_time(item, "wake_ms"),
        version=int(item["version"]),
    )


_WEBHOOK_TIMES = {"opened_at", "installed_at", "verified_at"}


def webhook_item(webhook: Webhook) -> Item:
    values = {f.name: getattr(webhook, f.name) for f in fields(Webhook)}
    instants = {name: None if values[name] is None else times.rfc3339(values[name]) for name in _WEBHOOK_TIMES}
    return {**keys.webhook(webhook.workspace)._asdict(), **values, **instants}


def webhook_from(item: Item | None) -> Webhook | None:
    if item is None:
        return None
    known = {f.name for f in fields(Webhook)}
    values = {name: value for name, value in item.items() if name in known}
    instants = {name: times.parse_rfc3339(values[name]) for name in _WEBHOOK_TIMES & values.keys()}
    return Webhook(**{**values, **instants, "version": int(item["version"])})


def _ms(at: datetime | None) -> int | None:
    return None if at is None else times.to_ms(at)


def _time(item: Item, name: str) -> datetime | None:
    return times.from_ms(int(item[name])) if name in item else None
