"""Alerts: one, or all of them, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.alerts.alert import Alert, AlertState
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps.access.read_rights import ReadRights
from baton.steps.filtering import filtered


def find_alert(deps: Deps, by: Principal, alert_id: str) -> Alert:
    """Returns the alert. Raises ``Unknown``."""
    alert = deps.store.alerts.alert(by.workspace, alert_id)
    if not ReadRights(deps, by).readable_alerts([alert]):
        raise errors.Unknown("alert")
    return alert


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """Which alerts to list; None for any."""

    state: AlertState | None = None
    task_id: str | None = None
    is_snoozed: bool | None = None

    def takes(self, alert: Alert, now: datetime) -> bool:
        is_meant = self.state is None or alert.state is self.state
        return is_meant and self.is_snoozed in {None, alert.is_snoozed(now)}


def list_alerts(deps: Deps, by: Principal, filters: AlertFilter, limit: int, cursor: str | None) -> Page:
    """Returns the alerts that the caller may read. Unresolved alerts are found without reading the
    others. A page may be shorter than ``limit``."""
    state, task_id = filters.state, filters.task_id
    store, workspace, rights = deps.store, by.workspace, ReadRights(deps, by)
    unresolved = state if task_id is None and state in {AlertState.OPEN, AlertState.ACKNOWLEDGED} else None
    if unresolved is not None and rights.reads_all and filters.is_snoozed is None:
        return store.alerts.unresolved_alerts(workspace, unresolved, limit, cursor)

    def read(size: int, at: str | None) -> Page:
        if task_id is not None:
            page = store.alerts.alerts_of_task(workspace, task_id, size, at)
        elif unresolved is not None:
            page = store.alerts.unresolved_alerts(workspace, unresolved, size, at)
        else:
            page = store.alerts.newest(workspace, size, at)
        return Page(rights.readable_alerts(page.items), page.cursor)

    now = deps.clock.now()
    return filtered(read, lambda alert: filters.takes(alert, now), limit, cursor)
