"""Alerts as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from baton.domain.alerts.alert import Alert
from baton.ports.deps import Deps
from rest import pages
from rest.shape import ViewShape


class AlertView(TypedDict):
    """``kind``: a task's flag if Baton raised the alert, else the caller's own name for it. ``raised_by``: the caller,
    or the principal whose change of the task made Baton raise it. ``snoozed_until``: while it is ahead, nobody needs to
    see it. ``note``: from the human who handled it. ``change_id``: the change of the workspace that it is
    about."""

    id: str
    state: Literal["open", "acknowledged", "resolved"]
    kind: str
    severity: Literal["info", "warning", "critical"]
    message: str
    task_id: str | None
    task_url: str | None
    raised_by: str
    raised_at: str
    acknowledged_at: str | None
    acknowledged_by: str | None
    resolved_at: str | None
    resolved_by: str | None
    snoozed_until: str | None
    snoozed_at: str | None
    snoozed_by: str | None
    note: str | None
    change_id: str | None
    version: int


AlertPage = pages.of("AlertPage", AlertView)
_ALERT = ViewShape(AlertView, Alert, "task_url")


def alert_view(deps: Deps, alert: Alert) -> AlertView:
    return _ALERT(alert, task_url=deps.task_url(alert.task_id) if alert.task_id else None)
