"""The store's alerts."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.alerts import alert_items
from baton.adapters.dynamodb.table import Table
from baton.domain import errors
from baton.domain.alerts.alert import Alert, AlertState
from baton.ports.paging import Page


class Alerts:
    def __init__(self, table: Table) -> None:
        self._table = table

    def alert(self, workspace: str, alert_id: str) -> Alert:
        item = self._table.get(keys.alert(workspace, alert_id))
        if item is None:
            raise errors.Unknown("alert")
        return alert_items.alert_from(item)

    def newest(self, workspace: str, limit: int, cursor: str | None) -> Page:
        found, cursor = self._table.newest(keys.alerts(workspace), limit, cursor)
        return Page(tuple(map(alert_items.alert_from, found)), cursor)

    def alerts_of_task(self, workspace: str, task_id: str, limit: int, cursor: str | None) -> Page:
        found, cursor = self._table.newest(keys.alerts_of_task(workspace, task_id), limit, cursor)
        return Page(self._read_alerts(workspace, [item["sk"] for item in found]), cursor)

    def unresolved_alerts(self, workspace: str, state: AlertState, limit: int, cursor: str | None) -> Page:
        found, cursor = self._table.newest(keys.unresolved_alerts(workspace, state), limit, cursor, keys.QUEUE_INDEX)
        page = self._read_alerts(workspace, [entry["sk"] for entry in found])
        return Page(tuple(alert for alert in page if alert.state is state), cursor)

    def _read_alerts(self, workspace: str, ids: list[str]) -> tuple[Alert, ...]:
        wanted = [keys.alert(workspace, alert_id) for alert_id in ids]
        found = self._table.get_many(wanted)
        return tuple(alert_items.alert_from(found[key]) for key in wanted if key in found)
