"""The search index of a workspace's entries."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from baton.adapters.stems import stem
from baton.domain.memory.entry import DecisionStatus, Entry, EntryChange, EntryEvent, EntryType
from baton.domain.memory.entry_index import EntryIndex, Question
from baton.domain.memory.entry_words import MAX_WORDS
from support.clock import NOON
from support.faults.cpu import MOST_SECONDS, least_seconds
from support.values.judged_set import judged_entries
from support.values.records import a_board_entry

DECISIONS = frozenset({EntryType.DECISION, EntryType.CONSTRAINT})
LATER = NOON + timedelta(hours=1)
WITHDRAWN = EntryEvent(EntryChange.WITHDRAWN, "human:ada", NOON)


def index_of(*entries: Entry, most: int = 1_000) -> EntryIndex:
    index = EntryIndex(most, stem)
    for each in entries:
        index.put(each)
    return index


def found(index: EntryIndex, text: str = "queue", **values: Any) -> list[str]:
    return [each.entry_id for each in index.find(Question(text=text, **values), LATER)]


def superseded(old: Entry, new: Entry) -> Entry:
    event = EntryEvent(EntryChange.SUPERSEDED, "agent:scout", NOON, new.id)
    return replace(old, status=DecisionStatus.SUPERSEDED, changes=(event,))


def test_a_word_counts_most_in_the_summary_then_in_tags_then_in_detail() -> None:
    detail = a_board_entry(3, summary="one", detail="queue", tags=("two",))
    tag = a_board_entry(2, summary="one", detail="two", tags=("queue",))
    summary = a_board_entry(1, summary="queue", detail="one", tags=("two",))

    assert found(index_of(detail, tag, summary)) == [summary.id, tag.id, detail.id]


@pytest.mark.parametrize(
    "values", [{"rationale": "the queue was slow"}, {"relates_to": ("src/queue.py",)}, {"scope": "src/queues"}]
)
def test_every_text_of_an_entry_is_found(values: dict[str, Any]) -> None:
    entry = a_board_entry(1, entry_type=EntryType.DECISION, **values)

    assert found(index_of(entry)) == [entry.id]


def test_of_two_equals_the_newer_comes_first() -> None:
    entries = [a_board_entry(number, summary="queue", posted_at=NOON) for number in range(4)]

    assert found(index_of(*entries)) == [each.id for each in reversed(entries)]


def test_a_newer_entry_is_preferred_and_an_old_one_still_found() -> None:
    old = a_board_entry(1, summary="the queue", posted_at=NOON - timedelta(days=300))
    new = a_board_entry(2, summary="the queue", posted_at=NOON)
    best = a_board_entry(0, summary="the dead letter queue", posted_at=NOON - timedelta(days=300))

    assert found(index_of(old, new)) == [new.id, old.id]
    assert found(index_of(old, new, best), "dead letters queue")[0] == best.id


def test_decisions_and_warnings_come_before_the_talk_of_the_day() -> None:
    kinds = [EntryType.STATUS, EntryType.FINDING, EntryType.WARNING, EntryType.CONSTRAINT, EntryType.DECISION]
    entries = [
        a_board_entry(9 - number, summary="queue", entry_type=kind, rationale=None) for number, kind in enumerate(kinds)
    ]

    assert found(index_of(*entries)) == [each.id for each in reversed(entries)]


def test_only_the_asked_types_are_found() -> None:
    finding, decision = (
        a_board_entry(1, summary="queue"),
        a_board_entry(2, summary="queue", entry_type=EntryType.DECISION),
    )

    assert found(index_of(finding, decision), entry_types=frozenset({EntryType.FINDING})) == [finding.id]


def test_a_scope_finds_what_it_sees_and_the_closest_first() -> None:
    scopes = ["project", "src", "src/auth/jwt/keys/old", "src/auth", "src/authz", "docs"]
    entries = {scope: a_board_entry(number, summary="queue", scope=scope) for number, scope in enumerate(scopes)}
    index = index_of(*entries.values())

    assert found(index, scope="src/auth") == [
        entries[scope].id for scope in ("src/auth", "src", "project", "src/auth/jwt/keys/old")
    ]
    assert len(found(index)) == len(scopes)


def test_what_was_replaced_comes_after_what_replaced_it() -> None:
    new = a_board_entry(2, summary="Kafka carries the events", entry_type=EntryType.DECISION)
    old = superseded(a_board_entry(1, summary="a queue carries the events", entry_type=EntryType.DECISION), new)

    assert found(index_of(old, new), "which queue carries the events") == [new.id, old.id]


def test_the_words_of_what_was_replaced_find_what_replaced_it() -> None:
    newest = a_board_entry(3, summary="Kafka", entry_type=EntryType.DECISION)
    middle = superseded(a_board_entry(2, summary="Redis", entry_type=EntryType.DECISION), newest)
    oldest = superseded(a_board_entry(1, summary="queue", entry_type=EntryType.DECISION), middle)

    assert found(index_of(oldest, middle, newest)) == [newest.id, oldest.id]


def test_a_circle_of_replacements_ends() -> None:
    one, two = (a_board_entry(number, summary="queue", entry_type=EntryType.DECISION) for number in (1, 2))
    index = index_of(superseded(one, two), superseded(two, one))

    assert set(found(index)) == {one.id, two.id}
    assert index.about("src", DECISIONS) == []


def test_what_was_withdrawn_is_forgotten_with_its_heirs() -> None:
    new = a_board_entry(2, summary="Kafka", entry_type=EntryType.DECISION)
    old = superseded(a_board_entry(1, summary="queue", entry_type=EntryType.DECISION), new)
    index = index_of(old, new)

    index.put(replace(new, changes=(WITHDRAWN,)))

    assert found(index) == [old.id]
    assert found(index, "Kafka") == []


def test_a_changed_entry_is_found_by_its_new_words_only() -> None:
    index = index_of(a_board_entry(1, summary="queue"))
    index.put(a_board_entry(1, summary="stream"))

    assert found(index) == []
    assert len(found(index, "streams")) == len(index) == 1


def test_the_oldest_go_when_there_are_too_many() -> None:
    entries = [a_board_entry(number, summary="queue") for number in (3, 1, 2, 4)]
    index = index_of(*entries, most=3)

    assert found(index) == [entries[3].id, entries[0].id, entries[2].id]


def test_an_old_entry_that_comes_again_stays_out() -> None:
    entries = [a_board_entry(number, summary="queue") for number in range(4)]
    index = index_of(*entries[1:], most=3)

    index.put(entries[0])

    assert entries[0].id not in found(index)
    assert len(index) == 3


def test_words_beyond_the_limit_arent_found() -> None:
    entry = a_board_entry(1, summary="first", detail="filler " * (MAX_WORDS - 2) + "last queue")

    assert found(index_of(entry), "last") == [entry.id]
    assert found(index_of(entry)) == []


@pytest.mark.parametrize("text", ["", "   ", "the of", "?!", "\ud800", "\x00"])
def test_a_question_without_words_finds_nothing(text: str) -> None:
    assert found(index_of(a_board_entry(1, summary="queue")), text) == []


@pytest.mark.parametrize(
    ("path", "values", "is_about"),
    [
        ("src/auth/token.py", {"scope": "src/auth"}, True),
        ("src/auth", {"scope": "src/auth/jwt"}, True),
        ("src/auth", {"scope": "src/authz"}, False),
        ("src/auth/token.py", {"scope": "project"}, False),
        ("src/auth/token.py", {"scope": "project", "summary": "token.py has the rule"}, True),
        ("src/auth/token_store.py", {"scope": "docs", "detail": "see token_store.py"}, True),
        ("src/auth/token_store.py", {"scope": "docs", "detail": "a store for each token"}, False),
        ("src/auth/token_store.py", {"scope": "project", "relates_to": ("src/auth/token_store.py",)}, True),
        ("project", {"scope": "project"}, True),
        ("project", {"scope": "src"}, False),
        ("src/auth", {"scope": "src/auth", "entry_type": EntryType.FINDING, "status": None}, False),
    ],
)
def test_what_is_about_a_path(path: str, values: dict[str, Any], is_about: bool) -> None:
    entry = a_board_entry(1, **{"entry_type": EntryType.DECISION, **values})

    assert index_of(entry).about(path, DECISIONS) == ([entry.id] if is_about else [])


def test_what_is_about_a_path_is_what_holds_newest_first() -> None:
    new = a_board_entry(3, scope="docs", entry_type=EntryType.DECISION)
    old = superseded(a_board_entry(1, scope="src", entry_type=EntryType.DECISION), new)
    constraint = a_board_entry(2, scope="src", entry_type=EntryType.CONSTRAINT)

    assert index_of(old, new, constraint).about("src/a.py", DECISIONS) == [new.id, constraint.id]


def test_ten_thousand_entries_are_searched_in_milliseconds() -> None:
    texts = [f"{each.summary} {each.detail}" for each in judged_entries()]
    index = EntryIndex(10_000, stem)
    for number in range(10_000):
        index.put(
            a_board_entry(number, summary=texts[number % 500], detail=texts[number * 7 % 500] + texts[number * 3 % 500])
        )

    seconds, hits = least_seconds(
        lambda: found(index, "what happens when the payment of a customer fails in the worker", scope="src")
    )

    assert hits
    assert seconds < MOST_SECONDS
