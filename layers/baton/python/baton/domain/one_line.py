"""Texts that stay on one line."""

from __future__ import annotations

import unicodedata

from baton.domain import hidden


def one_line(text: str) -> str:
    """Returns the text with line breaks, control and format characters, Unicode's included, replaced by spaces, and
    the remaining hidden characters spelled out."""
    return hidden.spelled_out("".join(" " if _breaks(c) else c for c in text))


def _breaks(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp"} and not _joins(character)


def _joins(character: str) -> bool:
    # Zero-width joiners and non-joiners are part of emoji and of several scripts, and can't break a line.
    return character in "\u200c\u200d"
