"""JSON whose numbers keep their spelling. Baton stores ``12345678901234567.10`` and ``1E2`` as they were sent, and
digests cover the spelling; ``json`` would return 16 digits of the first, and write the second as ``100.0``.

The command, the worker, the client and ``baton-mcp`` read and write JSON of Baton's and of programs by this module."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
# What int() changes or refuses: a negative zero, and thousands of digits.
_ODD_INTEGER = re.compile(r"-0(?![0-9.])|(?<![0-9])[0-9]{600}")
_MOST_DIGITS = 600
# Marks a number that json would spell in another way. Random, so that no content can hold it.
_MARK = secrets.token_hex(16)
_MARKED = re.compile(f'"{_MARK}([-+.0-9eE]+)"')


class Number(float):
    """A JSON number that ``json`` would write in another spelling.

    It is a ``float`` for every computation and comparison, rounded like any ``float``. ``str()`` and ``repr()`` return
    the JSON spelling, so ``Decimal(str(number))`` has every digit. Copies and pickles keep the spelling, and the client
    sends it. ``json.dumps`` writes the rounded ``float``; ``baton_client.numbers.dumps`` writes the spelling.

    Attributes:
        written: The spelling, a JSON number.
    """

    written: str

    def __new__(cls, written: str) -> Number:
        """Raises ``ValueError`` for a text that is no JSON number."""
        if _NUMBER.fullmatch(written) is None:
            raise ValueError(f"{written!r} is no JSON number")
        number = super().__new__(cls, written)
        number.written = written
        return number

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override] # a float's own is its value
        return (self.written,)

    def __str__(self) -> str:
        return self.written

    __repr__ = __str__


def loads(content: str | bytes, **options: Any) -> Any:
    """Returns the value of JSON, with a ``Number`` for each number of another spelling than Python's. ``options``: of
    ``json.loads``. Raises ``ValueError`` and ``RecursionError``."""
    text = content if isinstance(content, str) else content.decode(json.detect_encoding(content), "surrogatepass")
    if _ODD_INTEGER.search(text):
        options["parse_int"] = _integer
    return json.loads(text, parse_float=_fraction, **options)


def dumps(value: Any, **options: Any) -> str:
    """Like ``json.dumps``, with each ``Number`` in its own spelling."""
    return unmarked(json.dumps(marked(value), **options))


def is_same(one: Any, other: Any) -> bool:
    """Compares two values of JSON as ``==`` does, and numbers by all their digits."""
    is_odd = isinstance(one, Number) or isinstance(other, Number)
    return bool(one == other) and not (is_odd and _exact(one) != _exact(other))


def marked(value: Any) -> Any:
    """Returns JSON with a marked text in place of each ``Number``, for a library that writes JSON by itself."""
    if isinstance(value, Number):
        return _MARK + value.written
    if isinstance(value, dict):
        return {name: marked(each) for name, each in cast("Mapping[Any, Any]", value).items()}
    return [marked(each) for each in cast("Sequence[Any]", value)] if isinstance(value, list | tuple) else value


def unmarked(text: str) -> str:
    """Returns a text of JSON with the number in place of each marked text."""
    return _MARKED.sub(r"\1", text) if _MARK in text else text


def restored(value: Any) -> Any:
    """The inverse of ``marked``."""
    if isinstance(value, str):
        return Number(value.removeprefix(_MARK)) if value.startswith(_MARK) else value
    if isinstance(value, dict):
        return {name: restored(each) for name, each in cast("Mapping[Any, Any]", value).items()}
    return [restored(each) for each in cast("Sequence[Any]", value)] if isinstance(value, list | tuple) else value


def _exact(value: float) -> Decimal:
    return Decimal(int(value) if isinstance(value, bool) else str(value))


def _integer(written: str) -> int | Number:
    return Number(written) if written == "-0" or len(written) >= _MOST_DIGITS else int(written)


def _fraction(written: str) -> float:
    number = float(written)
    return number if repr(number) == written else Number(written)
