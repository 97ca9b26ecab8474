"""A program's JSON in the form that the API takes: what it would refuse is repaired or kept as text, so that no output
is lost. The API's limits: docs/limits.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from baton_client import numbers

MOST_DIGITS, LEAST_EXPONENT, MOST_EXPONENT = 38, -130, 125
# Of the API's 16 levels, a failure has four above its partial progress.
MOST_LEVELS = 12
_UNFIT = re.compile("[\0\ud800-\udfff]")
_BYTE = re.compile("[\udc80-\udcff]")  # as Python reads a byte that isn't UTF-8
CHARACTERS = "Bytes and characters that no text may have were written as escapes, such as \\xff, \\x00 and \\ud83d."
NUMBERS = "Numbers out of range were kept as text."
LEVELS = f"Values more than {MOST_LEVELS} levels deep were kept as JSON text."
NAMES = "Objects that give a name twice were kept as JSON text."


def read(content: bytes | str) -> tuple[Any, list[str]]:
    """Returns the value of JSON as the API takes it, and a note for each kind of repair. Raises ``ValueError`` and
    ``RecursionError`` for what isn't JSON.

    Args:
        content: A text may have bytes that aren't UTF-8, as ``decoded`` returns them.
    """
    text, notes = _without_bytes(content if isinstance(content, str) else _json_text(content))
    value, others = mended(numbers.loads(text, object_pairs_hook=_object, parse_constant=_Unfit))
    return value, list(dict.fromkeys([*notes, *others]))


def mended(value: Any) -> tuple[Any, list[str]]:
    """Returns a JSON value as the API takes it, and a note for each kind of repair."""
    notes = dict[str, None]()
    return _mended(value, 1, notes), list(notes)


def decoded(content: bytes) -> str:
    """Returns a program's bytes as a text. Bytes that aren't UTF-8 are lone surrogates in it."""
    return content.decode("utf-8", "surrogateescape")


def text_of(text: str) -> tuple[str, list[str]]:
    """Returns a text of ``decoded`` as the API takes it, and a note if it has escapes for bytes or characters."""
    fit = _UNFIT.sub(_escape, _BYTE.sub(_byte, text))
    return fit, [] if fit == text else [CHARACTERS]


class _Unfit(str):
    """A number that is kept as text."""

    __slots__ = ()


class _Pairs(list[tuple[str, Any]]):
    """The members of an object that gives a name twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Pairs:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Pairs(pairs)


def _json_text(content: bytes) -> str:
    codec = json.detect_encoding(content)
    return content.decode(codec, "surrogateescape" if codec.startswith("utf-8") else "strict")


def _without_bytes(text: str) -> tuple[str, list[str]]:
    """Returns JSON's text. A byte that isn't UTF-8, and NUL, become escapes within its texts. Elsewhere they make it
    something else than JSON, as they should."""
    whole = _BYTE.sub(lambda found: "\\" + _byte(found), text).replace("\0", r"\\x00")
    return whole, [] if whole == text else [CHARACTERS]


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
            return _written(value, notes)
        case _Pairs():
            notes[NAMES] = None
            return _written(value, notes)
        case dict():
            made = {_text(str(name), notes): _mended(each, level + 1, notes) for name, each in value.items()}
            return made if len(made) == len(value) else _mended(_Pairs(value.items()), level, notes)
        case list() | tuple():
            return [_mended(each, level + 1, notes) for each in value]
    return value


def _written(value: Any, notes: dict[str, None]) -> str:
    """Returns JSON text. Its texts may have what the API's may not."""
    return _text(_json(value), notes)


def _json(value: Any) -> str:
    """Returns JSON, with each name as often as an object gives it."""
    match value:
        case _Pairs():
            return _json_object(value)
        case dict():
            return _json_object(value.items())
        case list() | tuple():
            return f"[{', '.join(map(_json, value))}]"
    return numbers.dumps(value, ensure_ascii=False, default=str)


def _json_object(pairs: Iterable[tuple[Any, Any]]) -> str:
    return "{" + ", ".join(f"{_json(str(name))}: {_json(each)}" for name, each in pairs) + "}"


def _text(text: str, notes: dict[str, None]) -> str:
    if _UNFIT.search(text) is None:
        return text
    # Two halves that stand side by side are one character.
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    fit = _UNFIT.sub(_escape, whole)
    if fit != whole:
        notes[CHARACTERS] = None
    return fit


def _byte(found: re.Match[str]) -> str:
    return rf"\x{ord(found[0]) - 0xDC00:02x}"


def _escape(found: re.Match[str]) -> str:
    """Returns a character as an escape of Python's."""
    return found[0].encode("unicode_escape").decode()
