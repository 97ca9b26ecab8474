"""What a word of a question may stand as in a workspace's entries: as itself, in another form of its language, in
another spelling, or with one letter off. It is looked up in the words that there are, so that neither an entry nor a
pack keeps a form, and the word itself counts most.

The words of a workspace are of several languages, and no entry says which: the question does, mostly by its small
words. What isn't found in its language is looked for in the others."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from baton.domain.memory.languages import GERMAN, LANGUAGES, languages_of, small_words
from baton.domain.memory.words import words

# The language and a word, without case and accents: the word's stem.
Stem = Callable[[str, str], str]
# What a word counts that isn't the asked one itself.
_OTHER_FORM, _OTHER_SPELLING, _ONE_OFF = 0.9, 0.9, 0.6
# A shorter word has no forms, and nothing beyond this letter has stems here.
_SHORTEST, _LAST_LATIN = 3, "\u024f"
# A shorter word has too many neighbours.
_LEAST_LETTERS = 5
# Of the words with the same beginning or end, so many are looked at.
_MOST_ALIKE = 1_500
_MOST_ONE_OFF = 6
# Endings of cases and numbers.
_ENDINGS = frozenset(("", "e", "en", "n", "es", "s", "em", "x"))


class Vocabulary:
    """The words that entries hold, by their beginnings and by their ends. ``is_held``: false for a word that none holds
    any more."""

    def __init__(self, is_held: Callable[[str], bool]) -> None:
        self._is_held = is_held
        self._new: list[str] = []
        self._forward: list[str] = []
        self._backward: list[str] = []
        self._spellings: list[str] = []
        self._spelt: dict[str, list[str]] = {}

    def add(self, word: str) -> None:
        self._new.append(word)

    def beginning(self, text: str) -> Iterator[str]:
        self._settle()
        return filter(self._is_held, _from(self._forward, text))

    def ending(self, text: str) -> Iterator[str]:
        self._settle()
        return filter(self._is_held, (each[::-1] for each in _from(self._backward, text[::-1])))

    def spelt_like(self, word: str) -> list[str]:
        """Returns the words that differ only in how umlauts are written: ``ae`` or ``a``, ``oe`` or ``o``, ``ue`` or
        ``u``."""
        self._settle()
        return list(filter(self._is_held, self._spelt.get(_spelling(word), ())))

    def spelt_beginning(self, text: str) -> Iterator[str]:
        """Returns the words with ``ae``, ``oe`` or ``ue`` that begin with the text without them."""
        self._settle()
        spelt = (each for spelling in _from(self._spellings, text) for each in self._spelt[spelling])
        return filter(self._is_held, spelt)

    def _settle(self) -> None:
        """Sorts the new words in. Python's sort takes little time for what is in order already."""
        if not self._new:
            return
        self._forward += self._new
        self._backward += [each[::-1] for each in self._new]
        self._forward.sort()
        self._backward.sort()
        for each in self._new:
            if (spelling := _spelling(each)) != each:
                if spelling not in self._spelt:
                    insort(self._spellings, spelling)
                self._spelt.setdefault(spelling, []).append(each)
        self._new = []


def terms(text: str, vocabulary: Vocabulary, stem: Stem, holds: Callable[[str], bool]) -> Iterator[Mapping[str, float]]:
    """Yields a term for each word of the question: the words that it may stand as, each with what it counts."""
    asked = languages_of(text)
    small = small_words(asked)
    for word in dict.fromkeys(words(text)):
        if word not in small:
            yield dict(sorted(_forms(word, asked, vocabulary, stem, holds).items()))


