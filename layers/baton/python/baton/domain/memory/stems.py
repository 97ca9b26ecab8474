"""Stems of words: what is left without the endings of English. Words that belong together get one stem; a stem needn't
be a word. Other languages only lose their plural's ``s``."""

from __future__ import annotations

import re
from collections.abc import Callable

_VOWELS = frozenset("aeiouy")
# A shorter stem says nothing.
_SHORTEST = 3
# migrat(ing), authoriz(ed), but repeat(ed).
_LOST_E = re.compile(r"[^eo]at\Z|iz\Z")
# Endings that make a noun or an adjective of a verb, the longest first: migrate, migration and migrator are one word.
_ENDINGS = (
    *("izations", "ization", "izers", "izer", "ations", "ation", "ators", "ator", "ating", "ated", "ates", "ate"),
    *("ments", "ment", "ness", "ables", "able", "ibles", "ible", "ively", "ives", "ive"),
    *("ions", "ion", "ers", "er", "ors", "or", "ally", "al", "ly", "ity", "ize", "ise"),
)


def stem(word: str) -> str:
    """Returns the stem of a word in lower case."""
    for shorten in _STEPS:
        word = shorten(word)
    return word


def _without_plural(word: str) -> str:
    if len(word) <= _SHORTEST or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > len("dies") else word[:-1]
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


def _without_tense(word: str) -> str:
    """``retried`` gives ``retry``, ``stopping`` gives ``stop``, ``caching`` gives ``cach``."""
    if word.endswith("ied") and len(word) > len("died"):
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        left = word.removesuffix(ending)
        if left != word and len(left) >= _SHORTEST and _has_vowel(left):
            return left + "e" if _LOST_E.search(left) else left
    return word


def _without_ending(word: str) -> str:
    """Takes off one ending, and what a verb ends with."""
    for ending in _ENDINGS:
        left = word.removesuffix(ending)
        if left != word and len(left) > _SHORTEST and _has_vowel(left):
            return left
    return word


def _without_last_letter(word: str) -> str:
    """``cache`` and ``cach``, ``retry`` and ``retri``, ``stopp`` and ``stop`` become one."""
    if len(word) > _SHORTEST and word.endswith("e"):
        word = word[:-1]
    if len(word) > _SHORTEST and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] + "i" if len(word) > _SHORTEST and word.endswith("y") else word


def _has_vowel(word: str) -> bool:
    return not _VOWELS.isdisjoint(word)


_STEPS: tuple[Callable[[str], str], ...] = (
    _without_plural,
    _without_tense,
    _without_ending,
    _without_last_letter,
)
