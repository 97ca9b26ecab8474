"""A program's JSON in the form that the API takes: what it would refuse is repaired or kept as text, so that no output
is lost. The API's limits: docs/limits.md."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from baton_client import numbers

MOST_DIGITS, LEAST_EXPONENT, MOST_EXPONENT = 38, -130, 125
# Of the API's 16 levels, a failure has four above its partial progress.
MOST_LEVELS = 12
_UNFIT = re.compile("[\0\ud800-\udfff]")
CHARACTERS = "Characters that no text may have were replaced by U+FFFD."
NUMBERS = "Numbers out of range were kept as text."
LEVELS = f"Values more than {MOST_LEVELS} levels deep were kept as JSON text."


def read(content: bytes | str) -> tuple[Any, list[str]]:
    """Returns the value of JSON as the API takes it, and a note for each kind of repair. Raises ``ValueError`` and
    ``RecursionError`` for what isn't JSON."""
    text, notes = content if isinstance(content, str) else content.decode(json.detect_encoding(content), "replace"), []
    if isinstance(content, bytes) and "\ufffd" in text and "\ufffd".encode() not in content:
        notes = [CHARACTERS]
    value, others = mended(numbers.loads(text, parse_constant=_Unfit))
    return value, list(dict.fromkeys([*notes, *others]))


def mended(value: Any) -> tuple[Any, list[str]]:
    """Returns a JSON value as the API takes it, and a note for each kind of repair."""
    notes = dict[str, None]()
    return _mended(value, 1, notes), list(notes)


def text_of(content: bytes) -> str:
    """Returns a program's bytes as a text that the API takes."""
    return _UNFIT.sub("\ufffd", content.decode("utf-8", "replace"))


class _Unfit(str):
    """A number that is kept as text."""

    __slots__ = ()


def _is_in_range(number: float) -> bool:
    """True for a number that the API takes."""
    try:
        exact = Decimal(str(number))
    except ArithmeticError:  # an exponent of twenty digits
        return False
    is_short = len(exact.as_tuple().digits) <= MOST_DIGITS
    return exact.is_finite() and is_short and (not exact or LEAST_EXPONENT <= exact.adjusted() <= MOST_EXPONENT)


def _mended(value: Any, level: int, notes: dict[str, None]) -> Any:
    match value:
        case _Unfit():
            notes[NUMBERS] = None
            return str(value)
        case str():
            return _text(value, notes)
        case bool() | None:
            return value
        case int() if abs(value) >= 10**MOST_DIGITS:
            notes[NUMBERS] = None
            return str(value) if abs(value) < 10**4_000 else f"{value:x}"  # Python writes no longer one in digits
        case float() if not _is_in_range(value):
            notes[NUMBERS] = None
            return str(value)
        case dict() | list() | tuple() if level > MOST_LEVELS:
            notes[LEVELS] = None
            return _text(numbers.dumps(value, ensure_ascii=False, default=str), notes)
        case dict():
            return {_text(str(name), notes): _mended(each, level + 1, notes) for name, each in value.items()}
        case list() | tuple():
            return [_mended(each, level + 1, notes) for each in value]
    return value


def _text(text: str, notes: dict[str, None]) -> str:
    if _UNFIT.search(text) is None:
        return text
    # Two halves that stand side by side are one character.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
    if whole != text:
        notes[CHARACTERS] = None
    return whole