def _forms(
    word: str, asked: Sequence[str], vocabulary: Vocabulary, stem: Stem, holds: Callable[[str], bool]
) -> dict[str, float]:
    if len(word) < _SHORTEST or not word.isalpha() or word[0] > _LAST_LATIN:
        return {word: 1.0}
    found = dict.fromkeys(_spellings(word, vocabulary, holds), _OTHER_SPELLING)
    for each in (word, *found):
        found |= {form: _OTHER_FORM for form in _inflected(each, asked, vocabulary, stem) if form not in found}
    if holds(word):
        found[word] = 1.0
    spellings = [word] if found else list(dict.fromkeys((word, _spelling(word))))
    if not found:
        others = [each for each in LANGUAGES if each not in asked]
        forms = ((each, form) for each in spellings for form in _inflected(each, others, vocabulary, stem))
        found = {form: _OTHER_FORM for each, form in forms if _differ_in_ending(each, form)}
    if not found:
        found = {form: _ONE_OFF for each in spellings for form in _one_off(each, asked[0], vocabulary, stem)}
    return found


def _spellings(word: str, vocabulary: Vocabulary, holds: Callable[[str], bool]) -> list[str]:
    spelling = _spelling(word)
    plain = [spelling] if spelling != word and holds(spelling) else []
    return [each for each in (*plain, *vocabulary.spelt_like(word)) if each != word]


def _inflected(word: str, languages: Iterable[str], vocabulary: Vocabulary, stem: Stem) -> Iterator[str]:
    for language in languages:
        wanted = stem(language, word)
        if len(wanted) >= _SHORTEST:
            begin = wanted[: max(_SHORTEST, len(wanted) - 1)]
            yield from (each for each in _few(vocabulary.beginning(begin)) if stem(language, each) == wanted)
            if language == GERMAN:
                spelt = _few(vocabulary.spelt_beginning(begin))
                yield from (each for each in spelt if stem(language, _spelling(each)) == wanted)


def _differ_in_ending(one: str, other: str) -> bool:
    """True if the words differ in the ending of a noun's case or number. The language of a word is only guessed: by
    German's rules English ``server`` would be a form of ``serve``."""
    shared = _shared(one, other)
    return {one[shared:], other[shared:]} <= _ENDINGS


def _one_off(word: str, language: str, vocabulary: Vocabulary, stem: Stem) -> list[str]:
    """Returns the words that differ from this one in one letter: dropped, added, changed, or swapped with its
    neighbour. The first or the last half of the word must be right."""
    if len(word) < _LEAST_LETTERS:
        return []
    half, wanted = len(word) // 2, stem(language, word)
    alike = dict.fromkeys((*_few(vocabulary.beginning(word[:half])), *_few(vocabulary.ending(word[half + 1 :]))))
    near = [each for each in alike if abs(len(each) - len(word)) <= _SHORTEST and each.isalpha()]
    # Without its last letter it is likelier another word: server, serve.
    found = [each for each in near if is_one_off(word, each) and not (each.startswith(word) or word.startswith(each))]
    forms = (each for each in near if len(word) > _LEAST_LETTERS and is_one_off(wanted, stem(language, each)))
    return list(dict.fromkeys((*found, *forms)))[:_MOST_ONE_OFF]


def is_one_off(one: str, other: str) -> bool:
    """True if the two differ in one letter, or in the order of two beside each other."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    begin = _shared(one, other)
    left, right = one[begin:], other[begin:]
    if len(left) != len(right):
        return left[1:] == right or left == right[1:]
    return left[1:] == right[1:] or (left[:2] == right[1::-1] and left[2:] == right[2:])


def _shared(one: str, other: str) -> int:
    """Returns how many letters the two begin with."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return shared


def _few(found: Iterable[str]) -> list[str]:
    return list(islice(found, _MOST_ALIKE))


def _from(ordered: list[str], text: str) -> Iterator[str]:
    """Yields what begins with the text."""
    at = bisect_left(ordered, text)
    while at < len(ordered) and ordered[at].startswith(text):
        yield ordered[at]
        at += 1


def _spelling(word: str) -> str:
    """Returns the word without the ``e`` of a written-out umlaut."""
    if len(word) < _LEAST_LETTERS or "e" not in word:
        return word
    return word.replace("ae", "a").replace("oe", "o").replace("que", "q\0").replace("ue", "u").replace("q\0", "que")
