"""The items of the outbox to the tracker."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from baton.adapters.dynamodb import keys
from baton.domain.gate import Gate
from baton.domain.mirror import Mirror, PageRef, Sync
from baton.domain.times import from_ms, parse_rfc3339, rfc3339, to_ms
from baton.domain.webhook import Webhook

if TYPE_CHECKING:
    from datetime import datetime

Item = dict[str, Any]
_MIRROR_COUNTS = ("wanted", "shown", "looks", "looked", "attempts", "failures", "version")


def mirror_item(mirror: Mirror) -> Item:
    index_key, page = keys.mirror_place(mirror), mirror.page
    return {
        **keys.beside(mirror.workspace, mirror.task_id, keys.MIRROR)._asdict(),
        **{name: getattr(mirror, name) for name in _MIRROR_COUNTS},
        "page_id": page and page.id,
        "url": page and page.url,
        "page_status": mirror.page_status,
        "shown_state": mirror.shown_state,
        "is_settled": mirror.is_settled or None,
        "status": str(mirror.status),
        "message": mirror.message or None,
        "sender": mirror.sender,
        "held_until_ms": _ms(mirror.held_until),
        "unclear": mirror.unclear or None,
        "happened_by_ms": _ms(mirror.happened_by),
        "due_ms": _ms(mirror.due_at),
        "since_ms": _ms(mirror.since),
        "queue_pk": index_key and index_key.pk,
        "queue_sk": index_key and index_key.sk,
    }


def mirror_from(item: Item | None) -> Mirror | None:
    if item is None:
        return None
    workspace, task_id = keys.parse_task(item["pk"])
    return Mirror(
        workspace=workspace,
        task_id=task_id,
        page=PageRef(item["page_id"], item["url"]) if "page_id" in item else None,
        page_status=item.get("page_status"),
        shown_state=item.get("shown_state"),
        is_settled=item.get("is_settled", False),
        status=Sync(item["status"]),
        message=item.get("message", ""),
        sender=item.get("sender"),
        held_until=_time(item, "held_until_ms"),
        unclear=item.get("unclear", False),
        happened_by=_time(item, "happened_by_ms"),
        due_at=_time(item, "due_ms"),
        since=from_ms(int(item["since_ms"])),
        **{name: int(item[name]) for name in _MIRROR_COUNTS},
    )


def gate_item(gate: Gate) -> Item:
    index_key = keys.gate_place(gate)
    return {
        **keys.gate(gate.workspace)._asdict(),
        "closed_until_ms": _ms(gate.closed_until),
        "failures": gate.failures,
        "status": str(gate.status),
        "message": gate.message or None,
        "reconciled_ms": _ms(gate.reconciled_at),
        "wake_ms": _ms(gate.wake_at),
        "version": gate.version,
        "wake_pk": index_key and index_key.pk,
        "wake_sk": index_key and index_key.sk,
    }


def gate_from(workspace: str, item: Item | None) -> Gate:
    if item is None:
        return Gate(workspace=workspace)
    return Gate(
        workspace=workspace,
        closed_until=_time(item, "closed_until_ms"),
        failures=int(item["failures"]),
        status=Sync(item["status"]),
        message=item.get("message", ""),
        reconciled_at=_time(item, "reconciled_ms"),
        wake_at=_time(item, "wake_ms"),
        version=int(item["version"]),
    )


_WEBHOOK_TIMES = {"opened_at", "installed_at", "verified_at"}


def webhook_item(webhook: Webhook) -> Item:
    values = {f.name: getattr(webhook, f.name) for f in fields(Webhook)}
    times = {name: None if values[name] is None else rfc3339(values[name]) for name in _WEBHOOK_TIMES}
    return {**keys.webhook(webhook.workspace)._asdict(), **values, **times}


def webhook_from(item: Item | None) -> Webhook | None:
    if item is None:
        return None
    known = {f.name for f in fields(Webhook)}
    values = {name: value for name, value in item.items() if name in known}
    times = {name: parse_rfc3339(values[name]) for name in _WEBHOOK_TIMES & values.keys()}
    return Webhook(**{**values, **times, "version": int(item["version"])})


def _ms(at: datetime | None) -> int | None:
    return None if at is None else to_ms(at)


def _time(item: Item, name: str) -> datetime | None:
    return from_ms(int(item[name])) if name in item else None
