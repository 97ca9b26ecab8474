"""Humans open, show and remove the tracker's webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.errors import NoTracker, Unknown
from baton.domain.webhook import opened
from baton.ports import WebhookSaved
from baton.services.retrying import decided_again

if TYPE_CHECKING:
    from baton.domain.principal import Principal
    from baton.domain.webhook import Webhook
    from baton.ports import Baton


def open_webhook(baton: Baton, by: Principal) -> tuple[Webhook, str]:
    """Returns the webhook and the secret of its address, which is never shown again. For ten minutes the tracker may
    shake hands at that address; opening again makes a new one. Raises ``NoTracker`` and ``WebhookInstalled``."""
    by.must_be_human("open the webhook's handshake")
    if baton.store.settings(by.workspace).tracker is None:
        raise NoTracker

    def attempt() -> tuple[Webhook, str]:
        secret = baton.ids.secret()
        webhook = opened(baton.store.webhook(by.workspace), by.workspace, secret, by, baton.clock.now())
        baton.store.commit(by.workspace, None, [WebhookSaved(webhook)])
        return webhook, f"{by.workspace}.{secret}"

    return decided_again(baton.clock, attempt)


def webhook_of(baton: Baton, by: Principal) -> Webhook:
    """Returns the webhook. Raises ``Unknown`` if there is none."""
    by.must_be_human("look at the webhook")
    webhook = baton.store.webhook(by.workspace)
    if webhook is None or webhook.removed:
        raise Unknown("webhook")
    return webhook


def remove_webhook(baton: Baton, by: Principal) -> None:
    """Makes its address unknown from the next delivery on. Raises ``Unknown``."""
    by.must_be_human("remove the webhook")

    def attempt() -> None:
        baton.store.commit(by.workspace, None, [WebhookSaved(webhook_of(baton, by).taken_down())])

    decided_again(baton.clock, attempt)
