"""Text within Notion's limits: elements of at most 2,000 UTF-16 units, at most 100 of them, no control characters."""

from __future__ import annotations

import unicodedata
from typing import Any
from urllib.parse import urlsplit

from baton.domain.tracker.page_fields import plain

MAX_UNITS = 2_000
MAX_ELEMENTS = 100
# A request may have 500 KB, and a character takes up to four bytes and two UTF-16 units.
MAX_CHARACTERS = 90_000
_JOINER = "\u200d"
# A longer run of combining characters is never seen as one character.
_MAX_CLUSTER = 32


def rich_text(text: str, link: str | None = None) -> list[dict[str, Any]]:
    target = {"link": {"url": link}} if link else {}
    return [{"type": "text", "text": {"content": piece, **target}} for piece in pieces(as_written(text))]


def as_written(text: str) -> str:
    """Returns plain text, cut after 90,000 characters."""
    text = plain(text)
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"


def read(rich: Any) -> str:
    """Returns the visible text."""
    return "".join(str(element.get("plain_text", "")) for element in rich or ())


def paragraph(elements: list[dict[str, Any]]) -> dict[str, Any]:
    return {"object": "block", "type": "paragraph", "paragraph": {"rich_text": elements[:MAX_ELEMENTS]}}


def is_link(url: str | None) -> bool:
    """True if Notion takes the URL for a link. It refuses the whole page for any other."""
    if not url or units(url) > MAX_UNITS or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def units(text: str) -> int:
    """Counts UTF-16 units, as Notion does."""
    return len(text) + sum(c > "\uffff" for c in text)


def pieces(text: str, most: int = MAX_UNITS) -> list[str]:
    """Splits ``text`` into pieces of at most ``most`` UTF-16 units, never within a character as it is seen."""
    cut: list[str] = []
    start = used = 0
    for here, character in enumerate(text):
        size = units(character)
        if used + size > most:
            end = _boundary(text, start, here)
            cut.append(text[start:end])
            start, used = end, units(text[end:here])
        used += size
    return [*cut, text[start:]] if start < len(text) else cut


def _boundary(text: str, start: int, here: int) -> int:
    for end in range(here, max(start, here - _MAX_CLUSTER), -1):
        if not _is_glued(text[end - 1], text[end]):
            return end
    return here


def _is_glued(before: str, after: str) -> bool:
    """True for accents, emoji variations, skin tones, joined emoji and flags."""
    if _JOINER in (before, after) or unicodedata.category(after).startswith("M"):
        return True
    return "\U0001f3fb" <= after <= "\U0001f3ff" or all("\U0001f1e6" <= c <= "\U0001f1ff" for c in (before, after))
