"""The store's views that people save: one item for each person, and one for the workspace."""

from __future__ import annotations

from collections.abc import Sequence

from baton.adapters.dynamodb import keys, records
from baton.adapters.dynamodb.item_writes import Fitness, Item
from baton.adapters.dynamodb.puts import put_version
from baton.adapters.dynamodb.table import Table
from baton.domain.access.saved_view import SavedView, ViewList
from baton.domain.canonical_json import canonical_json
from baton.domain.numbers import loads


class SavedViews:
    def __init__(self, table: Table) -> None:
        self._table = table

    def lists(self, workspace: str, owners: Sequence[str | None]) -> list[ViewList]:
        wanted = [keys.saved_views(workspace, owner) for owner in owners]
        found = self._table.get_many(wanted)
        return [_list_from(found.get(key)) for key in wanted]

    def save(self, workspace: str, owner: str | None, views: ViewList) -> None:
        said = canonical_json([records.written(each) | {"query": dict(each.query)} for each in views.views.values()])
        item: Item = {**keys.saved_views(workspace, owner)._asdict(), "views": said, "version": views.version}
        self._table.write([put_version(item, views.version, "views", Fitness.CHANGING)])


def _list_from(item: Item | None) -> ViewList:
    if item is None:
        return ViewList({})
    read = [records.read(SavedView, each, query=each["query"]) for each in loads(item["views"])]
    return ViewList({each.name: each for each in read}, int(item["version"]))
