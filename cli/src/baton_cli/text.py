"""Texts of agents and people, made harmless for a terminal."""

from __future__ import annotations

import re

# C0 without tab and line feed, DEL, C1, the marks that turn the direction of writing, and lone surrogates.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_BREAKS = re.compile(r"\s*[\r\n\t\u2028\u2029]+\s*")


def visible(text: str) -> str:
    r"""Returns the text with control characters written as ``\x1b``; lines stay lines."""
    return _UNSEEN.sub(_escaped, text.replace("\r\n", "\n"))


def one_line(text: object) -> str:
    """Returns the text in one line."""
    return visible(_BREAKS.sub(" ", str(text)).strip())


def json_text(text: str) -> str:
    """Returns a JSON document with such characters as JSON's own escapes: its meaning stays."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escaped(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
