"""Which packs are to be written: new packs for unpacked entries, void packs, and packs whose entries have changed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from baton.domain import ids
from baton.domain.memory.entry import CHANGE, ENTRY, Entry
from baton.domain.memory.entry_pack import EntryPack, PackList
from baton.domain.memory.entry_words import EntryWords, words_of
from baton.domain.memory.pack_contents import in_packs

# An entry is packed, and a change merged, at this age: ten times as late as a commit may be, so that nothing of an
# earlier time appears afterwards.
SETTLED = timedelta(minutes=10)
# The entries of a pack, unless their words take too many bytes. As many changes wait before they are merged; a process
# that begins reads these.
PACK_SIZE = 200
# The packs that one commit writes.
PACKS_AT_ONCE = 10

# A pack's last id → the entries that it has to hold.
Contents = dict[str, Sequence[EntryWords]]


@dataclass(frozen=True, slots=True)
class ReadPacks:
    """The latest packs, as a process has read them. ``contents``: a pack's last id → its entries, or None if it is
    void; the oldest pack first. ``after``: older entries, up to this id, weren't read; empty if there are none."""

    packs: PackList
    contents: Mapping[str, Sequence[EntryWords] | None] = field(default_factory=dict)
    after: str = ""
    of_newer: frozenset[str] = frozenset()  # the last ids of void packs that a newer release has made

    def beginning_with(self, entry_id: str) -> ReadPacks:
        """Returns the same packs for a process that has read no entry before this one, as there are more than are
        searched."""
        before = entry_id[:-1]  # sorts before it, and after every other one of an earlier millisecond
        return replace(self, after=before, packs=replace(self.packs, begins_after=before))

    def entries(self) -> Iterator[EntryWords]:
        return (each for entries in self.contents.values() for each in entries or ())

    def gaps(self) -> list[tuple[str, str]]:
        """Returns the ranges of ids that void packs stand for: after the first id, up to the second."""
        gaps: list[tuple[str, str]] = []
        before = self.after
        for last_id, entries in self.contents.items():
            if entries is None and gaps and gaps[-1][1] == before:
                gaps[-1] = (gaps[-1][0], last_id)
            elif entries is None:
                gaps.append((before, last_id))
            before = last_id
        return gaps


def new_packs(workspace: str, entries: Sequence[EntryWords], size: int, now: datetime) -> Iterator[EntryPack]:
    """Yields packs of these unpacked entries, which are in the order of their ids: full packs of settled entries."""
    settled = bisect_left(entries, ids.beginning_at(ENTRY, now - SETTLED), key=_id_of)
    for end in range(size, settled + 1, size):
        some = entries[end - size : end]
        yield from in_packs(workspace, some[-1].entry_id, some)


def filled(read: ReadPacks, entries: Sequence[EntryWords], most: int) -> Contents:
    """Returns the contents of the void packs, except those with more than ``most`` entries. ``entries``: those in the
    gaps, in the order of their ids."""
    contents: dict[str, Sequence[EntryWords]] = {}
    before = read.after
    for last_id, known in read.contents.items():
        if known is None and last_id not in read.of_newer:
            first, end = (bisect_right(entries, each, key=_id_of) for each in (before, last_id))
            if end - first <= most:
                contents[last_id] = entries[first:end]
        before = last_id
    return contents


def merged(read: ReadPacks, changes: Mapping[str, Entry], least: int, now: datetime) -> tuple[Contents, datetime]:
    """Returns the new contents of the packs whose entries have changed, and the time up to which all changes are then
    in packs. Returns no contents for fewer than ``least`` settled changes. ``changes``: mark of a change → the entry as
    it is now."""
    settled = sorted(mark for mark in changes if mark < ids.beginning_at(CHANGE, now - SETTLED))
    merged_at = read.packs.merged_at
    if len(settled) < least:
        return {}, merged_at
    last_ids, rewritten = list(read.contents), dict[str, dict[str, EntryWords]]()
    for mark in settled:
        entry = changes[mark]
        last_id = next(iter(last_ids[bisect_left(last_ids, entry.id) :]), "")
        known = read.contents.get(last_id) or ()
        if last_id not in rewritten and any(each.entry_id == entry.id for each in known):
            if len(rewritten) == PACKS_AT_ONCE:
                break
            rewritten[last_id] = {each.entry_id: each for each in known}
        _change(rewritten.get(last_id, {}), entry)
        merged_at = max(merged_at, ids.made_at(mark) or merged_at)
    else:
        merged_at = max(merged_at, now - SETTLED)
    return {last_id: list(entries.values()) for last_id, entries in rewritten.items()}, merged_at


def _change(entries: dict[str, EntryWords], entry: Entry) -> None:
    if entry.id in entries and entry.is_shown:
        entries[entry.id] = words_of(entry)
    else:
        entries.pop(entry.id, None)


def _id_of(entry: EntryWords) -> str:
    return entry.entry_id
