"""The items of a fake table, with calls that only tests make: none of them meets a fault."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any

from support.fakes.fake_dynamo.fault_source import FaultSource, NoFaults
from support.fakes.fake_dynamo.indexes import FakeIndex, index_attributes
from support.fakes.fake_dynamo.sizes import item_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = dict[str, Any]
Key = tuple[str, str]
# An item's key, the item before and the item after; None stands for no item.
Change = tuple[Key, Item | None, Item | None]
Row = tuple[str, Key, Item]


class Storage:
    """``watch`` is called with the changes of each write, all those of a transaction together. Items are replaced,
    never changed, so that a copy of the dictionaries around them is a copy of the table."""

    def __init__(self, fault_source: FaultSource | None = None) -> None:
        self.fault_source: FaultSource = fault_source or NoFaults()
        self.items: dict[str, dict[str, Item]] = {}
        self.indexes = {name: FakeIndex(name) for name in index_attributes()}
        self.watch: Callable[[Sequence[Change]], object] = lambda _changes: None
        # The sizes that were asked for. A size is dropped when its item changes.
        self._sizes: dict[Key, int] = {}
        self._tokens: dict[str, tuple[int, list[Item]]] = {}
        self._under_way: set[str] = set()
        self._lock = RLock()

    def item(self, key: Key) -> Item | None:
        with self._lock:  # never between two items of one transaction
            return self.items.get(key[0], {}).get(key[1])

    def contents(self) -> dict[Key, Item]:
        with self._lock:
            return {(pk, sk): item for pk, rows in self.items.items() for sk, item in rows.items()}

    def put(self, item: Item) -> None:
        """Writes the item, whatever was there."""
        key = key_of(item)
        with self._lock:
            self.write([(key, self.item(key), item)])

    def delete(self, wire: Item) -> None:
        key = key_of(wire)
        with self._lock:
            self.write([(key, self.item(key), None)])

    def snapshot(self) -> Callable[[], None]:
        """Returns a function that brings the table back to this moment."""
        indexes = [(index, index.snapshot()) for index in self.indexes.values()]
        items = {pk: dict(rows) for pk, rows in self.items.items()}
        sizes, tokens, under_way = dict(self._sizes), dict(self._tokens), set(self._under_way)

        def restore() -> None:
            self.items = {pk: dict(rows) for pk, rows in items.items()}
            self._sizes, self._tokens, self._under_way = dict(sizes), dict(tokens), set(under_way)
            for index, kept in indexes:
                index.restore(kept)

        return restore

    def take_over(self, other: Storage) -> None:
        """Copies all that the other one holds at this moment."""
        self.items = {pk: dict(rows) for pk, rows in other.items.items()}
        self._sizes, self._tokens = dict(other._sizes), dict(other._tokens)
        for name, index in self.indexes.items():
            index.restore(other.indexes[name].snapshot())

    def rows(self, partition: str, index: str | None) -> list[Row]:
        with self._lock:
            if index:
                return self.indexes[index].rows(partition, self.fault_source.now_ms)
            return [(sk, (partition, sk), item) for sk, item in self.items.get(partition, {}).items()]

    def size_of(self, key: Key) -> int:
        """Returns the bytes of an item that is there."""
        if key not in self._sizes:
            self._sizes[key] = item_bytes(self.item(key) or {})
        return self._sizes[key]

    def write(self, changes: list[Change]) -> None:
        for key, old, new in changes:
            pk, sk = key
            if new is None:
                self.items.get(pk, {}).pop(sk, None)
            else:
                self.items.setdefault(pk, {})[sk] = new
            self._sizes.pop(key, None)
            for index in self.indexes.values():
                index.changed(key, old, new, lambda: self.fault_source.now_ms + self.fault_source.lag_ms())
        self.watch(changes)


def key_of(wire: Item) -> Key:
    return wire["pk"]["S"], wire["sk"]["S"]
