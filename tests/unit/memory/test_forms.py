"""What a word of a question finds beside itself: other forms, other spellings, one letter off, and no other word."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from string import ascii_lowercase

import pytest

from baton.adapters.stems import stem
from baton.domain.memory.entry import Entry
from baton.domain.memory.entry_index import EntryIndex, Question
from baton.domain.memory.entry_words import words_of
from baton.domain.memory.forms import is_one_off
from support.clock import NOON
from support.faults.soak import scaled
from support.values.records import a_board_entry

# Different words, of which some begin alike. Asked for one, nobody means the other.
APART = (
    "author auth, portal port, server serve, signal sign, header head, folder fold, pointer point, archive arch, "
    "station state, version verse, sensor sense, vendor vend, factor fact, master mast, letter let, form from, "
    "cache cash, former form"
)
# The asked word, and one that stands in an entry in its place.
TOGETHER = (
    "migrates migrated, migration migrating, retries retry, caching cached, stopped stop, configured configure, "
    "deployments deploy, expired expires, validating validated, classes class, tokens token, queries query"
)
GERMAN = (
    "Umlaut Umlaute, Umlaute Umlauten, Überweisung Überweisungen, Überweisungen Überweisung, Flaschen Flasche, "
    "Flasche Flaschen, Kurier Kuriere, Kuriere Kurier, Ueberweisung Überweisung, Überweisung Ueberweisung, "
    "Strasse Straße, Straße Strasse, Prüfung Pruefungen, Oeffnung Öffnungen, Anhang Anhänge, Passwörter Passwort, "
    "Größe Groesse"
)
TYPOS = (
    "quarantnie quarantine, webhok webhook, recipt receipt, recipt receipts, idempotncy idempotency, elastcsearch "
    "elasticsearch, xignature signature, sginature signature, Ueberwiesung Überweisung"
)


def pairs(text: str) -> list[tuple[str, str]]:
    return [(one, other) for one, other in (each.split() for each in text.split(", "))]


def found(question: str, *texts: str) -> list[str]:
    """Returns the texts that a question finds, the best first."""
    entries = {each.id: each for each in (a_board_entry(number, summary=text) for number, text in enumerate(texts))}
    return [entries[each.entry_id].summary for each in index_of(*entries.values()).find(Question(text=question), NOON)]


def index_of(*entries: Entry, most_bytes: int = 10_000_000) -> EntryIndex:
    index = EntryIndex(100_000, stem, most_bytes)
    for each in entries:
        index.put(each)
    return index


@pytest.mark.parametrize(("asked", "held"), pairs(APART))
def test_different_words_stay_apart(asked: str, held: str) -> None:
    assert found(asked, f"the {held} of it") == []
    assert found(held, f"the {asked} of it") == []


@pytest.mark.parametrize(("asked", "held"), pairs(TOGETHER) + pairs(GERMAN) + pairs(TYPOS))
def test_a_word_is_found_in_its_other_forms_and_spellings_and_with_one_letter_off(asked: str, held: str) -> None:
    assert found(asked, f"{held} 17", "something else") == [f"{held} 17"]


@pytest.mark.parametrize(("asked", "held"), pairs(TOGETHER))
def test_the_word_itself_comes_before_its_other_forms(asked: str, held: str) -> None:
    assert found(asked, asked, held, held, held, "other", "words", "again") == [asked, held, held, held]


def test_a_word_that_is_there_is_taken_for_no_typo() -> None:
    assert found("signature", "signature", "signatures", "signatore") == ["signature", "signatures"]


def test_the_small_words_of_a_language_find_nothing_in_it() -> None:
    assert found("wie groß darf ein Anhang sein", "Anhänge bis 20 MB", "wie ein Wort sein darf") == [
        "Anhänge bis 20 MB"
    ]


@pytest.mark.parametrize(
    ("one", "other", "is_off"),
    [
        ("abcde", "abcde", False),
        ("abcde", "abcd", True),
        ("abcde", "xabcde", True),
        ("abcde", "abxde", True),
        ("abcde", "abdce", True),
        ("abcde", "bacde", True),
        ("abcde", "abced", True),
        ("abcde", "abc", False),
        ("abcde", "badce", False),
        ("abcde", "xbcdy", False),
    ],
)
def test_one_letter_is_dropped_added_changed_or_swapped(one: str, other: str, is_off: bool) -> None:
    assert is_one_off(one, other) == is_one_off(other, one) == is_off


def test_only_the_languages_that_are_asked_for_are_loaded() -> None:
    said = (
        "import sys; from baton.adapters.stems import stem; stem('english', 'words');"
        "print(sorted(each for each in sys.modules if each.endswith('_stemmer')), 'snowballstemmer' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert told.stdout.strip() == "['baton_snowball.english_stemmer'] False"


# Words nobody says again


MANY = scaled(300, 2)  # hostile entries: twice as many as an index of 500 KB keeps


def said_once(number: int) -> str:
    letters = ascii_lowercase
    return "q" + "".join(letters[number // 26**place % 26] for place in range(5)) + "q"


@cache
def hostile(number: int, poster: str = "agent:mallory") -> Entry:
    words = " ".join(map(said_once, range(800 * number, 800 * (number + 1))))
    return a_board_entry(10_000 + number, summary="junk", detail=words, posted_by=poster)


def test_the_words_that_one_poster_brings_are_bounded_and_the_entries_found_all_the_same() -> None:
    ordinary = [a_board_entry(number, summary=f"the queue number{number}") for number in range(50)]
    index = index_of(*ordinary, *(hostile(number) for number in range(MANY)))
    assert index.size < MANY * 800 * 20
    assert len(index.find(Question(text="junk", limit=500), NOON)) == MANY
    assert len(index.find(Question(text=said_once(801)), NOON)) == 1
    late = index.find(Question(text=said_once((MANY - 1) * 800 + 700)), NOON)
    assert hostile(MANY - 1).id not in {each.entry_id for each in late}
    later = a_board_entry(20_000, summary="neverheard", posted_by="agent:scout")
    index.put(later)
    assert [each.entry_id for each in index.find(Question(text="neverheard"), NOON)] == [later.id]


def test_beyond_its_bytes_an_index_forgets_the_oldest_of_who_takes_most() -> None:
    ordinary = [a_board_entry(number, summary=f"the queue number{number}") for number in range(50)]
    index = index_of(*ordinary, *(hostile(number) for number in range(MANY)), most_bytes=500_000)
    assert index.size <= 500_000
    assert not index.is_whole
    assert len(index.find(Question(text="queue", limit=500), NOON)) == 50
    kept = [each.entry_id for each in index.find(Question(text="junk", limit=500), NOON)]
    assert hostile(MANY - 1).id in kept
    assert hostile(0).id not in kept


def test_of_more_than_it_keeps_an_index_is_made_of_little_more_than_what_it_would_keep() -> None:
    ordinary = [a_board_entry(number, summary=f"the queue number{number}") for number in range(50)]
    posted = [words_of(each) for each in (*ordinary, *(hostile(number) for number in range(MANY)))]
    index, begun = EntryIndex(100_000, stem, 500_000), EntryIndex(100_000, stem, 500_000)
    for each in posted:
        index.put_words(each)
    fitting = begun.fitting(posted)
    for each in fitting:
        begun.put_words(each)
    assert not begun.is_whole
    assert len(begun) <= len(fitting) <= 150
    for asked in ("queue", "junk"):
        assert begun.find(Question(text=asked, limit=40), NOON) == index.find(Question(text=asked, limit=40), NOON)


def test_an_index_that_has_room_is_made_of_all() -> None:
    posted = [words_of(hostile(number)) for number in range(40)]
    index = EntryIndex(100_000, stem)
    assert index.fitting(posted) == posted
    assert index.is_whole


def test_what_is_removed_gives_its_words_back() -> None:
    entries = [hostile(number) for number in range(40)]
    index = index_of(*entries)
    before = index.size
    for each in entries:
        index.remove(each.id)
    assert index.size == 0
    for each in entries:
        index.put(each)
    assert index.size <= before
