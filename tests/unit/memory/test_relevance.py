"""How often the search finds what was meant, on a judged set (``support/values/judged``), against a plain search for
the question's words. The figures move with the ranking: whoever changes it sees here what it costs or brings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import mean

import pytest

from baton.adapters.stems import stem
from baton.domain.memory.entry_index import EntryIndex, Question
from support.values.judged_set import (
    NOW,
    JudgedQuestion,
    found_by_substring,
    gain,
    is_answered,
    judged_entries,
    judged_questions,
)

ENTRIES, QUESTIONS = judged_entries(), judged_questions()
Finder = Callable[[JudgedQuestion], Sequence[str]]


@pytest.fixture(scope="module")
def finder() -> Finder:
    index = EntryIndex(len(ENTRIES), stem)
    for entry in ENTRIES:
        index.put(entry)
    return lambda asked: [each.entry_id for each in index.find(Question(text=asked.text, scope=asked.scope), NOW)]


def by_substring(question: JudgedQuestion) -> Sequence[str]:
    return found_by_substring(ENTRIES, question)


def of_kind(kind: str) -> list[JudgedQuestion]:
    return [each for each in QUESTIONS if each.kind == kind]


def gains(finder: Finder, questions: Sequence[JudgedQuestion]) -> float:
    return mean(gain(each, finder(each)) for each in questions)


def answered(finder: Finder, questions: Sequence[JudgedQuestion]) -> float:
    return mean(is_answered(each, finder(each)) for each in questions)


def test_the_set_is_large_enough_to_tell_something() -> None:
    assert len(ENTRIES) >= 500
    assert len(QUESTIONS) >= 60
    assert {each.kind for each in QUESTIONS} == {"file", "symbol", "words"}
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize(("kind", "ndcg", "share"), [("file", 0.99, 1.0), ("symbol", 0.94, 1.0), ("words", 0.77, 0.82)])
def test_the_right_entry_is_mostly_among_the_first_three(finder: Finder, kind: str, ndcg: float, share: float) -> None:
    assert gains(finder, of_kind(kind)) >= ndcg
    assert answered(finder, of_kind(kind)) >= share


def test_it_finds_clearly_more_than_a_plain_search(finder: Finder) -> None:
    assert gains(finder, QUESTIONS) >= gains(by_substring, QUESTIONS) + 0.15
    assert answered(finder, QUESTIONS) >= answered(by_substring, QUESTIONS) + 0.12


def test_what_holds_today_comes_before_what_it_replaced(finder: Finder) -> None:
    for old in (entry for entry in ENTRIES if entry.superseded_by):
        found = finder(JudgedQuestion("words", "project", old.summary, {}))
        assert old.superseded_by in found[:3], old.summary
        assert old.id not in found[: found.index(old.superseded_by)], old.summary


# What makes a question hard

HARD = judged_questions("more_questions.txt")


@pytest.mark.parametrize(
    ("kind", "ndcg"),
    [
        ("replaced", 0.95),
        ("synonym", 0.70),
        ("plain", 0.95),
        ("morph", 0.94),
        ("identifier", 0.98),
        ("path", 0.99),
        ("german", 0.95),
        ("french", 0.95),
        ("japanese", 0.95),
        ("typo", 0.85),
    ],
)
def test_of_each_kind_the_best_come_first(finder: Finder, kind: str, ndcg: float) -> None:
    assert gains(finder, [each for each in HARD if each.kind == kind]) >= ndcg


def test_in_all_they_come_first_in_any_language_and_with_letters_off(finder: Finder) -> None:
    assert len(HARD) >= 90
    assert gains(finder, HARD) >= 0.93


LETTERS_OFF = {
    "dropped": lambda word, at: word[:at] + word[at + 1 :],
    "doubled": lambda word, at: word[:at] + word[at] + word[at:],
    "swapped": lambda word, at: word[:at] + word[at + 1] + word[at] + word[at + 2 :],
}


@pytest.mark.parametrize("how", LETTERS_OFF)
def test_one_letter_off_in_the_longest_word_costs_little(finder: Finder, how: str) -> None:
    def misspelt(asked: JudgedQuestion) -> JudgedQuestion:
        longest = max(asked.text.split(), key=len)
        return replace(asked, text=asked.text.replace(longest, LETTERS_OFF[how](longest, len(longest) // 2)))

    words = [each for each in QUESTIONS if each.kind == "words"]
    assert gains(finder, [misspelt(each) for each in words]) >= 0.9 * gains(finder, words)
