"""The port of the search in a workspace's entries. A search by words could be replaced by one by meaning."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from baton.domain.memory.entry import EntryType
from baton.domain.memory.entry_index import Question, ScoredEntry, SearchAnswer
from baton.ports.memory import MemoryStore
from baton.ports.writes import CommitStore, Write


class SearchStore(CommitStore, Protocol):
    """The store that a search reads, and in which it keeps its packs."""

    @property
    def memory(self) -> MemoryStore: ...


class Search(Protocol):
    """Finds ids of entries. An entry that is shown is read from the store, as it may have been withdrawn or deleted
    just now.

    Finds all that was posted before the question. An entry whose commit took longer than two seconds, or whose poster's
    clock differs by more, is found within 15 seconds. Raises ``Busy``.
    """

    def find(self, workspace: str, question: Question, until: datetime | None = None) -> SearchAnswer[ScoredEntry]:
        """Returns the entries that fit best, the best first (docs/spec/memory.md §8). Withdrawn and deleted ones are
        never found. ``until``: raises ``Busy`` rather than read on after it."""

    def about(self, workspace: str, path: str, entry_types: frozenset[EntryType]) -> SearchAnswer[str]:
        """Returns the ids of the entries of these types that concern a file or folder, newest first: entries whose
        scope sees it, and entries that have its name among their words. A replaced decision gives its place to the one
        that replaced it."""

    def forgetting(self, workspace: str, entry_id: str) -> list[Write]:
        """Returns the writes that take the entry's words out of all that the search has stored, for the commit of its
        deletion, which raises ``Conflict`` if the search has stored more meanwhile. Raises ``Busy``."""
