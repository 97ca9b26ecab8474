"""Numbers in free content, with the spelling that they were sent in: json would return ``1e15`` as
``1000000000000000.0``, and only 16 of 38 digits.

A number that json spells as it was sent is an ``int`` or ``float``; any other is a ``Number``.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any

# DynamoDB's limit for a number, and a range that readers of JSON can be expected to take.
MAX_DIGITS = 38
MIN_EXPONENT, MAX_EXPONENT = -130, 125
# Bounds for a ``float``, well within those of the exponent.
_LEAST, _MOST = 1e-129, 1e125
_INTEGER_THAT_CHANGES = "-0"


class Number(Decimal):
    """A ``Decimal`` that keeps its spelling."""

    written: str  # a JSON number, as it was sent

    def __new__(cls, written: str) -> Number:
        number = super().__new__(cls, written)
        number.written = written
        return number

    def __str__(self) -> str:
        return self.written

    def __repr__(self) -> str:
        return f"Number({self.written!r})"


class OutOfRange(ValueError):
    """A number that Baton doesn't store. The message says why."""


def integer(written: str) -> int | Number:
    """Returns the value of a JSON integer. Raises ``OutOfRange``."""
    if len(written.lstrip("-")) > MAX_DIGITS:
        raise OutOfRange(f"must have at most {MAX_DIGITS} digits")
    return Number(written) if written == _INTEGER_THAT_CHANGES else int(written)


@lru_cache(maxsize=4_096)
def fraction(written: str) -> float | Number:
    """Returns the value of a JSON number with a fraction or an exponent. Raises ``OutOfRange``."""
    same = float(written)
    if repr(same) == written and (not same or _LEAST <= abs(same) <= _MOST):
        return same
    try:
        number = Number(written)
    except ArithmeticError as exc:
        raise OutOfRange("is out of range") from exc
    if len(written) > MAX_DIGITS and len(number.as_tuple().digits) > MAX_DIGITS:
        raise OutOfRange(f"must have at most {MAX_DIGITS} digits")
    if number and not MIN_EXPONENT <= number.adjusted() <= MAX_EXPONENT:
        raise OutOfRange("is out of range")
    return number


def loads(text: str) -> Any:
    """The inverse of ``dumps``. Doesn't check the range of numbers."""
    if _INTEGER_THAT_CHANGES in text:
        return json.loads(text, parse_int=_kept_integer, parse_float=_kept_fraction)
    return json.loads(text, parse_float=_kept_fraction)


def dumps(value: Any, **options: Any) -> str:
    """Like ``json.dumps``, with every ``Number`` in its own spelling."""
    return _spliced(json.dumps(value, default=_written, **options))


def fingerprint(value: Any) -> str:
    """Returns SHA-256 of the canonical JSON. Two spellings of a number that fits a ``float`` count as equal, so that
    fingerprints from before numbers kept their spelling stay valid."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_as_float
    )
    return hashlib.sha256(_spliced(text).encode()).hexdigest()


def approximate(value: Any) -> Any:
    """Returns ``value`` with each ``Number`` as the nearest ``float``, for readers that know no other numbers."""
    match value:
        case Number():
            return float(value)
        case dict():
            return {key: approximate(each) for key, each in value.items()}
        case list() | tuple():
            return [approximate(each) for each in value]
        case _:
            return value


def by_value(value: Any) -> Any:
    """Returns a number in the one spelling of its value; anything else, a truth value included, unchanged."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    return Number(str(Decimal(str(value)).normalize(_WIDE))) if value else 0


# Rounds no number that Baton stores.
_WIDE = Context(prec=4 * MAX_DIGITS)
# Marks a number that json writes as a text. Random, so that no content can hold it.
_MARK = secrets.token_hex(16)
_MARKED = re.compile(f'"{_MARK}([-+.0-9eE]+)"')


def _spliced(text: str) -> str:
    return _MARKED.sub(r"\1", text) if _MARK in text else text


def _written(value: Any) -> str:
    if not isinstance(value, Number):
        raise TypeError(f"no JSON: {type(value).__name__}")
    return _MARK + value.written


def _as_float(value: Any) -> int | float | str:
    _written(value)
    return _same(value.written)


@lru_cache(maxsize=4_096)
def _same(written: str) -> int | float | str:
    if written == _INTEGER_THAT_CHANGES:
        return 0
    same = float(written)
    return same if Decimal(repr(same)) == Decimal(written) else _MARK + written


def _kept_integer(written: str) -> int | Number:
    return Number(written) if written == _INTEGER_THAT_CHANGES else int(written)


def _kept_fraction(written: str) -> float | Number:
    same = float(written)
    return same if repr(same) == written else Number(written)
