"""The search index of one workspace's entries. It holds their words and what decides their rank, not their texts, which
are read from the store."""

from __future__ import annotations

import heapq
import sys
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Generic, TypeVar

from baton.domain import times
from baton.domain.memory import ranking
from baton.domain.memory.entry import STANDING, Entry, EntryType
from baton.domain.memory.entry_words import MAX_WORDS, EntryWords, words_of
from baton.domain.memory.forms import Stem, terms
from baton.domain.memory.scope import ROOT, sees, steps_between
from baton.domain.memory.word_index import WordIndex
from baton.domain.memory.words import words

ItemT = TypeVar("ItemT")
# How much the words of a replaced decision count for the decision that replaced it.
_INHERITED = 0.9
# About the bytes of a process's memory that an index takes.
MOST_BYTES = 48_000_000
_WORD_BYTES, _NEW_WORD_BYTES = 8, 90
# The new words that one poster's entries may bring to the index: so many, and so many more per entry. Beyond that, the
# poster's entries are found only by words that others use too. An ordinary entry of a large workspace brings three.
FREE_WORDS, WORDS_PER_ENTRY = 20_000, 20
# The longest history of a decision that is followed.
_MAX_STEPS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of the search. ``scope``: only entries that it sees are found, and near ones first; the root sees all
    alike."""

    text: str
    scope: str = ROOT
    entry_types: frozenset[EntryType] = frozenset()  # none: of any type
    limit: int = 10


@dataclass(frozen=True, slots=True)
class ScoredEntry:
    """``score``: the higher, the better the entry fits. Comparable within one question only."""

    entry_id: str
    score: float


@dataclass(frozen=True, slots=True)
class SearchAnswer(Generic[ItemT]):
    """``searched``: the number of entries in the index. ``is_whole``: the workspace has no others."""

    items: list[ItemT]
    searched: int
    is_whole: bool


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of an entry beside its words."""

    posted_ms: int
    entry_type: EntryType
    scope: str
    holds: bool  # False for a decision that was replaced
    weight: float  # of its type and status
    poster: str
    words: int  # how many words it is found by
    brought: int  # how many of these no entry had before

    @property
    def size(self) -> int:
        """In bytes, about."""
        return self.words * _WORD_BYTES + self.brought * _NEW_WORD_BYTES


@dataclass(slots=True)
class _Share:
    """The part of an index that one poster's entries take."""

    ids: list[str] = field(default_factory=list)  # sorted
    size: int = 0
    brought: int = 0

    @property
    def may_bring(self) -> int:
        return max(0, FREE_WORDS + WORDS_PER_ENTRY * len(self.ids) - self.brought)

    def put(self, entry_id: str, facts: _Facts) -> None:
        insort(self.ids, entry_id)
        self.size += facts.size
        self.brought += facts.brought

    def remove(self, entry_id: str, facts: _Facts) -> None:
        del self.ids[bisect_left(self.ids, entry_id)]
        self.size -= facts.size
        self.brought -= facts.brought


