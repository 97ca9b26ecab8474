"""What the search keeps of an entry: its words and what decides its rank, not its texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from baton.domain import times
from baton.domain.memory.entry import DecisionStatus, Entry, EntryType
from baton.domain.memory.scope import ROOT
from baton.domain.memory.words import words

# The words kept of one entry, the summary's first. It isn't found by further ones.
MAX_WORDS = 800
# How much a word counts in each field.
_SUMMARY, _TAGS, _REST = 3, 2, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryWords:
    entry_id: str
    version: int  # of the entry
    posted_ms: int
    entry_type: EntryType
    scope: str
    status: DecisionStatus | None
    superseded_by: str | None
    posted_by: str
    weights: Mapping[str, int]  # how much each word counts


def words_of(entry: Entry) -> EntryWords:
    """Returns the words of an entry that is shown."""
    return EntryWords(
        entry_id=entry.id,
        version=entry.version,
        posted_ms=times.to_ms(entry.posted_at),
        entry_type=entry.entry_type,
        scope=entry.scope,
        status=entry.status,
        superseded_by=entry.superseded_by,
        posted_by=entry.posted_by,
        weights=_weights(entry),
    )


def _weights(entry: Entry) -> Counter[str]:
    counted: list[str] = []
    left = MAX_WORDS
    for weight, text in _fields(entry):
        found = list(islice(words(text), left))
        left -= len(found)
        counted += found * weight
    return Counter(counted)


def _fields(entry: Entry) -> Iterator[tuple[int, str]]:
    scope = "" if entry.scope == ROOT else entry.scope
    yield _SUMMARY, entry.summary
    yield _TAGS, " ".join(entry.tags)
    yield _REST, "\n".join((scope, *entry.relates_to, entry.detail, entry.rationale or ""))
