"""The items of the blackboard's entries.

An active decision, warning or finding is in the queue index once for each scope from the root down to its own: in the
view of that scope. The entry's item has the root's place, a row each other one. What a human posted is in each view a
second time, by rows, before all else. What is over loses its places; the rows stay."""

from __future__ import annotations

from baton.adapters.dynamodb import keys, records
from baton.adapters.dynamodb.item_writes import Item
from baton.domain.memory import entry as entries
from baton.domain.memory.entry import ChangedEntry, Entry, EntryEvent
from baton.domain.memory.entry_pack import EntryPack, PackList
from baton.domain.memory.scope import ROOT, line_of


def entry_item(entry: Entry) -> Item:
    written = {
        **records.written(entry),
        "workspace": None,
        "id": None,
        "changes": list(map(_event_item, entry.changes)),
    }
    return {**written, **keys.board_entry(entry.workspace, entry.id)._asdict(), **_place(entry, ROOT)}


def entry_from(workspace: str, item: Item) -> Entry:
    changes = tuple(map(_event_from, item["changes"]))
    return records.read(Entry, item, workspace=workspace, id=item["sk"], changes=changes)


def row_items(entry: Entry) -> list[Item]:
    """Returns the entry's rows: with their places if it is active, without if it is so no more."""
    if not _has_rows(entry):
        return []
    line = list(enumerate(line_of(entry.scope)))
    rows = [(keys.board_row(entry.workspace, entry.id, depth), _place(entry, scope)) for depth, scope in line[1:]]
    if entries.is_by_human(entry):
        rows += [
            (keys.board_row_by_human(entry.workspace, entry.id, depth), _place(entry, scope, keys.BY_HUMAN))
            for depth, scope in line
        ]
    return [{**key._asdict(), **place} for key, place in rows]


def changed_item(changed: ChangedEntry) -> Item:
    return {"pk": keys.board_changes(changed.workspace), "sk": changed.id, "entry": changed.entry_id}


def changed_from(workspace: str, item: Item) -> ChangedEntry:
    return ChangedEntry(workspace, item["sk"], item["entry"])


def pack_list_item(packs: PackList) -> Item:
    return {**keys.board_pack_list(packs.workspace)._asdict(), **records.written(packs), "workspace": None}


def pack_list_from(workspace: str, item: Item) -> PackList:
    return records.read(PackList, item, workspace=workspace)


def pack_item(pack: EntryPack) -> Item:
    key = keys.board_pack(pack.workspace, pack.last_id)
    return {**key._asdict(), "form": pack.form, "contents": pack.contents or None}


def pack_from(workspace: str, item: Item) -> EntryPack:
    return records.read(EntryPack, item, workspace=workspace, last_id=item["sk"])


def _has_rows(entry: Entry) -> bool:
    """A new entry that isn't active needs none: it can't become active later."""
    return entry.entry_type in entries.SNAPSHOT_TYPES and (entry.is_active or entry.version > 1)


def _place(entry: Entry, scope: str, shelf: str = "") -> Item:
    """The place in the view of a scope; none if the entry isn't in view."""
    if not (entry.entry_type in entries.SNAPSHOT_TYPES and entry.is_active):
        return {}
    return keys.place(keys.QUEUE_INDEX, keys.view_index_key(entry, scope, shelf))


def _event_item(event: EntryEvent) -> Item:
    values = {**records.written(event), "entry": event.entry_id, "entry_id": None}
    return {name: value for name, value in values.items() if value is not None}


def _event_from(item: Item) -> EntryEvent:
    return records.read(EntryEvent, item, entry_id=item.get("entry"))
