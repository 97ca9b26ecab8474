"""Which documents hold a word, and how well they fit several: BM25F in arrays. A document can be replaced and removed;
what is found is then the same as if it had never been there."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from baton.domain.memory.forms import Vocabulary

# How fast further occurrences of a word stop counting, and how much a long document is held against it.
_SATURATION = 1.2
_LENGTH = 0.4
# A posting is a document's place and the word's weight in it, in 32 bits.
_WEIGHT_BITS = 8
MAX_WEIGHT = (1 << _WEIGHT_BITS) - 1
# How many places of removed documents are put up with, and which part of all places.
_FEW, _PART = 256, 3

_GONE = array("I")


class WordIndex:
    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._numbers: dict[str, int] = {}  # of the words
        self._postings: list[array[int]] = []  # by a word's number
        self._removed: Counter[int] = Counter()  # of a word's postings, those of removed documents
        # By a document's place, which stays empty once it is removed.
        self._keys: list[str | None] = []
        self._words: list[array[int]] = []
        self._lengths = array("I")
        self._places: dict[str, int] = {}
        self._total = 0  # of the lengths
        self._norms: list[float] = []  # by place; empty after a change
        self.vocabulary = Vocabulary(self.is_held)

    def __len__(self) -> int:
        return len(self._places)

    def put(self, key: str, weights: Mapping[str, int], new_words: int | None = None) -> tuple[int, int]:
        """Adds a document, or replaces the one with this key. ``weights``: how much each of its words counts;
        ``new_words``: it may bring so many that no document had, and is found by no more. Returns how many words it is
        found by, and how many of them it brought."""
        self.remove(key)
        return self._add(key, weights.items(), new_words)

    def remove(self, key: str) -> None:
        """A key that isn't there is no mistake."""
        place = self._places.pop(key, None)
        if place is None:
            return
        self._removed.update(self._words[place])
        self._total -= self._lengths[place]
        self._keys[place], self._words[place], self._norms = None, _GONE, []
        if len(self._keys) - len(self) > max(_FEW, len(self._keys) // _PART):
            self._compact()

    def scores(self, terms: Iterable[Mapping[str, float]]) -> dict[str, float]:
        """Returns how well each document fits that holds any of the words. A term is one word of a question, in each
        form that it may stand as, with what that counts."""
        found = [0.0] * len(self._keys)
        for term in terms:
            self._count([(self._numbers[word], share) for word, share in term.items() if word in self._numbers], found)
        return {key: score for key, score in zip(self._keys, found, strict=True) if score and key is not None}

    def holds(self, key: str, word: str) -> bool:
        """True if the document has the word."""
        number, place = self._numbers.get(word), self._places.get(key)
        return number is not None and place is not None and number in self._words[place]

    def is_held(self, word: str) -> bool:
        """True if any document has the word."""
        number = self._numbers.get(word)
        return number is not None and len(self._postings[number]) > self._removed[number]

    def _count(self, forms: Sequence[tuple[int, float]], found: list[float]) -> None:
        """Counts one term, which is as rare as the documents that hold any form of it."""
        held: dict[int, float] = {}
        for number, share in forms:
            for posting in self._postings[number]:
                place = posting >> _WEIGHT_BITS
                if self._keys[place] is not None:
                    held[place] = held.get(place, 0.0) + share * (posting & MAX_WEIGHT)
        if not held:
            return
        # What isn't the word itself counts less by its share, however often it stands there.
        rarity = math.log(1 + (len(self) - len(held) + 0.5) / (len(held) + 0.5)) * (_SATURATION + 1)
        norms = self._norms = self._norms or self._new_norms()
        for place, weight in held.items():
            found[place] += rarity * weight / (weight + norms[place])

    def _new_norms(self) -> list[float]:
        base, per_length = _SATURATION * (1 - _LENGTH), _SATURATION * _LENGTH * len(self) / self._total
        return [base + per_length * length for length in self._lengths]

    def _add(self, key: str, weights: Iterable[tuple[str, int]], new_words: int | None = None) -> tuple[int, int]:
        place, length, words = len(self._keys), 0, array("I")
        first_new = len(self._postings)
        most = math.inf if new_words is None else first_new + new_words
        numbers, postings, at = self._numbers, self._postings, place << _WEIGHT_BITS
        for word, weight in weights:
            number = numbers.get(word)
            if number is None:
                if len(postings) >= most:
                    continue
                number = numbers[word] = len(postings)
                postings.append(array("I"))
                self.vocabulary.add(word)
            if weight > MAX_WEIGHT:
                weight = MAX_WEIGHT
            postings[number].append(at | weight)
            words.append(number)
            length += weight
        self._keys.append(key)
        self._words.append(words)
        self._lengths.append(length)
        self._places[key] = place
        self._total += length
        self._norms = []
        return len(words), len(postings) - first_new

    def _compact(self) -> None:
        """Forgets the places of removed documents, and the words that only they had."""
        kept = list(self._documents())
        self._clear()
        for key, weights in kept:
            self._add(key, weights)

    def _documents(self) -> Iterator[tuple[str, list[tuple[str, int]]]]:
        """Yields the documents that are there, in their order."""
        weights: list[list[tuple[str, int]]] = [[] for _ in self._keys]
        for word, number in self._numbers.items():
            for posting in self._postings[number]:
                weights[posting >> _WEIGHT_BITS].append((word, posting & MAX_WEIGHT))
        for key, found in zip(self._keys, weights, strict=True):
            if key is not None:
                yield key, found
