"""The search in a workspace's memory, the best entries first (docs/spec/memory.md §8)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from baton.domain.access.principal import Principal
from baton.domain.memory.entry import Entry, EntryType
from baton.domain.memory.entry_index import Question, SearchAnswer
from baton.domain.memory.scope import parse_path, parse_scope
from baton.ports.deps import Deps
from baton.steps.memory.found_entries import FoundEntry, found_entries, to_read

# Entries in one answer.
MAX_FOUND = 20
# The types of entries that say why a file is as it is.
REASONS = frozenset({EntryType.DECISION, EntryType.CONSTRAINT})


@dataclass(frozen=True, slots=True)
class Recalled:
    """``score``: the higher, the better the entry fits; only to be compared with others of the same answer."""

    found: FoundEntry
    score: float

    @property
    def entry(self) -> Entry:
        return self.found.entry


def recall(deps: Deps, by: Principal, question: Question) -> SearchAnswer[Recalled]:
    """Returns the entries that fit the question, the best first, at most ``question.limit``. A decision that holds
    comes before the decisions that it replaced, and is returned with them. Raises ``InvalidInput`` and ``Busy``."""
    asked = replace(question, scope=parse_scope(question.scope))
    hits = deps.search.find(by.workspace, replace(asked, limit=to_read(by, asked.limit)))
    found = found_entries(deps, by, [each.entry_id for each in hits.items])
    recalled = [Recalled(found[each.entry_id], each.score) for each in hits.items if each.entry_id in found]
    return SearchAnswer(recalled[: asked.limit], hits.searched, hits.is_whole)


def why(deps: Deps, by: Principal, path: str, limit: int) -> SearchAnswer[FoundEntry]:
    """Returns the decisions and constraints that concern a file or folder, newest first, each with what it replaced.
    Raises ``InvalidInput`` and ``Busy``."""
    hits = deps.search.about(by.workspace, parse_path(path, "path"), REASONS)
    found = found_entries(deps, by, hits.items[: to_read(by, limit)])
    return SearchAnswer(list(found.values())[:limit], hits.searched, hits.is_whole)
