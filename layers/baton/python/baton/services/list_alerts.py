"""Finding alerts, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.alert import AlertState
from baton.ports import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.alert import Alert
    from baton.ports import Baton

# A filter that matches little must not read without end: the cursor lets the caller go on.
MAX_READS = 5


def list_alerts(
    baton: Baton, workspace: str, state: AlertState | None, task_id: str | None, limit: int, cursor: str | None
) -> Page:
    """``None`` for any. What nobody has resolved is found without reading the rest. A page may be shorter than
    ``limit``."""
    store = baton.store
    if task_id is not None:
        return _filtered(lambda size, at: store.alerts_of_task(workspace, task_id, size, at), state, limit, cursor)
    if state in {AlertState.OPEN, AlertState.ACKNOWLEDGED}:
        return store.unresolved_alerts(workspace, AlertState(state), limit, cursor)
    return _filtered(lambda size, at: store.alerts(workspace, size, at), state, limit, cursor)


def _filtered(
    read: Callable[[int, str | None], Page], state: AlertState | None, limit: int, cursor: str | None
) -> Page:
    found: list[Alert] = []
    for _ in range(MAX_READS):
        page = read(limit - len(found), cursor)
        found += [alert for alert in page.items if state is None or alert.state is state]
        cursor = page.cursor
        if cursor is None or len(found) >= limit:
            break
    return Page(tuple(found), cursor)
