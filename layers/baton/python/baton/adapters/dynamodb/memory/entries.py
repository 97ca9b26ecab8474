"""The store's entries of the blackboard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.memory import entry_items
from baton.adapters.dynamodb.table import Table
from baton.domain import errors, ids
from baton.domain.memory.entry import ENTRY, ChangedEntry, Entry, EntryType
from baton.domain.memory.entry_pack import EntryPack, PackList
from baton.domain.memory.scope import line_of
from baton.ports.memory import NONE_KEPT
from baton.ports.paging import Page

_PREFIX = f"{ENTRY}_"
# Sorts after every id of an entry.
_LAST = _PREFIX + "~"
# So many items are read in addition: of an index, which may show entries that aren't active any more, and of a shard,
# which may have more of a page than the others.
_SPARE = 3
# The items read of a place in a view if humans' entries come first: they fit into half a read unit.
LISTED_AT_ONCE = 25

# A view, and where the entries were posted: in its scope, or below it.
Place = tuple[str, str]


class Entries:
    def __init__(self, table: Table) -> None:
        self._table = table

    def entry(self, workspace: str, entry_id: str) -> Entry:
        item = self._table.get(keys.board_entry(workspace, entry_id))
        if item is None:
            raise errors.Unknown("entry")
        return entry_items.entry_from(workspace, item)

    def entries(self, workspace: str, entry_ids: Sequence[str]) -> dict[str, Entry]:
        wanted = [keys.board_entry(workspace, each) for each in entry_ids]
        found = self._table.get_all(wanted)
        return {key.sk: entry_items.entry_from(workspace, found[key]) for key in wanted if key in found}

    def newest_entries(
        self, workspace: str, since: datetime | None, until: datetime | None, limit: int, cursor: str | None
    ) -> Page:
        first = _first_of(since) or _PREFIX
        last = _first_of(until) or _LAST if cursor is None else _before(cursor)
        found = self._entries_in_shards(workspace, first, last, limit, newest_first=True)
        return _page(workspace, found, limit, newest_first=True)

    def entries_after(self, workspace: str, after_id: str | None, limit: int, until_id: str | None = None) -> Page:
        first = _PREFIX if after_id is None else _after(after_id)
        found = self._entries_in_shards(workspace, first, until_id or _LAST, limit, newest_first=False)
        return _page(workspace, found, limit, newest_first=False)

    def changed_after(self, workspace: str, mark: str | None, limit: int) -> tuple[ChangedEntry, ...]:
        found = self._table.query(keys.board_changes(workspace), limit, after=mark or keys.EARLIEST)
        return tuple(entry_items.changed_from(workspace, item) for item in found)

    def pack_list(self, workspace: str) -> PackList:
        item = self._table.get(keys.board_pack_list(workspace))
        return PackList(workspace=workspace) if item is None else entry_items.pack_list_from(workspace, item)

    def packs_before(self, workspace: str, last_id: str | None, limit: int) -> tuple[EntryPack, ...]:
        last = _LAST if last_id is None else _before(last_id)
        packs = keys.board_packs(workspace)
        found = self._table.query(packs, limit, newest_first=True, first=_PREFIX, last=last)
        return tuple(entry_items.pack_from(workspace, item) for item in found)

    def pack_of(self, workspace: str, entry_id: str) -> str | None:
        found = self._table.query(keys.board_packs(workspace), 1, first=entry_id, last=_LAST)
        return str(found[0]["sk"]) if found else None

    def in_view(
        self,
        workspace: str,
        scope: str,
        most: Mapping[EntryType, int],
        since: datetime | None = None,
        of_humans: Mapping[EntryType, int] = NONE_KEPT,
    ) -> dict[EntryType, tuple[Entry, ...]]:
        places = {kind: _places(workspace, kind, scope) for kind in most}
        wanted = {place: (most[kind] + _SPARE, kind in of_humans) for kind, here in places.items() for place in here}
        listed = self._shown_in_views(wanted, _first_of(since) or _PREFIX)
        newest = {
            kind: _in_order([each for place in here for each in listed[place]], of_humans.get(kind, 0))
            for kind, here in places.items()
        }
        return self._active_entries(workspace, newest, most)

    def _entries_in_shards(
        self, workspace: str, first: str, last: str, limit: int, *, newest_first: bool
    ) -> list[_Shard]:
        """Returns the ids between ``first`` and ``last``, both included, of one page of each shard."""
        if first > last:
            return []
        size, found = limit // keys.BOARD_SHARDS + _SPARE, list[_Shard]()

        def read(partition: str) -> None:
            page = self._table.query_page(partition, size, newest_first=newest_first, first=first, last=last)
            found.append(_Shard(*page))

        self._table.together([partial(read, partition) for partition in keys.board_shards(workspace)])
        return found

    def _shown_in_views(self, wanted: Mapping[Place, tuple[int, bool]], first: str) -> dict[Place, list[keys.Shown]]:
        """Returns the newest entries of each place, so many at least, with those of humans first where that is wanted.
        One query reads both, and a second one the rest if humans' entries fill the first."""
        found: dict[Place, list[keys.Shown]] = {}

        def read(place: Place, size: int, *, humans_first: bool) -> list[keys.Shown]:
            view, where = place
            last = keys.BY_HUMAN + _LAST if humans_first else _LAST
            entries = self._table.query(
                view, size, index=keys.QUEUE_INDEX, newest_first=True, first=where + first, last=where + last
            )
            return [keys.parse_view_sort_key(entry["queue_sk"]) for entry in entries]

        def read_place(place: Place, size: int, *, humans_first: bool) -> None:
            shown = read(place, LISTED_AT_ONCE if humans_first else size, humans_first=humans_first)
            if sum(each.is_by_human for each in shown) > LISTED_AT_ONCE - size:
                shown += read(place, size, humans_first=False)
            found[place] = shown

        self._table.together(
            [partial(read_place, place, size, humans_first=first) for place, (size, first) in wanted.items()]
        )
        return found

    def _active_entries(
        self, workspace: str, newest: Mapping[EntryType, list[str]], most: Mapping[EntryType, int]
    ) -> dict[EntryType, tuple[Entry, ...]]:
        """Reads so many entries of each type, the first of ``newest``. Reads the spare ones of a type only if some of
        the first aren't active any more."""
        read = self.entries(workspace, [each for kind, ids_ in newest.items() for each in ids_[: most[kind]]])
        short = {kind for kind, ids_ in newest.items() if len(_active(read, ids_)) < len(ids_[: most[kind]])}
        if short:
            read |= self.entries(workspace, [each for kind in sorted(short) for each in newest[kind][most[kind] :]])
        return {kind: _newest_first(_active(read, ids_)[: most[kind]]) for kind, ids_ in newest.items()}


