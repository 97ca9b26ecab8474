"""The port ``Search`` by words: one index per workspace in the memory of the process, which is brought up to date
before each question. No item of the table belongs to it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import TypeVar

from baton.domain import ids, times
from baton.domain.memory.entry import ChangedEntry, Entry, EntryType
from baton.domain.memory.entry_index import EntryIndex, Found, Question
from baton.domain.times import seconds
from baton.ports.memory import LATE_SECONDS, MemoryStore
from baton.ports.system import Clock

# Of entries, of which a quarter fits into one answer of the table if they have 150 words.
PAGE = 4_000
# What ids begin with.
ENTRY, CHANGE = "ent", "chg"
# What commits that run beside each other, and clocks, differ by as a rule.
_OVERLAP = seconds(2)
# As much as a commit may be late is read again so often.
_LOOK_BACK = seconds(15)
_LATE = seconds(LATE_SECONDS)
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """``per_workspace``: so many entries are searched, the newest. ``kept``: so many are in memory, of all workspaces;
    beyond it the one that wasn't asked for longest is forgotten. An entry of 70 words takes about 1 KB, the longest
    one 5 KB."""

    per_workspace: int = 20_000
    kept: int = 60_000


DEFAULT_LIMITS = SearchLimits()


class LexicalSearch:
    def __init__(self, store: MemoryStore, clock: Clock, limits: SearchLimits = DEFAULT_LIMITS) -> None:
        self._store, self._clock, self._limits = store, clock, limits
        self._boards: OrderedDict[str, _Board] = OrderedDict()
        self._lock = Lock()

    def find(self, workspace: str, question: Question) -> list[Found]:
        now = self._clock.now()
        return self._fresh(workspace).ask(lambda index: index.find(question, now))

    def about(self, workspace: str, path: str, entry_types: frozenset[EntryType]) -> list[str]:
        return self._fresh(workspace).ask(lambda index: index.about(path, entry_types))

    def _fresh(self, workspace: str) -> _Board:
        """Returns the workspace's index, up to date."""
        with self._lock:
            board = self._boards.setdefault(workspace, _Board(self._store, workspace, self._limits.per_workspace))
            self._boards.move_to_end(workspace)
        board.refresh(self._clock.now())
        with self._lock:
            self._make_room()
        return board

    def _make_room(self) -> None:
        """The one that was asked for last stays, however large it is."""
        kept = sum(map(len, self._boards.values()))
        while kept > self._limits.kept and len(self._boards) > 1:
            _, oldest = self._boards.popitem(last=False)
            kept -= len(oldest)


class _Board:
    """A workspace's index, and how far it has read. Threads may share it: none waits while another one reads, so what
    comes may be older than what is there.

    Ids sort by the clock of who posted, and a commit takes its time: what shows late has an id that was passed. So each
    reading begins a little before the last one's end, and now and then by as much as a commit can be late."""

    def __init__(self, store: MemoryStore, workspace: str, most: int) -> None:
        self._store, self._workspace, self._most = store, workspace, most
        self._index = EntryIndex(most)
        self._lock = Lock()
        self._looked_back: datetime | None = None  # when it last read as much again; None: it has read nothing
        self._read_at = times.EPOCH
        # By the mark of each change that may come again: the entry's id and its version after the change.
        self._applied: dict[str, tuple[str, int]] = {}

    def __len__(self) -> int:
        return len(self._index)

    def ask(self, question: Callable[[EntryIndex], AnswerT]) -> AnswerT:
        with self._lock:
            return question(self._index)

    def refresh(self, now: datetime) -> None:
        """Reads what is new. Raises ``Busy``: the next time it reads that again."""
        looked_back = self._looked_back
        looks_back = looked_back is None or now - looked_back >= _LOOK_BACK
        if looked_back is None:
            entries, changes = self._all_entries(), dict[str, Entry]()
        else:
            begin = looked_back - _LATE
            begin = begin if looks_back else max(begin, self._read_at - _OVERLAP)
            entries, changes = self._entries_from(begin), self._changes_from(begin)
        with self._lock:
            self._apply(entries, changes)
            self._read_at = max(self._read_at, now)
            if looks_back:
                self._looked_back = now
                self._forget_before(now - _LATE - _LOOK_BACK)

    def _all_entries(self) -> list[Entry]:
        """Returns the newest ones, as many as are searched."""
        page = self._store.newest_entries(self._workspace, None, None, PAGE, None)
        found = list(page.items)
        while page.cursor is not None and len(found) < self._most:
            page = self._store.newest_entries(self._workspace, None, None, PAGE, page.cursor)
            found += page.items
        return found[::-1]

    def _entries_from(self, begin: datetime) -> list[Entry]:
        page = self._store.entries_after(self._workspace, ids.beginning_at(ENTRY, begin), PAGE)
        found = list(page.items)
        while page.cursor is not None:
            page = self._store.entries_after(self._workspace, page.cursor, PAGE)
            found += page.items
        return found

    def _changes_from(self, begin: datetime) -> dict[str, Entry]:
        """Returns the entries that were changed, by the marks of the changes."""
        mark, found = ids.beginning_at(CHANGE, begin), list[ChangedEntry]()
        while marks := self._store.changed_after(self._workspace, mark, PAGE):
            found += (each for each in marks if each.id not in self._applied)
            mark = marks[-1].id
            if len(marks) < PAGE:
                break
        entries = self._store.entries(self._workspace, list({each.entry_id for each in found})) if found else {}
        return {each.id: entries[each.entry_id] for each in found if each.entry_id in entries}

    def _apply(self, entries: Iterable[Entry], changes: Mapping[str, Entry]) -> None:
        latest = dict(sorted(self._applied.values()))
        for mark, entry in changes.items():
            if entry.version >= latest.get(entry.id, 0):
                self._index.put(entry)
                latest[entry.id] = entry.version
            self._applied[mark] = (entry.id, entry.version)
        for entry in entries:
            if entry.id not in self._index and entry.version >= latest.get(entry.id, 0):
                self._index.put(entry)

    def _forget_before(self, begin: datetime) -> None:
        oldest = ids.beginning_at(CHANGE, begin)
        self._applied = {mark: change for mark, change in self._applied.items() if mark >= oldest}
