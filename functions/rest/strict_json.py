"""Reads a body so that everything accepted can be stored, hashed and returned exactly (docs/spec/requests.md §1).

Size and depth are checked before the parser runs: it raises RecursionError for deep JSON, and ValueError for 5,000
digits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice, repeat
from typing import Any

from baton.domain import errors
from baton.domain.numbers import Number, OutOfRange, fraction, integer
from baton.domain.one_line import one_line
from rest.errors import MalformedJson

MAX_BYTES = 262_144
MAX_DEPTH = 16

# At most this many marks of a body that is too large are scanned to name its largest field.
MAX_MARKS = 50_000

# Possessive, so that an unterminated string costs one pass.
_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_DEEPER = {"[": 1, "{": 1, "]": -1, "}": -1}
_MARK = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}:,]', re.DOTALL)
# In JSON that is UTF-8, only an escape can produce a NUL or a lone surrogate.
_ESCAPED = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A parsed body."""

    text: str
    value: Any  # an object, unless the route takes any value
    is_exact: bool = False  # it has numbers that are kept as they were written


# JSON's whitespace; Python's has more characters.
BLANKS = b" \t\n\r"
EMPTY = JsonBody("{}", {})
NULL = JsonBody("null", None)


def read_json(body: bytes, *, any_value: bool = False) -> JsonBody:
    """Parses a body. An empty one is an empty object, or null with ``any_value``. Raises ``TooLarge`` and
    ``MalformedJson``, which name the field."""
    if len(body) > MAX_BYTES:
        raise too_large(body)
    if not body.strip(BLANKS):
        return NULL if any_value else EMPTY
    try:
        text = body.decode("utf-8-sig")  # some programs write a byte order mark
    except UnicodeDecodeError as exc:
        raise MalformedJson("body", "must be UTF-8") from exc
    if _depth(text) > MAX_DEPTH:
        field = _outline(text, most=len(text)).too_deep or "body"
        raise MalformedJson(field, f"must not be nested more than {MAX_DEPTH} levels deep")
    parser = _Parser()
    value = parser.parse(text)
    if parser.is_bad or _ESCAPED.search(text):
        _check(value, ())
    if not isinstance(value, dict) and not any_value:
        raise MalformedJson("body", "must be a JSON object")
    return JsonBody(text, value, is_exact=parser.is_exact)


class Unread(Mapping[str, Any]):
    """The object of a body, parsed when it is first used. Raises the errors of ``read_json`` then."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    @cached_property
    def _value(self) -> dict[str, Any]:
        return dict(read_json(self._body).value)

    def __getitem__(self, name: str) -> Any:
        return self._value[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __len__(self) -> int:
        return len(self._value)


def too_large(body: bytes, marks: int = MAX_MARKS) -> errors.TooLarge:
    """Returns the error that names the largest field, as far as the first ``marks`` show: more isn't worth the time."""
    largest = _outline(body.decode(errors="replace"), most=marks).largest
    return errors.TooLarge(largest, f"the body is larger than {MAX_BYTES} bytes, and this is its largest field")


def _depth(text: str) -> int:
    """Counts brackets outside of strings, without a step of Python for each."""
    return max(accumulate(map(_DEEPER.get, _TEXT.sub("", text), repeat(0))), default=0)


@dataclass(frozen=True, slots=True)
class _Outline:
    """The top-level fields' sizes and depth. A body that isn't JSON has an outline too: the parser refuses it later."""

    largest: str
    too_deep: str | None  # the top-level field that is nested too deep


def _outline(text: str, *, most: int) -> _Outline:
    """Scans at most ``most`` marks; the rest of the text counts to the field that was reached."""
    depth, start, last = 0, 0, ""
    field: str | None = None
    sizes: dict[str, int] = {}
    too_deep: str | None = None
    for match in islice(_MARK.finditer(text), most):
        mark = match[0]
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                too_deep = field or "body"
                break
        elif mark in "]}":
            depth -= 1
        elif depth == 1 and mark == ":":
            field, start = _name(last), match.start()
        elif depth == 1 and mark[0] == '"':
            last = mark
        if field is not None:
            sizes[field] = match.end() - start
    else:
        if field is not None:
            sizes[field] = len(text) - start
    return _Outline(max(sizes, key=lambda name: sizes[name], default="body"), too_deep)


def _name(quoted: str) -> str:
    try:
        return shown(json.loads(quoted))
    except ValueError:
        return shown(quoted)


def shown(name: str) -> str:
    """Returns a caller's name for something, safe to show in an answer."""
    return one_line(_SURROGATE.sub("\ufffd", name))[:100]


@dataclass(frozen=True, slots=True)
class _Bad:
    """Stands for a refused value until its path is known."""

    message: str
    below: str = ""


@dataclass(slots=True)
class _Parser:
    """Parses JSON, and notes what ``json`` itself doesn't report."""

    is_bad: bool = False  # there is a ``_Bad`` somewhere
    is_exact: bool = False  # there is a ``Number``, which other parsers round

    def parse(self, text: str) -> Any:
        try:
            return json.loads(
                text,
                parse_int=self._int,
                parse_float=self._float,
                parse_constant=self._constant,
                object_pairs_hook=self._object,
            )
        except ValueError as exc:
            raise MalformedJson("body", "is not JSON") from exc

    def _bad(self, message: str, below: str = "") -> _Bad:
        self.is_bad = True
        return _Bad(message, below)

    def _constant(self, name: str) -> _Bad:
        return self._bad(f"must not be {name}")

    def _int(self, digits: str) -> Any:
        return self._number(integer, digits)

    def _float(self, digits: str) -> Any:
        return self._number(fraction, digits)

    def _number(self, read: Callable[[str], Any], digits: str) -> Any:
        try:
            number = read(digits)
        except OutOfRange as exc:
            return self._bad(str(exc))
        self.is_exact = self.is_exact or isinstance(number, Number)
        return number

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Bad:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return self._bad("is given twice", twice)


# Names and numbers from the top down, turned into text only for a refusal.
_Path = tuple[str | int, ...]


def _check(value: Any, path: _Path) -> None:
    match value:
        case str():
            if "\0" in value:
                raise MalformedJson(_path_text(path), "must not contain NUL characters")
            if not value.isascii() and _SURROGATE.search(value):
                raise MalformedJson(_path_text(path), "must not contain lone surrogates")
        case list():
            for number, item in enumerate(value):
                _check(item, (*path, number))
        case dict():
            for key, item in value.items():
                _check(key, (*path, key))
                _check(item, (*path, key))
        case _Bad():
            raise MalformedJson(_path_text((*path, value.below)), value.message)


def _path_text(path: _Path) -> str:
    return ".".join(shown(str(part)) for part in path if part != "") or "body"
