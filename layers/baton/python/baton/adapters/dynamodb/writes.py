"""Transactions: the items that a commit writes, and their conditions. The safety of Baton rests on these conditions.
Each has a name; those that most writes share are in ``puts``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from baton.adapters.dynamodb.access.idempotency_writes import response_put
from baton.adapters.dynamodb.counters import added
from baton.adapters.dynamodb.escalations.marker_writes import (
    close_escalation,
    end_review,
    open_escalation,
    open_review,
)
from baton.adapters.dynamodb.item_writes import ItemWrite, KeyBar, key_of
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put, put_version
from baton.adapters.dynamodb.runs.run_writes import usage_writes
from baton.adapters.dynamodb.stored_types import STORED, StoredType
from baton.adapters.dynamodb.tasks.change_writes import change_writes
from baton.adapters.dynamodb.tasks.requirements import required
from baton.adapters.dynamodb.tracker.tracker_writes import keep_reports, page_due
from baton.domain import errors
from baton.domain.tasks.change import Change
from baton.ports.writes import (
    Add,
    AddUsage,
    CloseEscalation,
    EndReview,
    FinishJob,
    Insert,
    KeepReports,
    MakePageDue,
    OpenEscalation,
    OpenReview,
    Put,
    Replace,
    Require,
    Save,
    SaveResponse,
    Write,
    WriteBeside,
)

# The present item is the value's own: inserting it again changes nothing.
IS_OURS = "attribute_not_exists(#pk) OR #{0} = :{0}"
# The item is still the one that was read.
IS_AS_READ = "#{0} = :seen"


def transaction(workspace: str, writes: Sequence[Write]) -> list[ItemWrite]:
    """Returns the items of one commit: changes of tasks first, then saved responses. The first item with a bar fences
    the transaction off, and nothing does so better than these."""
    changes = [write for write in writes if isinstance(write, Change)]
    begins_alone = sum(change.before is None for change in changes) == 1
    found = [item for change in changes for item in change_writes(change, begins_alone=begins_alone)]
    for write in sorted(writes, key=lambda each: not isinstance(each, SaveResponse)):
        found += () if isinstance(write, Change) else item_writes(workspace, write)
    return found


def item_writes(workspace: str, write: WriteBeside) -> list[ItemWrite]:
    return ITEMS_OF[type(write)](workspace, write)


def _stored(value: object) -> StoredType:
    try:
        return STORED[type(value)]
    except KeyError:
        raise TypeError(f"{type(value).__name__} has no row in stored_types") from None


def _saved(workspace: str, save: Save) -> list[ItemWrite]:
    stored, value = _stored(save.value), save.value
    item = stored.item(workspace, value)
    return [put_version(item, value.version, stored.name, stored.fitness), *stored.beside(workspace, value)]


def _inserted(workspace: str, insert: Insert) -> list[ItemWrite]:
    stored, value = _stored(insert.value), insert.value
    item = stored.item(workspace, value)
    bar = KeyBar(key_of(item)) if stored.has_new_id else None
    taken = insert.taken or (lambda: errors.Conflict(stored.name))
    if item.get(stored.owner) is not None:
        ours = put(item, IS_OURS.format(stored.owner), taken, stored.fitness, bar, **{stored.owner: item[stored.owner]})
        return [ours, *stored.beside(workspace, value)]
    return [put(item, NOT_THERE_YET, taken, stored.fitness, bar), *stored.beside(workspace, value)]


def _put(workspace: str, beside: Put) -> list[ItemWrite]:
    stored, value = _stored(beside.value), beside.value
    return [put(stored.item(workspace, value), fitness=stored.fitness), *stored.beside(workspace, value)]


def _replaced(workspace: str, replace: Replace) -> ItemWrite:
    stored = _stored(replace.value)
    item = stored.item(workspace, replace.value)
    if replace.seen is None:
        return put(item, NOT_THERE_YET, lambda: errors.Conflict(stored.name), stored.fitness)
    seen = stored.item(workspace, replace.seen)[stored.seen_by]
    condition = IS_AS_READ.format(stored.seen_by)
    return put(item, condition, lambda: errors.Conflict(stored.name), stored.fitness, seen=seen)


def _response(_: str, saved: SaveResponse) -> list[ItemWrite]:
    return [response_put(saved.idempotency_key, saved.answer, saved.forget_at)]


# The items of each write that goes with changes of tasks. A job is taken out by an update of its own, after the commit:
# its condition must not refuse the rest.
ITEMS_OF: Mapping[type, Callable[[str, Any], list[ItemWrite]]] = {
    Save: _saved,
    Insert: _inserted,
    Put: _put,
    Replace: lambda workspace, write: [_replaced(workspace, write)],
    Add: lambda workspace, write: [added(workspace, write)],
    Require: lambda workspace, write: [required(workspace, write.fact)],
    SaveResponse: _response,
    OpenEscalation: lambda _, write: [open_escalation(write)],
    OpenReview: lambda _, write: [open_review(write)],
    EndReview: lambda _, write: [end_review(write)],
    CloseEscalation: lambda workspace, write: [close_escalation(workspace, write)],
    MakePageDue: lambda workspace, write: [page_due(workspace, write)],
    KeepReports: lambda workspace, write: [keep_reports(workspace, write)],
    AddUsage: usage_writes,
    FinishJob: lambda *_: [],
}
