"""A secondary index. It may show an item in an older form for a while, but never goes back to an older form."""

from __future__ import annotations

import heapq
from functools import cache
from typing import TYPE_CHECKING, Any

from support.fakes.dynamo import table_definition

if TYPE_CHECKING:
    from collections.abc import Callable

Item = dict[str, Any]
Key = tuple[str, str]
Row = tuple[str, Key, Item]
Entry = tuple[tuple[str, str], Item]
Kept = tuple[
    dict[str, dict[tuple[str, Key], Item]],
    dict[Key, tuple[str, str]],
    dict[Key, int],
    list[tuple[int, int, Key, "Entry | None"]],
    int,
]


@cache
def index_attributes() -> dict[str, tuple[str, ...]]:
    """Returns the indexes of the template's table, each with the attributes that it shows."""
    shown = {}
    for index in table_definition()["GlobalSecondaryIndexes"]:
        keys = [each["AttributeName"] for each in index["KeySchema"]]
        more = index["Projection"].get("NonKeyAttributes", [])
        shown[index["IndexName"]] = (*keys, "pk", "sk", *more)
    return shown


def index_entry(name: str, item: Item | None) -> Entry | None:
    """Returns the keys and attributes by which an item is in the index; None if it isn't in it."""
    pk, sk, *_ = attributes = index_attributes()[name]
    if not item or pk not in item or sk not in item:
        return None
    return (item[pk]["S"], item[sk]["S"]), {each: item[each] for each in attributes if each in item}


class FakeIndex:
    def __init__(self, name: str) -> None:
        self.name = name
        self.shown: dict[str, dict[tuple[str, Key], Item]] = {}
        self._places: dict[Key, tuple[str, str]] = {}
        self._applied: dict[Key, int] = {}
        self._pending: list[tuple[int, int, Key, Entry | None]] = []
        self._count = 0

    def changed(self, key: Key, old: Item | None, new: Item | None, shows_at_ms: Callable[[], int]) -> None:
        """``shows_at_ms``: called only if the change shows in this index."""
        entry = index_entry(self.name, new)
        if index_entry(self.name, old) != entry:
            self._count += 1
            heapq.heappush(self._pending, (shows_at_ms(), self._count, key, entry))

    def rows(self, partition: str, now_ms: int) -> list[Row]:
        self.catch_up(now_ms)
        return [(sk, key, item) for (sk, key), item in self.shown.get(partition, {}).items()]

    def catch_up(self, now_ms: int) -> None:
        """Shows every change that is due by now."""
        while self._pending and self._pending[0][0] <= now_ms:
            _, number, key, entry = heapq.heappop(self._pending)
            if number < self._applied.get(key, 0):
                continue
            self._applied[key] = number
            if key in self._places:
                partition, sk = self._places.pop(key)
                del self.shown[partition][sk, key]
            if entry:
                self._places[key] = entry[0]
                self.shown.setdefault(entry[0][0], {})[entry[0][1], key] = entry[1]

    def snapshot(self) -> Kept:
        shown = {partition: dict(rows) for partition, rows in self.shown.items()}
        return shown, dict(self._places), dict(self._applied), list(self._pending), self._count

    def restore(self, kept: Kept) -> None:
        shown, places, applied, pending, self._count = kept
        self.shown = {partition: dict(rows) for partition, rows in shown.items()}
        self._places, self._applied, self._pending = dict(places), dict(applied), list(pending)
