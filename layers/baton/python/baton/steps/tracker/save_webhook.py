"""Saves the tracker's webhook with the record of the change, for the transaction of the change."""

from __future__ import annotations

from datetime import datetime

from baton.domain import errors, times
from baton.domain.access.person import People
from baton.domain.access.principal import Principal
from baton.domain.access.workspace_change import ChangeSubject, Difference, WorkspaceChange
from baton.domain.alerts.workspace_alerts import RULES_CHANGED, workspace_alert
from baton.domain.tracker.webhook import Webhook
from baton.ports.access import Recorded
from baton.ports.deps import Deps
from baton.ports.writes import Save
from baton.steps.access.record_change import new_change
from baton.steps.access.second_administrator import resolved_request


def webhook_change(deps: Deps, by: Principal, before: Webhook | None, after: Webhook) -> WorkspaceChange:
    told = (_told(each, deps.clock.now()) for each in (before, after))
    return new_change(deps, by, Difference(ChangeSubject.TRACKER, ("webhook",), *told))


def save_webhook(deps: Deps, webhook: Webhook, recorded: Recorded) -> None:
    """Saves all in one transaction. Raises ``Conflict``."""
    people = () if recorded.people is None else (recorded.people,)
    deps.store.commit(webhook.workspace, *map(Save, (webhook, *recorded.changes, *recorded.alerts, *people)))


def apply_removal(deps: Deps, decided: WorkspaceChange, people: People) -> None:
    """Removes the webhook as another administrator approved it. Raises ``ChangeOvertaken`` for another webhook."""
    now, webhook = deps.clock.now(), deps.store.tracker.webhook(decided.workspace)
    if webhook is None or _told(webhook, now) != decided.before:
        raise errors.ChangeOvertaken(decided.id, "the webhook")
    alerts = (workspace_alert(RULES_CHANGED, decided, deps.ids.new("alert", now)), *resolved_request(deps, decided))
    save_webhook(deps, webhook.taken_down(), Recorded((decided,), alerts, people.checked_again()))


def _told(webhook: Webhook | None, now: datetime) -> dict[str, str] | None:
    """Returns the webhook without its address and token, and without digests of them; None if there is none."""
    if webhook is None or webhook.removed:
        return None
    return {"opened_at": times.rfc3339(webhook.opened_at), "state": webhook.state(now)}
