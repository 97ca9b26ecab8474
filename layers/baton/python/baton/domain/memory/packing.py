"""Which packs are to be written: new ones for entries that are in none, and those that say too little of what has
changed since."""

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

# An entry is packed, and a change merged, once nothing of an earlier time shows any more: ten times as late as a commit
# may be.
SETTLED = timedelta(minutes=10)
# The entries of a pack, unless their words take too much. As many changes are read by each process that begins, before
# they are merged.
PACK_SIZE = 200
# In one commit.
PACKS_AT_ONCE = 10

# By the last id of each pack.
Contents = dict[str, Sequence[EntryWords]]


@dataclass(frozen=True, slots=True)
class ReadPacks:
    """The latest packs, as a process has read them. ``contents``: by the last id of each, the oldest first; None for
    one that is void. ``after``: the id up to which older entries were left out, if there are any."""

    packs: PackList
    contents: Mapping[str, Sequence[EntryWords] | None] = field(default_factory=dict)
    after: str = ""
    of_newer: frozenset[str] = frozenset()  # the last ids of void packs that a newer release has made

    def beginning_with(self, entry_id: str) -> ReadPacks:
        """Returns the same for a process that has read no older entry than this: there are more than are searched."""
        before = entry_id[:-1]  # sorts before it, and after every other one of an earlier millisecond
        return replace(self, after=before, packs=replace(self.packs, begins_after=before))

    def entries(self) -> Iterator[EntryWords]:
        return (each for entries in self.contents.values() for each in entries or ())

    def gaps(self) -> list[tuple[str, str]]:
        """Returns the ranges of ids that void packs stand for: later than the first one, up to the second one."""
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
    """Yields packs of these, which are in none, in the order of their ids: of as many as fill one and are settled."""
    settled = bisect_left(entries, ids.beginning_at(ENTRY, now - SETTLED), key=_id_of)
    for end in range(size, settled + 1, size):
        some = entries[end - size : end]
        yield from in_packs(workspace, some[-1].entry_id, some)


def filled(read: ReadPacks, entries: Sequence[EntryWords], most: int) -> Contents:
    """Returns what the void packs have to hold, each so many at most. ``entries``: those of their ranges, in the order
    of their ids."""
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
    """Returns what packs have to hold now, if ``least`` changes aren't in them, and until when all changes are in them
    then. ``changes``: the entries that were changed, as they are now, by the marks of the changes."""
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
