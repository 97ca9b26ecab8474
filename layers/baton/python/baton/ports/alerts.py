"""The store of alerts."""

from __future__ import annotations

from typing import Protocol

from baton.domain.alerts.alert import Alert, AlertState
from baton.ports.paging import Page


class AlertStore(Protocol):
    def alert(self, workspace: str, alert_id: str) -> Alert:
        """Returns the alert. Raises ``Unknown``."""

    def newest(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns all alerts, newest first."""

    def alerts_of_task(self, workspace: str, task_id: str, limit: int, cursor: str | None) -> Page:
        """Returns the alerts about a task, newest first."""

    def unresolved_alerts(self, workspace: str, state: AlertState, limit: int, cursor: str | None) -> Page:
        """Returns open or acknowledged alerts, newest first, and reads no others. The index lags, the alerts don't:
        alerts that have moved on since are left out."""
