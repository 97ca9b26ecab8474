"""Alerts as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import TypedDict

from baton.domain.times import rfc3339
from rest.tasks.views import when

if TYPE_CHECKING:
    from baton.domain.alerts.alert import Alert
    from baton.ports import Deps


class AlertView(TypedDict):
    """``kind``: a task's flag if Baton raised the alert, else the caller's own name for it. ``raised_by``: the caller,
    or the principal whose change of the task made Baton raise it. ``note``: from the human who handled it."""

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
    note: str | None
    version: int


class AlertPage(TypedDict):
    items: list[AlertView]
    next_cursor: str | None


def alert_view(deps: Deps, alert: Alert) -> AlertView:
    return {
        "id": alert.id,
        "state": alert.state.value,
        "kind": alert.kind,
        "severity": alert.severity.value,
        "message": alert.message,
        "task_id": alert.task_id,
        "task_url": deps.task_url(alert.task_id) if alert.task_id else None,
        "raised_by": alert.raised_by,
        "raised_at": rfc3339(alert.raised_at),
        "acknowledged_at": when(alert.acknowledged_at),
        "acknowledged_by": alert.acknowledged_by,
        "resolved_at": when(alert.resolved_at),
        "resolved_by": alert.resolved_by,
        "note": alert.note,
        "version": alert.version,
    }
