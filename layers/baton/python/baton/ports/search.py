"""The search in a workspace's entries. What finds by words can be replaced by what finds by meaning."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from baton.domain.memory.entry import EntryType
from baton.domain.memory.entry_index import Question, ScoredEntry, SearchAnswer
from baton.ports.memory import MemoryStore
from baton.ports.writes import CommitStore, Write


class SearchStore(CommitStore, Protocol):
    """What a search reads, and where it keeps what it needs to begin."""

    @property
    def memory(self) -> MemoryStore: ...


class Search(Protocol):
    """It finds ids: who shows an entry reads it from the store, which alone says what it is now. It may just have been
    withdrawn or deleted.

    What was posted before the question is found, unless its commit took longer than two seconds or clocks differ by
    more: then within 15 seconds. Raises ``Busy``."""

    def find(self, workspace: str, question: Question, until: datetime | None = None) -> SearchAnswer[ScoredEntry]:
        """Returns the entries that fit best, the best first (docs/spec/memory.md §8). Withdrawn and deleted ones are
        never found. ``until``: raises ``Busy`` rather than read on after it."""

    def about(self, workspace: str, path: str, entry_types: frozenset[EntryType]) -> SearchAnswer[str]:
        """Returns the ids of the entries of these types that hold for a file or folder, newest first: those in its
        view, and those that name it. What was replaced gives way to what replaced it."""

    def forgetting(self, workspace: str, entry_id: str) -> list[Write]:
        """Returns the writes that take the entry's words out of all that the search has stored, for the commit of its
        deletion, which raises ``Conflict`` if the search has stored more meanwhile. Raises ``Busy``."""
