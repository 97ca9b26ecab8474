"""The store's changes of workspaces."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.changes.change_items import change_from
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.table import MAX_BATCH, Table
from baton.domain import errors
from baton.domain.access.workspace_change import WorkspaceChange
from baton.ports.paging import Page


class Changes:
    def __init__(self, table: Table) -> None:
        self._table = table

    def change(self, workspace: str, change_id: str) -> WorkspaceChange:
        item = self._table.get(keys.Key(keys.changes(workspace), change_id))
        if item is None:
            raise errors.Unknown("change")
        return change_from(item)

    def newest(self, workspace: str, limit: int, cursor: str | None) -> Page:
        found, cursor = self._table.newest(keys.changes(workspace), limit, cursor)
        return Page(tuple(map(change_from, found)), cursor)

    def waiting(self, workspace: str) -> tuple[WorkspaceChange, ...]:
        found: dict[keys.Key, Item] = {}
        for page in self._table.index_pages(keys.QUEUE_INDEX, keys.waiting_changes(workspace), MAX_BATCH):
            found |= self._table.get_many([keys.Key(each["pk"], each["sk"]) for each in page])
        changes = sorted(map(change_from, found.values()), key=lambda each: each.id, reverse=True)
        return tuple(each for each in changes if keys.change_index_key(each) is not None)
