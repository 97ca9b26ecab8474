"""What every part of the store begins with: the table, and how pages of its partitions are read."""

from __future__ import annotations

from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.table import Table


class TableReader:
    def __init__(self, table: Table) -> None:
        self._table = table

    def _index_page(
        self, index: str, partition: str, start: str, limit: int, until: str | None = None
    ) -> list[dict[str, Any]]:
        """Returns the index entries after ``start``, up to ``until``."""
        condition, values = "#pk = :pk AND #sk > :start", {":pk": partition, ":start": start}
        if until is not None:
            # A key condition takes a single range: BETWEEN starts at the next possible sort key after ``start``.
            condition, values = "#pk = :pk AND #sk BETWEEN :start AND :until", {**values, ":start": start + " "}
            values[":until"] = until
        return self._table.query(condition, values, limit=limit, IndexName=index)

    def _newest(
        self, partition: str, limit: int, cursor: str | None, index: str | None = None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Returns a page of a partition whose sort keys are sortable ids, newest first, and the next page's cursor. Of
        a partition that is spread, each shard is read."""
        sort_key, more = keys.attributes_of(index).sk, {} if index is None else {"IndexName": index}
        condition, values = "#pk = :pk", {}
        if cursor is not None:
            condition, values = condition + " AND #sk < :cursor", {":cursor": cursor}
        found: dict[str, dict[str, Any]] = {}
        for shard in self._table.shards.all_of(partition):
            here = self._table.query(condition, {":pk": shard, **values}, limit=limit + 1, newest_first=True, **more)
            found |= {item[sort_key]: item for item in here}
        page = [found[sk] for sk in sorted(found, reverse=True)[:limit]]
        return page, page[-1][sort_key] if len(found) > limit else None
