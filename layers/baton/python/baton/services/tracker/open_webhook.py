"""Humans open, show and remove the tracker's webhook."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.tracker.webhook import Webhook, opened
from baton.ports.deps import Deps
from baton.ports.writes import Save
from baton.steps.retrying import retry_on_conflict


def open_webhook(deps: Deps, by: Principal) -> tuple[Webhook, str]:
    """Returns the webhook and the secret of its address, which is never shown again. For ten minutes the tracker may
    shake hands at that address; opening again makes a new one. Raises ``NoTracker`` and ``WebhookInstalled``."""
    by.must_have(Deed.OPEN_WEBHOOK)
    if deps.store.settings.of(by.workspace).tracker is None:
        raise errors.NoTracker

    def attempt() -> tuple[Webhook, str]:
        secret = deps.ids.secret()
        webhook = opened(deps.store.tracker.webhook(by.workspace), by.workspace, secret, by, deps.clock.now())
        deps.store.commit(by.workspace, Save(webhook))
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
        deps.store.commit(by.workspace, Save(webhook_of(deps, by).taken_down()))

    retry_on_conflict(deps, attempt)
