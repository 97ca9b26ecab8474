"""An index of words: which documents hold a word, and how well they fit several words (BM25F, in arrays). A document
can be replaced or removed; scores are then the same as if the old one had never been there."""

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
# The index is compacted once more places than this, and more than this part of all, are of removed documents.
_FEW, _PART = 256, 3

_GONE = array("I")


class WordIndex:
    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._numbers: dict[str, int] = {}  # word → its number
        self._postings: list[array[int]] = []  # word's number → its postings
        self._removed: Counter[int] = Counter()  # word's number → how many of its postings are of removed documents
        # Lists by a document's place. The place of a removed document stays empty.
        self._keys: list[str | None] = []
        self._words: list[array[int]] = []  # the numbers of its words
        self._lengths = array("I")  # the sum of its words' weights
        self._norms: list[float] = []  # by which its length lowers its score; empty after a change
        self._places: dict[str, int] = {}  # document's key → its place
        self._total = 0  # the sum of all lengths
        self.vocabulary = Vocabulary(self.is_held)

    def __len__(self) -> int:
        return len(self._places)

    def put(self, key: str, weights: Mapping[str, int], new_words: int | None = None) -> tuple[int, int]:
        """Adds a document, or replaces the one with this key. ``weights``: how much each of its words counts.
        ``new_words``: the most words it may bring that no document had; further ones aren't indexed. Returns how many
        words it is found by, and how many of these it brought."""
        self.remove(key)
        return self._add(key, weights.items(), new_words)

    def remove(self, key: str) -> None:
        """Removes the document, if there is one."""
        place = self._places.pop(key, None)
        if place is None:
            return
        self._removed.update(self._words[place])
        self._total -= self._lengths[place]
        self._keys[place], self._words[place], self._norms = None, _GONE, []
        if len(self._keys) - len(self) > max(_FEW, len(self._keys) // _PART):
            self._compact()

    def scores(self, terms: Iterable[Mapping[str, float]]) -> dict[str, float]:
        """Returns the score of each document that holds any of the words. A term is one word of a question: the forms
        that it may stand as, each with what it counts."""
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
        """Adds the score of one term to ``found``. The term is as rare as the documents that hold any of its forms."""
        held: dict[int, float] = {}
        for number, share in forms:
            for posting in self._postings[number]:
                place = posting >> _WEIGHT_BITS
                if self._keys[place] is not None:
                    held[place] = held.get(place, 0.0) + share * (posting & MAX_WEIGHT)
        if not held:
            return
        # A form that isn't the word itself counts less by its share, however often it stands there.
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
        """Frees the places of removed documents, and the words that only these held."""
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
