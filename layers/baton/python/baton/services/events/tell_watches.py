"""Tells the watches that something has changed in a workspace's tasks. If nobody watches, it costs a batch one read
(docs/what-is-stored.md §14)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from baton.ports.deps import Deps
from baton.ports.system import Workers, in_turn


def tell_watches(
    deps: Deps, changed: Collection[str], records: Sequence[Mapping[str, Any]], workers: Workers = in_turn
) -> None:
    """Notes a change for each of the ``changed`` workspaces that is watched, and brings back the watches in a batch of
    the table's stream. Never raises: a workspace for which it fails isn't brought back, so its lists are soon made
    anew each time."""
    try:
        asked_at, now = deps.store.watches.asked_watches(records), deps.clock.now()
        watches = deps.store.watches.of_workspaces(sorted(changed)) if changed else {}
        watched = {workspace for workspace, watch in watches.items() if watch.is_watched(now)}
        workers(
            sorted(watched | asked_at.keys()),
            lambda workspace: _tell(deps, workspace, now if workspace in watched else None, asked_at.get(workspace)),
        )
    except Exception as exc:  # noqa: BLE001 - any error of a store: no event waits for a watch
        _log(deps, exc)


def _tell(deps: Deps, workspace: str, changed_at: datetime | None, asked_at: datetime | None) -> None:
    """What came before the watch is noted before it."""
    try:
        if changed_at is not None:
            deps.store.watches.note_change(workspace, changed_at)
        if asked_at is not None:
            deps.store.watches.note_brought(workspace, asked_at)
    except Exception as exc:  # noqa: BLE001 - the same
        _log(deps, exc)


def _log(deps: Deps, exc: Exception) -> None:
    deps.log("a watch wasn't told of a change", action="watch_untold", error=type(exc).__name__)
