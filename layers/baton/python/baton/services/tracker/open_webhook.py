"""Humans open, show and remove the tracker's webhook."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.access.loosening import needs_reports
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import WorkspaceChange
from baton.domain.alerts.alert import Alert
from baton.domain.alerts.workspace_alerts import RULES_CHANGED, workspace_alert
from baton.domain.tracker.webhook import Webhook, opened
from baton.ports.access import Recorded
from baton.ports.deps import Deps
from baton.steps.access.second_administrator import Loosening, loosened
from baton.steps.retrying import retry_on_conflict
from baton.steps.tracker.save_webhook import save_webhook, webhook_change


def open_webhook(deps: Deps, by: Principal) -> tuple[Webhook, str]:
    """Returns the webhook and the secret of its address, which is never shown again. For ten minutes the tracker may
    shake hands at that address; opening again makes a new one. An alert reports it if rights depend on the webhook's
    reports: the caller could sign them. Raises ``NoTracker`` and ``WebhookInstalled``."""
    by.must_have(Deed.OPEN_WEBHOOK)
    tracker = deps.store.settings.of(by.workspace).tracker
    if tracker is None:
        raise errors.NoTracker

    def attempt() -> tuple[Webhook, str]:
        secret, before = deps.ids.secret(), deps.store.tracker.webhook(by.workspace)
        webhook = opened(before, by.workspace, secret, by, deps.clock.now())
        change = webhook_change(deps, by, before, webhook)
        alerts = (_alert(deps, change),) if needs_reports(tracker) else ()
        save_webhook(deps, webhook, Recorded((change,), alerts))
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
    """Makes its address unknown from the next delivery on.

    Raises:
        Unknown.
        ChangePending: rights depend on the webhook's reports, and the removal waits for another administrator.
    """
    by.must_have(Deed.REMOVE_WEBHOOK)

    def attempt() -> None:
        before = webhook_of(deps, by)
        after = before.taken_down()
        save_webhook(deps, after, _record(deps, by, before, after))

    retry_on_conflict(deps, attempt)


def _alert(deps: Deps, change: WorkspaceChange) -> Alert:
    return workspace_alert(RULES_CHANGED, change, deps.ids.new("alert", change.at))


def _record(deps: Deps, by: Principal, before: Webhook, after: Webhook) -> Recorded:
    change = webhook_change(deps, by, before, after)
    if not before.is_verified or not needs_reports(deps.store.settings.of(by.workspace).tracker):
        return Recorded((change,))
    people = deps.store.tokens.people(by.workspace)
    return loosened(deps, by, Loosening(change, people, people.checked_again()))
