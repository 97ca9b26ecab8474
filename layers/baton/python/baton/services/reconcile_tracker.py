"""Finds people's changes in the tracker: for workspaces without a webhook, and for deliveries that were lost."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from baton.domain.errors import PageRefused, TrackerTrouble
from baton.domain.principal import SYNC_TRACKER, system
from baton.domain.times import seconds
from baton.ports import PageReported
from baton.services.learn_from_page import once_for_edit
from baton.services.tracker_gate import change_gate, close_gate

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.gate import Gate
    from baton.domain.page_news import Seen
    from baton.domain.tracker import TrackerSettings
    from baton.ports import Baton

BUDGET_SECONDS = 30.0
# The tracker's times are by the minute, and its index lags.
OVERLAP_SECONDS = 600
BATCH = 100


def reconcile(baton: Baton, settings: TrackerSettings, workspace: str, gate: Gate) -> int:
    """Returns how many of our pages others have changed since the last time; each is due for a look now. Raises
    ``TrackerTrouble``, after the tracker circuit is tripped."""
    started = baton.clock.now()
    read_to: datetime | None = None
    since = (gate.reconciled_at or started) - seconds(OVERLAP_SECONDS)
    tracker, found = baton.trackers.of(workspace, settings, BUDGET_SECONDS), 0
    pages = tracker.changed_since(since)
    try:
        while batch := list(islice(pages, BATCH)):
            theirs = [seen for seen in batch if not seen.by_us]
            holders = baton.store.page_holders(workspace, [seen.page_id for seen in theirs])
            found += sum(
                report(baton, workspace, seen, holders[seen.page_id]) for seen in theirs if seen.page_id in holders
            )
            read_to = batch[-1].edited_at
    except PageRefused as trouble:  # a query that always fails must not block the others
        baton.log("the tracker can't be reconciled", action="reconcile_refused", reason=trouble.code)
    except TrackerTrouble as trouble:
        # The rest follows, from the last page that was read; pages older than the overlap don't need it.
        up_to = None if read_to is None else min(read_to + seconds(OVERLAP_SECONDS), started)
        if up_to is not None and gate.reconciled_at is not None and up_to > gate.reconciled_at:
            change_gate(baton, workspace, lambda gate: gate.reconciled(up_to))
        close_gate(baton, workspace, trouble)
        raise
    change_gate(baton, workspace, lambda gate: gate.reconciled(started))
    return found


def report(baton: Baton, workspace: str, seen: Seen, task_id: str) -> bool:
    """Reports an edit once, however often it is read. False if that was done before."""
    reported = [PageReported(task_id, baton.clock.now())]
    if not once_for_edit(baton, system(workspace, SYNC_TRACKER), "edits of pages", seen, reported):
        return False
    baton.tracker_bell.ring(workspace, task_id)
    return True
