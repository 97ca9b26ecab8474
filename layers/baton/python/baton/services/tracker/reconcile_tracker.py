"""Finds people's changes in the tracker: for workspaces without a webhook, and for deliveries that were lost."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from baton.domain import errors, times
from baton.domain.access.principal import SYNC_TRACKER, system
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.tracker import page_changes
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.ports.deps import Deps
from baton.ports.writes import MakePageDue
from baton.steps import idempotency
from baton.steps.tracker.change_tracker_circuit import change_tracker_circuit, open_tracker_circuit

BUDGET_SECONDS = 30.0
# The tracker's times are by the minute, and its index lags.
OVERLAP_SECONDS = 600
BATCH = 100


def reconcile(deps: Deps, settings: TrackerSettings, workspace: str, circuit: TrackerCircuit) -> int:
    """Returns how many of our pages others have changed since the last time; each is due for a look now. Raises
    ``TrackerTrouble``, after the tracker circuit is opened."""
    started = deps.clock.now()
    read_to: datetime | None = None
    since = (circuit.reconciled_at or started) - times.seconds(OVERLAP_SECONDS)
    tracker, found = deps.trackers.of(workspace, settings, BUDGET_SECONDS), 0
    pages = tracker.changed_since(since)
    try:
        while batch := list(islice(pages, BATCH)):
            theirs = [seen for seen in batch if not seen.by_us]
            holders = deps.store.tracker.page_holders(workspace, [seen.page_id for seen in theirs])
            found += sum(
                report(deps, workspace, seen, holders[seen.page_id]) for seen in theirs if seen.page_id in holders
            )
            read_to = batch[-1].edited_at
    except errors.PageRefused as trouble:  # a query that always fails must not block the others
        deps.log("the tracker can't be reconciled", action="reconcile_refused", reason=trouble.code)
    except errors.TrackerTrouble as trouble:
        # The rest follows, from the last page that was read; pages older than the overlap don't need it.
        up_to = None if read_to is None else min(read_to + times.seconds(OVERLAP_SECONDS), started)
        if up_to is not None and circuit.reconciled_at is not None and up_to > circuit.reconciled_at:
            change_tracker_circuit(deps, workspace, lambda circuit: circuit.reconciled(up_to))
        open_tracker_circuit(deps, workspace, trouble)
        raise
    change_tracker_circuit(deps, workspace, lambda circuit: circuit.reconciled(started))
    return found


def report(deps: Deps, workspace: str, seen: page_changes.PageSnapshot, task_id: str) -> bool:
    """Reports an edit once, however often it is read. False if that was done before."""
    reported = [MakePageDue(task_id, deps.clock.now())]
    if not idempotency.apply_once_per_edit(deps, system(workspace, SYNC_TRACKER), "edits of pages", seen, reported):
        return False
    deps.tracker_queue.notify(workspace, task_id)
    return True
