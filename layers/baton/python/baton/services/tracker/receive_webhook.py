"""Receives the tracker's notice that a page changed. Sync-tracker then reads the change from the tracker itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from baton.domain.access.principal import SYNC_TRACKER, system
from baton.domain.errors import InvalidInput, Unknown
from baton.domain.idempotency import IdempotencyKey
from baton.domain.ids import is_slug
from baton.domain.times import parse_rfc3339
from baton.domain.tracker.tracker_settings import notion_id
from baton.domain.tracker.webhook import MAX_TOKEN, is_fresh
from baton.ports import PageReported, WebhookSaved
from baton.steps.retrying import retry_on_conflict
from baton.steps.tracker.learn_from_page import apply_once

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from baton.domain.tracker.webhook import Webhook
    from baton.ports import Deps

MAX_EVENT_ID = 100


class Received(StrEnum):
    """The outcome of a delivery. Each of them means that it needn't be sent again."""

    INSTALLED = "installed"
    REPORTED = "reported"
    TOO_OLD = "too_old"
    NOT_A_PERSON = "not_a_person"
    NOT_A_PAGE = "not_a_page"
    UNKNOWN_PAGE = "unknown_page"
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """A delivery of the webhook."""

    raw: bytes  # the body's exact bytes
    content: Mapping[str, Any]  # the JSON object in them; it may be parsed when it is first read
    signature: str | None  # the header, if any


def receive_webhook(deps: Deps, address: str, delivery: WebhookDelivery) -> Received:
    """Handles one delivery. ``address``: the secret part of the URL. Nothing is read for a sender that doesn't know it.
    Raises ``Unknown``, ``HandshakeClosed``, ``BadSignature`` and ``InvalidInput``."""
    webhook = _webhook_at(deps, address)
    if delivery.signature is None or webhook.token is None:
        token = delivery.content.get("verification_token")
        if token is not None:
            return _shake_hands(deps, webhook, token)
    webhook.must_have_signed(delivery.raw, delivery.signature or "")
    if webhook.verified_at is None:
        _note_first_delivery(deps, webhook)
    return _report(deps, webhook.workspace, delivery.content)


def _webhook_at(deps: Deps, address: str) -> Webhook:
    workspace, _, secret = address.partition(".")
    webhook = deps.store.webhook(workspace) if is_slug(workspace) else None
    if webhook is None or not webhook.knows(secret):
        raise Unknown("webhook")
    return webhook


def _shake_hands(deps: Deps, webhook: Webhook, token: Any) -> Received:
    if not isinstance(token, str) or not 0 < len(token) <= MAX_TOKEN or not token.isprintable():
        raise InvalidInput("verification_token", f"must be 1 to {MAX_TOKEN} printable characters")

    def attempt() -> Received:
        before = deps.store.webhook(webhook.workspace)
        if before is None or before.digest != webhook.digest:
            raise Unknown("webhook")
        after = before.installed(token, deps.clock.now())
        if after is not before:
            deps.store.commit(webhook.workspace, WebhookSaved(after))
        return Received.INSTALLED

    return retry_on_conflict(deps.clock, attempt)


def _note_first_delivery(deps: Deps, webhook: Webhook) -> None:
    def attempt() -> None:
        before = deps.store.webhook(webhook.workspace)
        if before is not None and before.is_installed and before.verified_at is None:
            deps.store.commit(webhook.workspace, WebhookSaved(before.verified(deps.clock.now())))

    retry_on_conflict(deps.clock, attempt)


def _report(deps: Deps, workspace: str, event: Mapping[str, Any]) -> Received:
    event_id, sent_at = _text(event, "id"), _time(event)
    now = deps.clock.now()
    if not is_fresh(sent_at, now):
        return Received.TOO_OLD
    if not _by_a_person(event):
        return Received.NOT_A_PERSON
    entity = event.get("entity")
    page_id = notion_id(str(entity.get("id"))) if isinstance(entity, dict) and entity.get("type") == "page" else None
    if page_id is None:
        return Received.NOT_A_PAGE
    task_id = deps.store.page_holders(workspace, [page_id]).get(page_id)
    if task_id is None:
        return Received.UNKNOWN_PAGE
    idempotency_key = IdempotencyKey(system(workspace, SYNC_TRACKER), "deliveries", event_id, "")
    if not apply_once(deps, idempotency_key, [PageReported(task_id, now)]):
        return Received.REPEATED
    deps.tracker_queue.notify(workspace, task_id)
    return Received.REPORTED


def _by_a_person(event: Mapping[str, Any]) -> bool:
    """Our own writes come back with a bot as author, like those of every other connection and automation."""
    authors = event.get("authors")
    found = [author.get("type") for author in authors if isinstance(author, dict)] if isinstance(authors, list) else []
    return "person" in found


def _text(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= MAX_EVENT_ID:
        raise InvalidInput(name, f"must be a text of 1 to {MAX_EVENT_ID} characters")
    return value


def _time(event: Mapping[str, Any]) -> datetime:
    try:
        return parse_rfc3339(_text(event, "timestamp"))
    except ValueError as exc:
        raise InvalidInput("timestamp", "must be an ISO 8601 time with an offset") from exc
