"""The port ``Search`` by words: one index per workspace in the memory of the process, which is brought up to date
before each question. A process begins with what others have packed of the entries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from typing import TypeVar

from baton.adapters.entry_packs import EntryPacks
from baton.adapters.gc_pause import gc_paused
from baton.adapters.stems import stem
from baton.domain import errors, ids, times
from baton.domain.memory.entry import CHANGE, ENTRY, ChangedEntry, Entry, EntryType
from baton.domain.memory.entry_index import MOST_BYTES, EntryIndex, Question, ScoredEntry, SearchAnswer
from baton.domain.memory.entry_pack import EntryPack
from baton.domain.memory.entry_words import EntryWords, words_of
from baton.domain.memory.packing import PACK_SIZE, SETTLED
from baton.domain.times import seconds
from baton.ports.memory import LATE_SECONDS
from baton.ports.paging import Page
from baton.ports.search import SearchStore
from baton.ports.system import Clock
from baton.ports.writes import Put, Save, Write

# Entries in a page. The table needs four answers for it if an entry has 150 words.
PAGE = 4_000
# By so much the times of concurrent commits, and of clocks, differ as a rule. Each reading begins so much earlier.
_OVERLAP = seconds(2)
# So often the reading begins earlier by as much as a commit can be late.
_LOOK_BACK = seconds(15)
_LATE = seconds(LATE_SECONDS)
# Before the next attempt to begin, after one that took too long.
_PAUSE = seconds(60)
AnswerT = TypeVar("AnswerT")
# Raises ``Busy`` if there is no time for more.
Check = Callable[[], None]
# Iterates over pages: yields all of them, in their order.
Through = Callable[[Iterator[Page]], Iterator[Page]]


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """``per_workspace``: the number of entries that are searched, the newest. ``kept``, ``kept_bytes``: entries and
    bytes in memory, of all workspaces. Beyond either, the workspace is forgotten that was searched longest ago. An
    entry of 70 words takes about 1 KB; one of 800 different words 10 KB, or 70 KB if no other entry has its words
    (``bytes_per_workspace`` bounds these). ``per_pack``: the entries of a pack."""

    per_workspace: int = 20_000
    bytes_per_workspace: int = MOST_BYTES
    kept: int = 60_000
    kept_bytes: int = 2 * MOST_BYTES
    per_pack: int = PACK_SIZE


DEFAULT_LIMITS = SearchLimits()


def _go_on() -> None:
    """The check of a reading without a time limit."""


class LexicalSearch:
    """``through``: iterates over the pages of a workspace that is read whole. ``iter`` reads one after the other,
    ``prefetched`` reads one while the one before it is used."""

    def __init__(
        self, store: SearchStore, clock: Clock, limits: SearchLimits = DEFAULT_LIMITS, through: Through = iter
    ) -> None:
        self._store, self._clock, self._limits, self._through = store, clock, limits, through
        self._boards: OrderedDict[str, _Board] = OrderedDict()
        self._lock = Lock()

    def find(self, workspace: str, question: Question, until: datetime | None = None) -> SearchAnswer[ScoredEntry]:
        now = self._clock.now()
        return self._fresh(workspace, until).ask(lambda index: index.answer(index.find(question, now)))

    def about(self, workspace: str, path: str, entry_types: frozenset[EntryType]) -> SearchAnswer[str]:
        return self._fresh(workspace).ask(lambda index: index.answer(index.about(path, entry_types)))

    def forgetting(self, workspace: str, entry_id: str) -> list[Write]:
        packs = self._store.memory.pack_list(workspace)
        last_id = self._store.memory.pack_of(workspace, entry_id) if entry_id <= packs.until else None
        void = [] if last_id is None else [Put(EntryPack(workspace, last_id))]
        return [Save(replace(packs, version=packs.version + 1)), *void]

    def _fresh(self, workspace: str, until: datetime | None = None) -> _Board:
        """Returns the workspace's index, up to date."""
        with self._lock:
            board = self._boards.setdefault(workspace, _Board(self._store, workspace, self._limits, self._through))
            self._boards.move_to_end(workspace)
        board.refresh(self._clock.now(), None if until is None else _Deadline(self._clock, until))
        with self._lock:
            self._make_room()
        return board

    def _make_room(self) -> None:
        """Forgets workspaces beyond the limits. The one that was searched last stays, however large it is."""
        kept, size = sum(map(len, self._boards.values())), sum(each.size for each in self._boards.values())
        while (kept > self._limits.kept or size > self._limits.kept_bytes) and len(self._boards) > 1:
            _, oldest = self._boards.popitem(last=False)
            kept, size = kept - len(oldest), size - oldest.size


@dataclass(frozen=True, slots=True)
class _Deadline:
    clock: Clock
    at: datetime

    def __call__(self) -> None:
        """Raises ``Busy`` once the time has come."""
        if self.clock.now() >= self.at:
            raise errors.Busy


