"""Receives the tracker's notice that a page changed. Sync-tracker then reads the change from the tracker itself."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from baton.domain import errors
from baton.domain.access.principal import SYNC_TRACKER, system
from baton.domain.idempotency import IdempotencyKey
from baton.domain.ids import is_slug
from baton.domain.tracker.page_changes import is_by
from baton.domain.tracker.webhook import MAX_TOKEN, Webhook, is_fresh
from baton.ports.deps import Deps
from baton.ports.writes import KeepReports, MakePageDue, Save
from baton.steps import idempotency
from baton.steps.retrying import retry_on_conflict


class Received(StrEnum):
    """The outcome of a delivery. Each of them means that it needn't be sent again."""

    INSTALLED = "installed"
    REPORTED = "reported"
    TOO_OLD = "too_old"
    NOT_A_PERSON = "not_a_person"
    NOT_A_PAGE = "not_a_page"
    UNKNOWN_PAGE = "unknown_page"
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedChange:
    """A change of something in the tracker, as a delivery reports it."""

    event_id: str
    sent_at: datetime
    is_by_person: bool
    page_id: str | None  # None for anything but a page
    reports: frozenset[str] = frozenset()  # ``page_changes.reports_of``
    names_columns: bool = False


class WebhookDelivery(Protocol):
    """A delivery of the webhook. Its body is parsed when something in it is first asked for. Each question may raise
    ``MalformedJson``."""

    @property
    def raw(self) -> bytes:
        """The body's exact bytes."""

    @property
    def signature(self) -> str | None:
        """The header, if any."""

    @property
    def handshake_token(self) -> object:
        """The token that the tracker will sign with; None if this is no handshake."""

    def change(self) -> ReportedChange:
        """Raises ``InvalidInput`` for a change without an id or a time."""


def receive_webhook(deps: Deps, address: str, delivery: WebhookDelivery) -> Received:
    """Handles one delivery. ``address``: the secret part of the URL. Nothing is read for a sender that doesn't know it.
    Raises ``Unknown``, ``HandshakeClosed``, ``BadSignature`` and ``InvalidInput``."""
    webhook = _webhook_at(deps, address)
    if delivery.signature is None or webhook.token is None:
        token = delivery.handshake_token
        if token is not None:
            return _shake_hands(deps, webhook, token)
    webhook.must_have_signed(delivery.raw, delivery.signature or "")
    if webhook.verified_at is None:
        _note_first_delivery(deps, webhook)
    return _report(deps, webhook.workspace, delivery.change())


def _webhook_at(deps: Deps, address: str) -> Webhook:
    workspace, _, secret = address.partition(".")
    webhook = deps.store.tracker.webhook(workspace) if is_slug(workspace) else None
    if webhook is None or not webhook.knows(secret):
        raise errors.Unknown("webhook")
    return webhook


def _shake_hands(deps: Deps, webhook: Webhook, token: object) -> Received:
    if not isinstance(token, str) or not 0 < len(token) <= MAX_TOKEN or not token.isprintable():
        raise errors.InvalidInput("verification_token", f"must be 1 to {MAX_TOKEN} printable characters")

    def attempt() -> Received:
        before = deps.store.tracker.webhook(webhook.workspace)
        if before is None or before.digest != webhook.digest:
            raise errors.Unknown("webhook")
        after = before.installed(token, deps.clock.now())
        if after is not before:
            deps.store.commit(webhook.workspace, Save(after))
        return Received.INSTALLED

    return retry_on_conflict(deps, attempt)


def _note_first_delivery(deps: Deps, webhook: Webhook) -> None:
    def attempt() -> None:
        before = deps.store.tracker.webhook(webhook.workspace)
        if before is not None and before.is_installed and before.verified_at is None:
            deps.store.commit(webhook.workspace, Save(before.verified(deps.clock.now())))

    retry_on_conflict(deps, attempt)


def _report(deps: Deps, workspace: str, change: ReportedChange) -> Received:
    now = deps.clock.now()
    if not is_fresh(change.sent_at, now):
        return Received.TOO_OLD
    if change.page_id is None:
        return Received.NOT_A_PAGE if change.is_by_person else Received.NOT_A_PERSON
    if not change.is_by_person:
        _keep_reports(deps, workspace, change.page_id, change)
        return Received.NOT_A_PERSON
    task_id = _task_of(deps, workspace, change.page_id)
    if task_id is None:
        return Received.UNKNOWN_PAGE
    idempotency_key = _key(workspace, change)
    due = MakePageDue(task_id, now, change.reports)
    try:
        is_new = idempotency.apply_once(deps, idempotency_key, [due])
    except errors.NoRoom:  # so many name nobody, and one more says nothing new
        is_new = idempotency.apply_once(deps, idempotency_key, [replace(due, reports=frozenset())])
    if not is_new:
        return Received.REPEATED
    deps.tracker_queue.notify(workspace, task_id)
    return Received.REPORTED


def _task_of(deps: Deps, workspace: str, page_id: str) -> str | None:
    return deps.store.tracker.page_holders(workspace, [page_id]).get(page_id)


def _keep_reports(deps: Deps, workspace: str, page_id: str, change: ReportedChange) -> None:
    """Keeps a bot's change of columns, so that it isn't taken for a person's who edits the page next. Our own changes
    come back, too: they aren't kept once a look has shown who we are."""
    if not change.names_columns:
        return
    task_id = _task_of(deps, workspace, page_id)
    row = deps.store.tracker.page_sync(workspace, task_id) if task_id else None
    if row is None or is_by(change.reports, row.our_id):
        return
    with suppress(errors.NoRoom):
        idempotency.apply_once(deps, _key(workspace, change), [KeepReports(row.task_id, change.reports)])


def _key(workspace: str, change: ReportedChange) -> IdempotencyKey:
    return IdempotencyKey(system(workspace, SYNC_TRACKER), "deliveries", change.event_id, "")
