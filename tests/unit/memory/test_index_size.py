"""How much memory an entry takes in the search's index, as docs/limits.md tells it."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate, islice

import pytest

from baton.domain.memory.entry import MAX_DETAIL
from baton.domain.memory.entry_index import EntryIndex
from baton.domain.memory.entry_words import EntryWords, words_of
from support.values.full_board import many_entries

RANDOM = random.Random(1)
VOCABULARY = ["".join(RANDOM.choices("abcdefghijklmnopqrstuvwxyz", k=RANDOM.randint(4, 9))) for _ in range(2_000)]
OFTEN = list(accumulate(1 / rank for rank in range(1, len(VOCABULARY) + 1)))  # as words are in a language
KNOWN, MEASURED = 300, 300  # entries whose words the index has, and those that are put then
DETAIL_WORDS = MAX_DETAIL // 7


def prose() -> str:
    return " ".join(RANDOM.choices(VOCABULARY, cum_weights=OFTEN, k=DETAIL_WORDS))


def no_word_twice() -> str:
    return " ".join(RANDOM.sample(VOCABULARY, DETAIL_WORDS))


def kilobytes_an_entry(detail: Callable[[], str] | None) -> float:
    """``detail``: what takes the place of an ordinary entry's."""
    entries = islice(many_entries(KNOWN + MEASURED), KNOWN + MEASURED)
    put = [words_of(replace(each, detail=detail()) if detail else each) for each in entries]
    return _taken(put) / 1_000


def _taken(entries: list[EntryWords]) -> float:
    index = EntryIndex(len(entries), lambda word, _language: word)
    for each in entries[:KNOWN]:
        index.put_words(each)
    tracemalloc.start()
    for each in entries[KNOWN:]:
        index.put_words(each)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / MEASURED


@pytest.mark.parametrize(
    ("detail", "least", "most"),
    [(None, 0.5, 1.5), (prose, 4, 7), (no_word_twice, 9, 12)],
    ids=["usual: 1 KB", "longest, prose: 5 KB", "longest, no word twice: 10 KB"],
)
def test_an_entry_takes_what_is_told(detail: Callable[[], str] | None, least: float, most: float) -> None:
    assert least < kilobytes_an_entry(detail) < most
