"""A workspace's agents, tools and routes: three catalogues of one shape. Every version of an entry is kept for good.
The catalogue's own version rises with every change of any entry, so that two changes at once can't break a rule about
several entries, such as unique names."""

from __future__ import annotations

from dataclasses import dataclass

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Fitness, Item, ItemWrite
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put, put_version
from baton.adapters.dynamodb.table import Table
from baton.domain import errors


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryVersion:
    """The next version of an entry."""

    what: str  # the entry's name in a ``Conflict``
    item: Item
    kept_at: keys.Key  # where this version is kept for good
    index: Item | None = None  # the keys of the entry's item in an index


@dataclass(frozen=True, slots=True)
class Catalogue:
    """One catalogue of a workspace, as it was read."""

    what: str  # its name in a ``Conflict``
    head: keys.Key  # of the item with the catalogue's version, among the entries
    version: int = 0

    def save(self, table: Table, entry: EntryVersion, *also: ItemWrite) -> None:
        """Saves the entry with ``also``, and the catalogue in its next version. Raises ``Conflict`` if any entry of the
        catalogue changed since it was read."""
        head = {**self.head._asdict(), "version": self.version + 1}

        table.write(
            [
                put_version({**entry.item, **(entry.index or {})}, entry.item["version"], entry.what),
                put_version(head, self.version + 1, self.what),
                kept_version(entry),
                *also,
            ]
        )


def read_catalogue(table: Table, head: keys.Key) -> tuple[list[Item], int]:
    """Returns the items of the entries and the catalogue's version: 0 if there never was an entry."""
    found = list(table.query_all(head.pk))
    entries = [item for item in found if item["sk"] != head.sk]
    return entries, next((version_of(item) for item in found if item["sk"] == head.sk), 0)


def version_of(head: Item | None) -> int:
    """Returns 0 if there never was an entry."""
    return 0 if head is None else int(head["version"])


def kept_version(entry: EntryVersion) -> ItemWrite:
    """Keeps one version for good: part of the trail of human settings, and the commit proof."""
    item = {**entry.item, **entry.kept_at._asdict()}
    return put(item, NOT_THERE_YET, lambda: errors.Conflict(entry.what), Fitness.LASTING)