@dataclass(frozen=True, slots=True)
class _Shard:
    """The items read of one shard, and whether it has more in the range."""

    items: list[Item]
    has_more: bool


def _page(workspace: str, shards: Sequence[_Shard], limit: int, *, newest_first: bool) -> Page:
    """Returns the first page of all shards together. It ends where the items read of a shard with more end, as the next
    ones of that shard may come before those of others."""
    ends = [shard.items[-1]["sk"] for shard in shards if shard.has_more]
    until = (max(ends) if newest_first else min(ends)) if ends else None
    ordered = sorted((item for shard in shards for item in shard.items), key=_id_of, reverse=newest_first)
    reached = [
        item for item in ordered if until is None or (item["sk"] >= until if newest_first else item["sk"] <= until)
    ]
    shown = tuple(entry_items.entry_from(workspace, item) for item in reached[:limit])
    return Page(shown, shown[-1].id if until is not None or len(reached) > limit else None)


def _places(workspace: str, kind: EntryType, scope: str) -> list[Place]:
    """Returns the places of the active entries that the scope sees: in each scope above it, in itself, and below it."""
    here = [(keys.view_of(workspace, kind, each), keys.HERE) for each in line_of(scope)]
    return [*here, (keys.view_of(workspace, kind, scope), keys.BELOW)]


def _in_order(listed: Sequence[keys.Shown], of_humans: int) -> list[str]:
    """Returns the ids in the order in which they take places: so many of humans', then the newest of all."""
    kept = sorted({each.entry_id for each in listed if each.is_by_human}, reverse=True)[:of_humans]
    others = {each.entry_id for each in listed}.difference(kept)
    return [*kept, *sorted(others, reverse=True)]


def _newest_first(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda entry: entry.id, reverse=True))


# BETWEEN includes both ends, and a page of the store may have no other item than the one that it begins after.
def _after(entry_id: str) -> str:
    """Returns a text that sorts between the id and every later one. All ids have one length."""
    return entry_id + " "


def _before(entry_id: str) -> str:
    """Returns a text that sorts between the id and every earlier one."""
    return entry_id[:-1] + chr(ord(entry_id[-1]) - 1) + "~"


def _first_of(at: datetime | None) -> str | None:
    """Returns what sorts before every id of this millisecond or later, and after all earlier ones."""
    return None if at is None else ids.beginning_at(ENTRY, at)


def _active(read: Mapping[str, Entry], entry_ids: Iterable[str]) -> list[Entry]:
    return [read[each] for each in entry_ids if each in read and read[each].is_active]


def _id_of(item: Item) -> str:
    return str(item["sk"])
