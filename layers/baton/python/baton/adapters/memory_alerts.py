"""The part of the memory store that is about alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.adapters.memory_registry import MemoryRegistry, page
from baton.domain.alert import MAX_PER_HOUR, Alert, AlertState, hour_of, too_many
from baton.domain.errors import Conflict, Unknown
from baton.ports import AlertCounted, AlertRaised, AlertSaved

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.ports import Page


class MemoryAlerts(MemoryRegistry):
    def __init__(self) -> None:
        super().__init__()
        self._alerts: dict[tuple[str, str], Alert] = {}
        self._alert_counts: dict[tuple[str, str, int], int] = {}

    def alert(self, workspace: str, alert_id: str) -> Alert:
        with self._lock:
            if (workspace, alert_id) not in self._alerts:
                raise Unknown("alert")
            return self._alerts[workspace, alert_id]

    def alerts(self, workspace: str, limit: int, cursor: str | None) -> Page:
        return self._alert_page(workspace, lambda _: True, limit, cursor)

    def alerts_of_task(self, workspace: str, task_id: str, limit: int, cursor: str | None) -> Page:
        return self._alert_page(workspace, lambda alert: alert.task_id == task_id, limit, cursor)

    def unresolved_alerts(self, workspace: str, state: AlertState, limit: int, cursor: str | None) -> Page:
        return self._alert_page(workspace, lambda alert: alert.state is state, limit, cursor)

    def _alert_page(self, workspace: str, matches: Callable[[Alert], bool], limit: int, cursor: str | None) -> Page:
        with self._lock:
            found = {a.id: a for (owner, _), a in self._alerts.items() if owner == workspace and matches(a)}
        return page(found, limit, cursor, newest_first=True)

    def _check_alert(self, workspace: str, extra: AlertRaised | AlertCounted | AlertSaved) -> None:
        """Raises what the condition of the extra's write would."""
        match extra:
            case AlertCounted(by, at):
                if self._alert_counts.get((workspace, by, hour_of(at)), 0) >= MAX_PER_HOUR:
                    raise too_many(at)
            case AlertSaved(alert):
                held = self._alerts.get((workspace, alert.id))
                if held is None or held.version != alert.version - 1:
                    raise Conflict("alert")
            case AlertRaised():
                pass

    def _write_alert(self, workspace: str, extra: AlertRaised | AlertCounted | AlertSaved) -> None:
        match extra:
            case AlertRaised(alert) | AlertSaved(alert):
                self._alerts[workspace, alert.id] = alert
            case AlertCounted(by, at):
                self._count_alert((workspace, by, hour_of(at)))

    def _count_alert(self, whose: tuple[str, str, int]) -> None:
        self._alert_counts[whose] = self._alert_counts.get(whose, 0) + 1
