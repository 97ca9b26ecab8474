"""Humans open, show and remove the tracker's webhook."""

from __future__ import annotations

from datetime import datetime

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import ChangeSubject, Difference
from baton.domain.tracker.webhook import Webhook, opened
from baton.ports.deps import Deps
from baton.ports.writes import Save
from baton.steps.access.record_change import new_change
from baton.steps.retrying import retry_on_conflict


def open_webhook(deps: Deps, by: Principal) -> tuple[Webhook, str]:
    """Returns the webhook and the secret of its address, which is never shown again. For ten minutes the tracker may
    shake hands at that address; opening again makes a new one. Raises ``NoTracker`` and ``WebhookInstalled``."""
    by.must_have(Deed.OPEN_WEBHOOK)
    if deps.store.settings.of(by.workspace).tracker is None:
        raise errors.NoTracker

    def attempt() -> tuple[Webhook, str]:
        secret, before = deps.ids.secret(), deps.store.tracker.webhook(by.workspace)
        webhook = opened(before, by.workspace, secret, by, deps.clock.now())
        _save(deps, by, before, webhook)
        return webhook, f"{by.workspace}.{secret}"

    return retry_on_conflict(deps, attempt)


def webhook_of(deps: Deps, by: Principal) -> Webhook:
    """Returns the webhook. Raises ``Unknown`` if there is none."""
    by.must_have(Deed.LOOK_AT_WEBHOOK)
    webhook = deps.store.tracker.webhook(by.workspace)
    if webhook is None or webhook.removed:
        raise errors.Unknown("webhook")
    return webhook


def remove_webhook(deps: Deps, by: Principal) -> None:
    """Makes its address unknown from the next delivery on. Raises ``Unknown``."""
    by.must_have(Deed.REMOVE_WEBHOOK)

    def attempt() -> None:
        before = webhook_of(deps, by)
        _save(deps, by, before, before.taken_down())

    retry_on_conflict(deps, attempt)


def _save(deps: Deps, by: Principal, before: Webhook | None, after: Webhook) -> None:
    """Saves the webhook with the record of the change, in one transaction."""
    told = (_told(each, deps.clock.now()) for each in (before, after))
    change = new_change(deps, by, Difference(ChangeSubject.TRACKER, ("webhook",), *told))
    deps.store.commit(by.workspace, Save(after), Save(change))


def _told(webhook: Webhook | None, now: datetime) -> dict[str, str] | None:
    """Returns the webhook without its address and token, and without digests of them; None if there is none."""
    if webhook is None or webhook.removed:
        return None
    return {"opened_at": times.rfc3339(webhook.opened_at), "state": webhook.state(now)}
