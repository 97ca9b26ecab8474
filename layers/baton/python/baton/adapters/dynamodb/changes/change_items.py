"""Changes of a workspace as items."""

from __future__ import annotations

from baton.adapters.dynamodb import keys, records
from baton.adapters.dynamodb.item_writes import Fitness, Item, ItemWrite, KeyBar, key_of
from baton.adapters.dynamodb.puts import put_version
from baton.domain.access.workspace_change import WorkspaceChange


def change_item(change: WorkspaceChange) -> Item:
    key = keys.Key(keys.changes(change.workspace), change.id)
    place = keys.place(keys.QUEUE_INDEX, keys.change_index_key(change))
    return {**records.written(change), **key._asdict(), "id": None, **place}


def change_from(item: Item) -> WorkspaceChange:
    empty = {name: None for name in ("before", "after") if item.get(name) is None}
    return records.read(WorkspaceChange, item, id=item["sk"], **empty)


def change_put(change: WorkspaceChange) -> ItemWrite:
    """The bar keeps an attempt that arrives late from recording the change a second time."""
    item = change_item(change)
    bar = KeyBar(key_of(item)) if change.version == 1 else None
    return put_version(item, change.version, "change", Fitness.CHANGING, bar)
