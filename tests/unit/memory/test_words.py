"""The words of a text, as the search compares them."""

from __future__ import annotations

import pytest

from baton.domain.memory.words import MAX_WORD, words
from support.faults.cpu import MOST_SECONDS, least_seconds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("retryOnConflict", ["retry", "conflict", "retryonconflict"]),
        ("retry_on_conflict", ["retry", "conflict", "retryonconflict"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("src/auth/token.py", ["src", "auth", "token", "py"]),
        ("__init__", ["init"]),
        ("utf8", ["utf", "8", "utf8"]),
        ("Größe Straße", ["grosse", "strasse"]),
        ("naïve", ["naive"]),
        ("ﬁle \uff26\uff29\uff2c\uff25", ["file", "file"]),
        ("日本語", ["日本", "本語"]),
        ("日", ["日"]),
        ("токены Токены", ["токены", "токены"]),
        ("the of and", []),
        ("", []),
        ("!?\x00\u202e \ud800", []),
    ],
)
def test_words_are_split_and_folded(text: str, found: list[str]) -> None:
    assert list(words(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "retry_on_conflict, __init__ and _private; src/auth/token.py",
        "a\tb\nc\x0bd\x1ce\x1df\x1fg\x7fh\x00i",
        "_ __ ___ _x x_ 0_ _0",
        f"{'x' * MAX_WORD}y {'_' * 90}{'xY' * 90} {'_' * 200}",
        "".join(map(chr, range(128))),
    ],
)
def test_english_is_split_as_it_is_beside_other_languages(text: str) -> None:
    assert [*words(text), *words("größe")] == list(words(text + " größe"))


@pytest.mark.parametrize("asked", ["invoice", "sequence", "invoicesequence", "InvoiceSequence", "invoice_sequence"])
def test_a_symbol_is_found_by_its_parts_and_whole(asked: str) -> None:
    assert set(words(asked)) & set(words("InvoiceSequence"))


def test_a_very_long_word_counts_by_its_beginning() -> None:
    assert list(words("x" * 100_000 + " y")) == ["x" * MAX_WORD, "y"]


@pytest.mark.parametrize(
    "text", ["x" + "_" * 200_000, "_" * 200_000 + "x", "xY" * 100_000, "ﷺ" * 10_000, "é" * 100_000]
)
def test_no_text_takes_long(text: str) -> None:
    seconds, found = least_seconds(lambda: list(words(text)))

    assert found
    assert seconds < MOST_SECONDS
