"""The pieces of a trail in the table. The beginning has the events that the task began with, HEAD the latest ones, a
chunk those that HEAD had before, as they were. A piece has ``events``, and as ``chain`` the hash of its last one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.events.bus_events import OutboxEvent
from baton.domain.tasks import receipts, tail
from baton.domain.tasks.change import Change
from baton.domain.tasks.receipts import Receipt
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import Event

UNREADABLE = (AttributeError, KeyError, TypeError, ValueError)
# The events of a piece with their numbers and hashes: the hash isn't in the entry itself.
Numbered = tuple[int, tail.Entry, str]


# The most events that a task begins with. Whoever reads the trail from a later number on needs no beginning.
MAX_AT_FIRST = 8


class Appended(NamedTuple):
    """A trail with the events of a change. ``task``: the task after it, with the tail that its HEAD gets. ``entries``:
    the change's own events; those of a new task begin the trail, later ones join the tail."""

    task: Task
    entries: tuple[tail.Entry, ...]
    has_moved: bool  # what HEAD had leaves it with this change


def appended(change: Change) -> Appended:
    """The last entry tells which claim the change has ended, and who asked for it. Whether HEAD's entries move depends
    on the task before alone, so that two changes of the same task move the same entries. Raises ``ValueError`` for a
    task that was changed and not read again: its last event would be lost."""
    before, task = change.before, change.task
    found = list(tail.entries(None if before is None else before.state, change.events))
    if found:
        claim = change.ended_claim
        ended = {} if claim is None else tail.ended_part(claim, task, by_holder=change.by_holder)
        found[-1] = {**found[-1], **ended, **({} if change.asked is None else change.asked.part(task))}
    entries = tuple(found)
    if before is None:
        return Appended(task, entries, has_moved=False)
    if before.meta.tail is tail.UNREAD:
        raise ValueError(f"{task.id} was changed, and not read again")
    has_moved = tail.is_full(before.meta.tail)
    kept = () if has_moved else before.meta.tail
    after = task.changed(tail=kept + entries, has_chunks=before.meta.has_chunks or has_moved)
    return Appended(after, entries, has_moved)


def beginning_item(task: Task, entries: Sequence[tail.Entry]) -> Item:
    """Returns the piece that begins a trail, with the task's places in the outbox and in the day's list. ``told``: the
    number of the latest event that the bus has accepted, all before it included."""
    if len(entries) > MAX_AT_FIRST:
        raise ValueError(f"a task that begins with {len(entries)} events")
    outbox = keys.place(keys.WAKE_INDEX, keys.outbox_index_key(task.id, task.meta.updated_at))
    listed = keys.place(keys.QUEUE_INDEX, keys.day_list_index_key(task))
    key = keys.beginning(task.workspace, task.id)
    return {**key._asdict(), "events": list(entries), "chain": task.meta.chain, "told": 0, **outbox, **listed}


def chunk_item(before: Task) -> Item:
    """Returns the copy of what HEAD had. The same state of a task always gives the same chunk."""
    key = keys.chunk(before.workspace, before.id, before.meta.seq)
    return {**key._asdict(), "events": list(before.meta.tail), "chain": before.meta.chain}


def receipt_named(chunk: Item, name: str, task: Task) -> Receipt | None:
    """Returns the latest receipt of this name that the chunk has."""
    rows = [(seq, entry) for seq, entry, _ in numbered(chunk) if name in receipts.names_in(entry)]
    return receipts.receipt_in(*rows[-1], task) if rows else None


def is_before(chunk: Item, since: datetime) -> bool:
    """True if all that the chunk has is older; False if somebody damaged it."""
    with suppress(IndexError, *UNREADABLE):
        return times.parse_rfc3339(entries_of(chunk)[-1]["at"]) < since
    return False


def entries_of(item: Item) -> list[tail.Entry]:
    """Returns the entries of a piece, unread; none if somebody damaged the list."""
    found = item.get("events")
    return found if isinstance(found, list) else []


def numbered(item: Item) -> Iterator[Numbered]:
    """Yields the events of a piece, unread."""
    entries, last = entries_of(item), _last(item)
    if not entries:
        return
    hashes = [each.get("prev", "") if isinstance(each, dict) else "" for each in entries[1:]]
    yield from zip(range(last - len(entries) + 1, last + 1), entries, [*hashes, item.get("chain", "")], strict=True)


def event_of(row: Numbered) -> Event:
    """Raises one of ``UNREADABLE``."""
    _, entry, hash_ = row
    return tail.event_from(entry, hash_)


def outbox_event_of(workspace: str, task_id: str, row: Numbered) -> OutboxEvent:
    """Raises one of ``UNREADABLE``."""
    event = event_of(row)
    before, after = tail.states_around(row[1], event)
    return OutboxEvent(workspace=workspace, task_id=task_id, event=event, state_before=before, state=after)


def _last(item: Item) -> int:
    """Returns the number of the piece's last event."""
    match item["sk"]:
        case keys.HEAD:
            return int(item["seq"])
        case keys.BEGINNING:
            return len(entries_of(item))
    return keys.parse_chunk(item["sk"])


def written_by(item: Item, seq: int) -> Any:
    """Returns the token of the commit that wrote the event with this number; None if the piece doesn't have it."""
    return next((entry.get("write") for number, entry, _ in numbered(item) if number == seq), None)
