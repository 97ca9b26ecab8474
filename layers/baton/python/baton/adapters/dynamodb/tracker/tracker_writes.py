"""The writes that others make to a page's synchronisation: it is due, or the tracker has reported something."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import ItemWrite
from baton.adapters.dynamodb.puts import update
from baton.domain import errors, times
from baton.domain.tracker.page_changes import MAX_REPORTS
from baton.ports.writes import KeepReports, MakePageDue

_HAS_ROOM = "attribute_not_exists(#reports) OR size(#reports) < :most"


def page_due(workspace: str, due: MakePageDue) -> ItemWrite:
    """Makes the page due for a look now, also while another process synchronises it: saving then finds another version,
    and that process reads again. Its only condition is room for the reports."""
    key, queue = keys.task_item(workspace, due.task_id, keys.MIRROR), keys.page_sync_queue(workspace)
    sets = "SET #due_ms = :due, #queue_pk = :pk, #queue_sk = :sk ADD #version :one, #looks :one"
    place = {":pk": queue, ":sk": keys.due_sort_key(due.at, due.task_id)}
    values = {":due": times.to_ms(due.at), **place, ":one": 1}
    if not due.reports:
        return update(key, sets, None, values, lambda: errors.Conflict("mirror"))
    values |= {":reports": set(due.reports), ":most": MAX_REPORTS}
    return update(key, f"{sets}, #reports :reports", _HAS_ROOM, values, errors.NoRoom)


def keep_reports(workspace: str, kept: KeepReports) -> ItemWrite:
    """Raises the version, so that a sender who read the page before reads it again."""
    key = keys.task_item(workspace, kept.task_id, keys.MIRROR)
    values = {":one": 1, ":reports": set(kept.reports), ":most": MAX_REPORTS}
    condition = f"attribute_exists(#version) AND ({_HAS_ROOM})"
    return update(key, "ADD #version :one, #reports :reports", condition, values, errors.NoRoom)
