"""The packs of one workspace: read when a process begins, and written where they are missing (docs/what-is-stored.md
§16)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice

from baton.domain import errors, times
from baton.domain.memory.entry import Entry
from baton.domain.memory.entry_pack import EntryPack, PackList
from baton.domain.memory.entry_words import EntryWords, words_of
from baton.domain.memory.pack_contents import entries_of, in_packs
from baton.domain.memory.packing import PACKS_AT_ONCE, ReadPacks, filled, merged, new_packs
from baton.ports.search import SearchStore
from baton.ports.writes import Put, Save

# About the most bytes of a commit: 500 write units. A partition takes 1,000 a second.
BYTES_AT_ONCE = 200_000
# The packs of one page.
PACKS_READ = 50
# The most new packs that a process writes when it begins.
MOST_NEW = 50
# Before the next attempt to write, after one that failed: another process was first, or the table is busy.
PAUSE = timedelta(minutes=1)


class EntryPacks:
    """``size``: the entries of a pack. ``until``: the last id that is known to be in a pack. Entries without a pack are
    read one by one, so a failure to write costs time, and nothing else."""

    def __init__(self, store: SearchStore, workspace: str, size: int) -> None:
        self._store, self._workspace, self.size = store, workspace, size
        self._not_before = times.EPOCH
        self.until = ""

    def read(self, most: int, may_go_on: Callable[[], None] = lambda: None) -> ReadPacks:
        """Returns the latest packs, with about ``most`` entries if there are as many. Their list is read first: a pack
        may be newer than the list, and is never older. ``may_go_on`` raises ``Busy`` if there is no time for another
        pack."""
        try:
            packs = self._store.memory.pack_list(self._workspace)
            return self._contents(packs, most, may_go_on) if packs.until else ReadPacks(packs)
        except errors.WrittenByNewer:
            return ReadPacks(PackList(workspace=self._workspace))

    def _contents(self, packs: PackList, most: int, may_go_on: Callable[[], None]) -> ReadPacks:
        self.until = packs.until
        contents: dict[str, Sequence[EntryWords] | None] = {}
        of_newer = set[str]()
        after = packs.begins_after
        for pack in self._latest():
            may_go_on()
            if most <= 0 or pack.last_id <= packs.begins_after:
                after = max(after, pack.last_id)
                break
            entries = contents[pack.last_id] = None if pack.is_void else entries_of(pack)
            most -= self.size if entries is None else len(entries)
            if pack.is_of_newer:
                of_newer.add(pack.last_id)
        return ReadPacks(packs, dict(reversed(contents.items())), after, frozenset(of_newer))

    def complete(
        self, read: ReadPacks, entries: Sequence[EntryWords], changes: Mapping[str, Entry], now: datetime
    ) -> None:
        """Writes the packs that a process found missing when it began. ``entries``: those of the gaps and those after
        the last pack, in the order of their ids. ``changes``: the entries that were changed since ``merged_at``, by the
        marks of the changes. Both were read after the packs."""
        changed, merged_at = merged(read, changes, self.size, now)
        contents = islice((changed | filled(read, entries, most=2 * self.size)).items(), PACKS_AT_ONCE)
        rewritten = [pack for last_id, some in contents for pack in in_packs(self._workspace, last_id, some)]
        following = [each for each in entries if each.entry_id > read.packs.until]

        def write() -> None:
            packs = replace(read.packs, merged_at=merged_at)
            if rewritten or packs != read.packs:
                packs = self._commit(packs, rewritten)
            self._add(packs, following, now)

        self._try(now, write)

    def append(self, now: datetime) -> None:
        """Writes the packs that follow the last one. Reads the entries again, as one may have been deleted."""
        if now >= self._not_before:
            self._not_before = now + PAUSE
            self._try(now, lambda: self._append(now))

    def _append(self, now: datetime) -> None:
        packs = self._store.memory.pack_list(self._workspace)
        if packs.until != self.until:
            self.until = packs.until  # another process was first
            return
        page = self._store.memory.entries_after(self._workspace, self.until or None, PACKS_AT_ONCE * self.size)
        self._add(packs, [words_of(each) for each in page.items if each.is_shown], now)

    def _add(self, packs: PackList, following: Sequence[EntryWords], now: datetime) -> None:
        """Writes packs of the entries that follow the last one."""
        if not packs.until:
            packs = replace(packs, merged_at=now)
        for some in _in_parts(islice(new_packs(self._workspace, following, self.size, now), MOST_NEW)):
            packs = self._commit(replace(packs, until=some[-1].last_id), some)

    def _try(self, now: datetime, write: Callable[[], None]) -> None:
        try:
            write()
        except errors.BatonError:
            self._not_before = now + PAUSE

    def _commit(self, packs: PackList, written: Sequence[EntryPack]) -> PackList:
        """Writes packs and their list. Raises ``Conflict`` if another process has written, or an entry was deleted,
        since the list was read."""
        after = replace(packs, version=packs.version + 1)
        self._store.commit(self._workspace, Save(after), *map(Put, written))
        self.until, self._not_before = after.until, times.EPOCH
        return after

    def _latest(self) -> Iterator[EntryPack]:
        """Yields the packs, the latest first."""
        found = self._store.memory.packs_before(self._workspace, None, PACKS_READ)
        yield from found
        while len(found) == PACKS_READ:
            found = self._store.memory.packs_before(self._workspace, found[-1].last_id, PACKS_READ)
            yield from found


def _in_parts(packs: Iterable[EntryPack]) -> Iterator[list[EntryPack]]:
    """Yields the packs of each commit."""
    part: list[EntryPack] = []
    for pack in packs:
        if part and (len(part) == PACKS_AT_ONCE or sum(len(each.contents) for each in part) > BYTES_AT_ONCE):
            yield part
            part = []
        part.append(pack)
    if part:
        yield part