class _Board:
    """A workspace's index, and how far it has read. Threads share it, and none waits for another one's reading: so what
    a thread has read may be older than what is in the index.

    Ids sort by the poster's clock, and a commit takes time, so an entry may appear after one with a later id. Each
    reading therefore begins a little before the end of the last one, and now and then as much before it as a commit can
    be late.
    """

    def __init__(self, store: SearchStore, workspace: str, limits: SearchLimits, through: Through) -> None:
        self._store, self._workspace, self._most, self._through = store, workspace, limits.per_workspace, through
        self._index = EntryIndex(limits.per_workspace, stem, limits.bytes_per_workspace)
        self._packs = EntryPacks(store, workspace, limits.per_pack)
        self._lock = Lock()
        self._looked_back: datetime | None = None  # the last reading that began earlier by ``_LATE``
        self._read_at = times.EPOCH
        self._not_in_haste_before = times.EPOCH
        # The mark of each change that may be read again → the entry's id, and its version after the change.
        self._applied: dict[str, tuple[str, int]] = {}

    def __len__(self) -> int:
        return len(self._index)

    @property
    def size(self) -> int:
        return self._index.size

    def ask(self, question: Callable[[EntryIndex], AnswerT]) -> AnswerT:
        with self._lock:
            return question(self._index)

    def refresh(self, now: datetime, may_go_on: Check | None = None) -> None:
        """Reads what is new. Raises ``Busy``, also by ``may_go_on``; the next call reads that again. The first reading
        takes long. If it wasn't done in time, it isn't tried again under a time limit before a pause is over."""
        if self._looked_back is not None:
            self._look(now, self._looked_back, packs=may_go_on is None)
            return
        if may_go_on is not None and now < self._not_in_haste_before:
            raise errors.Busy
        try:
            with gc_paused():
                self._begin(now, may_go_on or _go_on)
        except errors.Busy:
            if may_go_on is not None:
                self._not_in_haste_before = now + _PAUSE
            raise

    def _begin(self, now: datetime, may_go_on: Check) -> None:
        read = self._packs.read(self._most, may_go_on)
        newest, first_id = self._newest_after(read.packs.until, may_go_on)
        in_gaps = [entry for gap in read.gaps() for entry in self._entries_between(*gap)]
        entries = [*(words_of(each) for each in in_gaps if each.is_shown), *newest]
        read = read if first_id is None else read.beginning_with(first_id)
        changes = self._changes_from(read.packs.merged_at - _LATE) if read.contents else {}
        with self._lock:
            self._index.is_whole = not read.after
            self._apply(self._index.fitting([*read.entries(), *entries]), changes)
            self._looked_back = self._read_at = now
            self._forget_before(now - _LATE - _LOOK_BACK)
        may_go_on()  # if it raises, the index is there for the next question all the same
        self._packs.complete(read, entries, changes, now)

    def _look(self, now: datetime, looked_back: datetime, *, packs: bool) -> None:
        looks_back = now - looked_back >= _LOOK_BACK
        begin = looked_back - _LATE
        begin = begin if looks_back else max(begin, self._read_at - _OVERLAP)
        entries, changes = self._entries_from(begin), self._changes_from(begin)
        with self._lock:
            self._apply([words_of(each) for each in entries if each.is_shown and each.id not in self._index], changes)
            self._read_at = max(self._read_at, now)
            if looks_back:
                self._looked_back = now
                self._forget_before(now - _LATE - _LOOK_BACK)
            unpacked = self._index.count_between(self._packs.until, ids.beginning_at(ENTRY, now - SETTLED))
        if packs and unpacked >= self._packs.size:
            self._packs.append(now)

    def _newest_after(self, after_id: str, may_go_on: Check) -> tuple[list[EntryWords], str | None]:
        """Returns the words of the newest entries after the id, in order. If more follow the id than are searched,
        returns the id of the oldest one read, else None."""
        kept, first, cursor = list[EntryWords](), None, None
        for page in self._through(self._newest_pages(after_id)):
            may_go_on()
            new = [each for each in page.items if each.id > after_id]
            kept += (words_of(each) for each in new if each.is_shown)
            first, cursor = new[-1].id if new else first, page.cursor
        return kept[::-1], None if cursor is None else first

    def _newest_pages(self, after_id: str) -> Iterator[Page]:
        """Yields pages until they have as many shown entries as are searched."""
        since, cursor, left = ids.made_at(after_id), None, self._most
        while left > 0:
            page = self._store.memory.newest_entries(self._workspace, since, None, min(PAGE, self._most), cursor)
            yield page
            left, cursor = left - sum(each.is_shown for each in page.items), page.cursor
            if cursor is None:
                return

    def _entries_from(self, begin: datetime) -> list[Entry]:
        return self._entries_between(ids.beginning_at(ENTRY, begin), None)

    def _entries_between(self, after_id: str, until_id: str | None) -> list[Entry]:
        page = self._store.memory.entries_after(self._workspace, after_id or None, PAGE, until_id)
        found = list(page.items)
        while page.cursor is not None:
            page = self._store.memory.entries_after(self._workspace, page.cursor, PAGE, until_id)
            found += page.items
        return found

    def _changes_from(self, begin: datetime) -> dict[str, Entry]:
        """Returns the changed entries as they are now, by the marks of the changes."""
        mark, found = ids.beginning_at(CHANGE, begin), list[ChangedEntry]()
        while marks := self._store.memory.changed_after(self._workspace, mark, PAGE):
            found += (each for each in marks if each.id not in self._applied)
            mark = marks[-1].id
            if len(marks) < PAGE:
                break
        entries = self._store.memory.entries(self._workspace, list({each.entry_id for each in found})) if found else {}
        return {each.id: entries[each.entry_id] for each in found if each.entry_id in entries}

    def _apply(self, entries: Iterable[EntryWords], changes: Mapping[str, Entry]) -> None:
        latest = dict(sorted(self._applied.values()))
        for mark, entry in changes.items():
            if entry.version >= latest.get(entry.id, 0):
                self._index.put(entry)
                latest[entry.id] = entry.version
            self._applied[mark] = (entry.id, entry.version)
        for each in entries:
            if each.entry_id not in self._index and each.version >= latest.get(each.entry_id, 0):
                self._index.put_words(each)

    def _forget_before(self, begin: datetime) -> None:
        oldest = ids.beginning_at(CHANGE, begin)
        self._applied = {mark: change for mark, change in self._applied.items() if mark >= oldest}