class EntryIndex:
    """``most``: the number of entries kept, the newest. ``most_bytes``: beyond it the oldest entry of the poster with
    the most bytes goes, so that one poster doesn't push out the others. ``stem``: stems a question's words.
    ``is_whole``: no entry was left out."""

    def __init__(self, most: int, stem: Stem, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._stem, self._most_bytes = most, stem, most_bytes
        self._shares = defaultdict[str, _Share](_Share)
        self.size = 0  # in bytes, about
        self.is_whole = True
        self._words = WordIndex()
        self._facts: dict[str, _Facts] = {}
        self._heirs: dict[str, str] = {}  # replaced decision → the decision that replaced it
        self._ids: list[str] = []  # sorted, and so by time

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._facts

    def put(self, entry: Entry) -> None:
        """Adds the entry, or replaces the one with its id. An entry that isn't shown any more is removed."""
        if entry.is_shown:
            self.put_words(words_of(entry))
        else:
            self.remove(entry.id)

    def put_words(self, entry: EntryWords) -> None:
        """Adds the entry with these words, or replaces the one with its id."""
        self.remove(entry.entry_id)
        insort(self._ids, entry.entry_id)
        if entry.superseded_by is not None:
            self._heirs[entry.entry_id] = entry.superseded_by
        share = self._shares[entry.posted_by]
        facts = _facts(entry, *self._words.put(entry.entry_id, entry.weights, share.may_bring))
        self._facts[entry.entry_id] = facts
        share.put(entry.entry_id, facts)
        self.size += facts.size
        self._make_room()

    def fitting(self, entries: Sequence[EntryWords]) -> list[EntryWords]:
        """Returns the entries that an empty index would keep, in the same order, judged by the bytes that they take at
        least. To put the others first and remove them again would take most of the time."""
        size = sum(map(_least_size, entries))
        if size <= self._most_bytes:
            return list(entries)
        self.is_whole = False
        newest_first = defaultdict[str, list[EntryWords]](list)
        sizes = Counter[str]()
        for each in sorted(entries, key=lambda each: each.entry_id, reverse=True):
            newest_first[each.posted_by].append(each)
            sizes[each.posted_by] += _least_size(each)
        largest = [(-taken, poster) for poster, taken in sizes.items()]
        heapq.heapify(largest)
        gone = set[str]()
        while size > self._most_bytes:
            taken, poster = largest[0]
            oldest = newest_first[poster].pop()
            gone.add(oldest.entry_id)
            size -= _least_size(oldest)
            heapq.heapreplace(largest, (taken + _least_size(oldest), poster))
        return [each for each in entries if each.entry_id not in gone]

    def _make_room(self) -> None:
        while len(self) > self._most or self.size > self._most_bytes:
            self.is_whole = False
            is_full = len(self) > self._most
            self.remove(self._ids[0] if is_full else max(self._shares.values(), key=lambda share: share.size).ids[0])

    def count_between(self, after: str, before: str) -> int:
        """Returns the number of entries with an id after ``after`` and before ``before``."""
        return bisect_left(self._ids, before) - bisect_right(self._ids, after)

    def remove(self, entry_id: str) -> None:
        """Removes the entry, if there is one."""
        facts = self._facts.pop(entry_id, None)
        if facts is not None:
            del self._ids[bisect_left(self._ids, entry_id)]
            self._heirs.pop(entry_id, None)
            self._words.remove(entry_id)
            self._shares[facts.poster].remove(entry_id, facts)
            self.size -= facts.size

    def find(self, question: Question, now: datetime) -> list[ScoredEntry]:
        """Returns the best entries, the best first; the newer first of two equals."""
        rank = self._rank(question, times.to_ms(now))
        ranked = ((score * rank(self._facts[entry_id]), entry_id) for entry_id, score in self._fits(question.text))
        best = heapq.nlargest(question.limit, (each for each in ranked if each[0] > 0))
        return [ScoredEntry(entry_id, score) for score, entry_id in best]

    def answer(self, items: list[ItemT]) -> SearchAnswer[ItemT]:
        """Returns the items with the size of the index."""
        return SearchAnswer(items, len(self), self.is_whole)

    def about(self, path: str, entry_types: frozenset[EntryType]) -> list[str]:
        """Returns the ids of the entries of these types that concern a file or folder, newest first: entries whose
        scope sees it, and entries that have its name among their words. An entry of the root scope concerns it only by
        its name. A replaced decision gives its place to the one that replaced it."""
        names = list(words(path.rpartition("/")[2]))[-1:]
        holding = {
            self._heir(entry_id)
            for entry_id, facts in self._facts.items()
            if facts.entry_type in entry_types and (self._touches(facts, path) or self._is_named(entry_id, names))
        }
        return sorted((each for each in holding if self._facts[each].holds), reverse=True)

    def _touches(self, facts: _Facts, path: str) -> bool:
        return facts.scope == path if ROOT in {facts.scope, path} else sees(path, facts.scope)

    def _is_named(self, entry_id: str, names: list[str]) -> bool:
        return any(self._words.holds(entry_id, name) for name in names)

    def _fits(self, text: str) -> Iterable[tuple[str, float]]:
        """Returns the score of each entry by its words. A replaced decision lends its score to the one that replaced
        it, so that a question in the old words finds today's decision."""
        asked = terms(text, self._words.vocabulary, self._stem, self._words.is_held)
        fits = self._words.scores(islice(asked, MAX_WORDS))
        for entry_id in self._heirs:
            heir, lent = self._heir(entry_id), fits.get(entry_id, 0.0) * _INHERITED
            if heir != entry_id and lent > fits.get(heir, 0.0):
                fits[heir] = lent
        return fits.items()

    def _heir(self, entry_id: str) -> str:
        """Returns the decision that holds in place of this entry; the entry itself, if it wasn't replaced."""
        for _ in range(_MAX_STEPS):
            following = self._heirs.get(entry_id)
            if following is None or following not in self._facts:
                break
            entry_id = following
        return entry_id

    def _rank(self, question: Question, now_ms: int) -> Callable[[_Facts], float]:
        closeness: dict[str, float] = {}

        def rank(facts: _Facts) -> float:
            if question.entry_types and facts.entry_type not in question.entry_types:
                return 0.0
            near = closeness.get(facts.scope)
            if near is None:
                near = closeness[facts.scope] = _closeness(question.scope, facts.scope)
            return near * facts.weight * ranking.weight_of_age(now_ms - facts.posted_ms)

        return rank


def _least_size(entry: EntryWords) -> int:
    """Returns about the bytes that the entry takes at least: none of its words is new."""
    return len(entry.weights) * _WORD_BYTES


def _facts(entry: EntryWords, found_by: int, brought: int) -> _Facts:
    return _Facts(
        posted_ms=entry.posted_ms,
        entry_type=entry.entry_type,
        scope=sys.intern(entry.scope),
        holds=entry.status in {None, *STANDING},
        weight=ranking.weight_of_type(entry.entry_type) * ranking.weight_of_status(entry.status),
        poster=sys.intern(entry.posted_by),
        words=found_by,
        brought=brought,
    )


def _closeness(asked: str, scope: str) -> float:
    return 1.0 if asked == ROOT else ranking.weight_of_distance(steps_between(asked, scope))
