"""Finding alerts, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.alert import AlertState
from baton.services.filtering import filtered

if TYPE_CHECKING:
    from baton.domain.alert import Alert
    from baton.ports import Baton, Page


def list_alerts(
    baton: Baton, workspace: str, state: AlertState | None, task_id: str | None, limit: int, cursor: str | None
) -> Page:
    """``None`` for any. What nobody has resolved is found without reading the rest. A page may be shorter than
    ``limit``."""
    store = baton.store

    def takes(alert: Alert) -> bool:
        return state is None or alert.state is state

    if task_id is not None:
        return filtered(lambda size, at: store.alerts_of_task(workspace, task_id, size, at), takes, limit, cursor)
    if state in {AlertState.OPEN, AlertState.ACKNOWLEDGED}:
        return store.unresolved_alerts(workspace, AlertState(state), limit, cursor)
    return filtered(lambda size, at: store.alerts(workspace, size, at), takes, limit, cursor)
