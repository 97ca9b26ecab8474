"""The index of words: whatever was added, replaced and removed, it answers like one that was made of what is left."""

from __future__ import annotations

import random
from collections import Counter

from baton.domain.memory.word_index import MAX_WEIGHT, WordIndex

VOCABULARY = [f"w{number}" for number in range(40)]


def asked(*words: str) -> list[dict[str, float]]:
    return [{word: 1.0} for word in dict.fromkeys(words)]


def index_of(documents: dict[str, Counter[str]]) -> WordIndex:
    index = WordIndex()
    for key, weights in documents.items():
        index.put(key, weights)
    return index


def test_who_holds_more_and_rarer_words_fits_better() -> None:
    index = index_of({"both": Counter(a=1, rare=1), "rare": Counter(rare=1, b=1), "often": Counter(a=1, b=1)})
    index.put("other", Counter(a=1, c=1))

    scores = index.scores(asked("a", "rare"))

    assert sorted(scores, key=lambda key: -scores[key])[:2] == ["both", "rare"]
    assert scores["often"] == scores["other"]


def test_a_word_in_a_heavier_field_counts_more_and_less_with_each_repetition() -> None:
    index = index_of({"summary": Counter(a=3, z=1), "detail": Counter(a=1, z=3), "none": Counter(z=4)})
    once, thrice = index.scores(asked("a"))["detail"], index.scores(asked("a"))["summary"]

    assert once < thrice < 3 * once
    assert "none" not in index.scores(asked("a"))


def test_forms_of_a_word_count_as_one_that_is_as_rare_as_all_of_them() -> None:
    index = index_of(
        {"one": Counter(a=1, z=1), "two": Counter(b=1, z=1), "both": Counter(a=1, b=1), "none": Counter(z=2)}
    )
    apart, together = index.scores(asked("a", "b")), index.scores([{"a": 1.0, "b": 0.5}])

    assert together["one"] > together["two"]
    assert apart["one"] == apart["two"]
    assert together["both"] < apart["both"]
    assert "none" not in together


def test_unknown_words_and_an_empty_index_find_nothing() -> None:
    index = index_of({"one": Counter(a=1)})

    assert index.scores(asked("x")) == index.scores([]) == WordIndex().scores(asked("a")) == {}
    assert not index.holds("one", "x")
    assert not index.holds("x", "a")


def test_a_document_without_words_is_there_and_never_found() -> None:
    index = index_of({"empty": Counter()})

    assert len(index) == 1
    assert index.scores(asked("a")) == {}


def test_a_weight_is_bounded() -> None:
    index = index_of({"one": Counter(a=10 * MAX_WEIGHT), "two": Counter(b=1)})

    assert (
        index.scores(asked("a"))["one"]
        == index_of({"one": Counter(a=MAX_WEIGHT), "two": Counter(b=1)}).scores(asked("a"))["one"]
    )


def test_after_any_changes_it_answers_as_if_made_anew() -> None:
    schedule = random.Random(14)
    index, documents = WordIndex(), dict[str, Counter[str]]()

    for _ in range(4_000):
        key = f"d{schedule.randrange(300)}"
        if schedule.random() < 0.4:
            index.remove(key)
            documents.pop(key, None)
        else:
            documents[key] = Counter(schedule.choices(VOCABULARY, k=8))
            index.put(key, documents[key])

    fresh = index_of(documents)
    assert len(index) == len(documents)
    for word in VOCABULARY:
        assert index.scores(asked(word, "w1")) == fresh.scores(asked(word, "w1"))


def test_what_was_removed_takes_no_place_for_long() -> None:
    index = WordIndex()
    for number in range(5_000):
        index.put("always the same", Counter({f"w{number}": 1}))

    assert len(index) == 1
    assert len(index._keys) < 1_000
    assert len(index._numbers) < 1_000
