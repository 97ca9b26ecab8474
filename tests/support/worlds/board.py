"""A blackboard that one process searches and other processes write to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from baton.adapters.lexical_search import LexicalSearch, SearchLimits
from baton.adapters.stems import stem
from baton.domain.ids import RANDOM_BYTES, sortable_id
from baton.domain.memory.entry import CHANGE, ENTRY, ChangedEntry, Entry
from baton.domain.memory.entry_index import EntryIndex, Question, ScoredEntry
from baton.ports.writes import Insert, Save, Write
from support.values.records import a_board_entry, add_board_entries
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human

QUEUE = Question(text="queue", limit=100)


class Board:
    def __init__(self, limits: SearchLimits | None = None) -> None:
        self.rig, self.limits = Rig(), limits or SearchLimits()
        self.clock = self.rig.clock
        self.search = self.process()
        self._numbers = iter(range(1, 100_000))

    def process(self) -> LexicalSearch:
        """Returns a new process, which has read nothing yet."""
        return LexicalSearch(self.rig.store, self.clock, self.limits)

    def post(self, text: str = "queue", seconds_ago: float = 0, workspace: str = WORKSPACE, **values: Any) -> Entry:
        number = next(self._numbers)
        at = self.clock.now() - timedelta(seconds=seconds_ago)
        id_ = sortable_id(ENTRY, at, number.to_bytes(RANDOM_BYTES))
        entry = a_board_entry(number, workspace, summary=text, id=id_, posted_at=at, **values)
        add_board_entries(self.rig.other_store, entry)
        return entry

    def change(self, after: Entry, seconds_ago: float = 0, beside: list[Write] | None = None) -> Entry:
        at = self.clock.now() - timedelta(seconds=seconds_ago)
        mark = sortable_id(CHANGE, at, next(self._numbers).to_bytes(RANDOM_BYTES))
        self.rig.other_store.commit(
            WORKSPACE, Save(after), Insert(ChangedEntry(WORKSPACE, mark, after.id)), *(beside or [])
        )
        return after

    def withdraw(self, entry: Entry, seconds_ago: float = 0) -> None:
        self.change(entry.withdrawn_by(human(), self.clock.now()), seconds_ago)

    def delete(self, entry: Entry) -> None:
        forgetting = LexicalSearch(self.rig.other_store, self.clock).forgetting(WORKSPACE, entry.id)
        self.change(entry.deleted_by(human(), self.clock.now()), beside=forgetting)

    def truth(self, question: Question) -> list[ScoredEntry]:
        """Returns what a search finds that reads every entry anew."""
        index = EntryIndex(self.limits.per_workspace, stem, self.limits.bytes_per_workspace)
        page = self.rig.other_store.memory.entries_after(WORKSPACE, None, 100_000)
        for each in page.items:
            index.put(each)
        assert page.cursor is None
        return index.find(question, self.clock.now())

    def found(self, question: Question = QUEUE, workspace: str = WORKSPACE) -> set[str]:
        return {each.entry_id for each in self.search.find(workspace, question).items}

    def calls(self) -> list[str]:
        return self.rig.count(self.found)
