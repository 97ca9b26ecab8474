"""Reading a body so that whatever passes can be kept, hashed and given back exactly (DESIGN.md, limits before writes).

Size and depth are checked before the parser runs: deep JSON raises RecursionError in it, and 5,000 digits ValueError.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from baton.domain.errors import TooLarge
from baton.domain.marker import one_line
from rest.errors import MalformedJson

MAX_BYTES = 262_144
MAX_DEPTH = 16
# What a DynamoDB number holds.
MAX_DIGITS = 38
MIN_EXPONENT, MAX_EXPONENT = -130, 125

# Possessive, so that an unterminated string costs one pass.
_MARK = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}:,]', re.DOTALL)
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class JsonBody:
    """``value``: an object, where nothing else was let through."""

    text: str
    value: Any


# Of JSON; Python knows more.
BLANKS = b" \t\n\r"
EMPTY = JsonBody("{}", {})
NULL = JsonBody("null", None)


def read_json(body: bytes, *, any_value: bool = False) -> JsonBody:
    """An empty body is an empty object, or null where it may be ``any_value``. Raises ``TooLarge`` and
    ``MalformedJson``, naming the field."""
    if not body.strip(BLANKS):
        return NULL if any_value else EMPTY
    try:
        text = body.decode()
    except UnicodeDecodeError as exc:
        raise MalformedJson("body", "must be UTF-8") from exc
    outline = _outline(text)
    if len(body) > MAX_BYTES:
        raise TooLarge(outline.largest, f"the body is larger than {MAX_BYTES} bytes, and this is its largest field")
    if outline.too_deep is not None:
        raise MalformedJson(outline.too_deep, f"must not be nested more than {MAX_DEPTH} levels deep")
    value = _parse(text)
    _check(value, "")
    if not isinstance(value, dict) and not any_value:
        raise MalformedJson("body", "must be a JSON object")
    return JsonBody(text, value)


@dataclass(frozen=True, slots=True)
class _Outline:
    """``too_deep``: the top-level field that is. A body that isn't JSON has some outline too: the parser refuses it."""

    largest: str
    too_deep: str | None


def _outline(text: str) -> _Outline:
    depth, start, last = 0, 0, ""
    field: str | None = None
    sizes: dict[str, int] = {}
    too_deep: str | None = None
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH and too_deep is None:
                too_deep = field or "body"
        elif mark in "]}":
            depth -= 1
        elif depth == 1 and mark == ":":
            field, start = _name(last), match.start()
        elif depth == 1 and mark[0] == '"':
            last = mark
        if field is not None:
            sizes[field] = match.end() - start
    return _Outline(max(sizes, key=lambda name: sizes[name], default="body"), too_deep)


def _name(quoted: str) -> str:
    try:
        return shown(json.loads(quoted))
    except ValueError:
        return shown(quoted)


def shown(name: str) -> str:
    """A name that a caller chose, fit to be shown in an answer."""
    return one_line(_SURROGATE.sub("\ufffd", name))[:100]


@dataclass(frozen=True, slots=True)
class _Bad:
    """Stands where the parser met what isn't taken, until its path is known."""

    message: str
    below: str = ""


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_int=_int, parse_float=_float, parse_constant=_constant, object_pairs_hook=_object)
    except ValueError as exc:
        raise MalformedJson("body", "is not JSON") from exc


def _constant(name: str) -> _Bad:
    return _Bad(f"must not be {name}")


def _int(digits: str) -> int | _Bad:
    too_long = len(digits.lstrip("-")) > MAX_DIGITS
    return _Bad(f"must have at most {MAX_DIGITS} digits") if too_long else int(digits)


def _float(digits: str) -> float | _Bad:
    try:
        number = Decimal(digits)
    except ArithmeticError:
        return _Bad("is out of range")
    if len(number.as_tuple().digits) > MAX_DIGITS:
        return _Bad(f"must have at most {MAX_DIGITS} digits")
    if number and not MIN_EXPONENT <= number.adjusted() <= MAX_EXPONENT:
        return _Bad("is out of range")
    return float(number)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Bad:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            return _Bad("is given twice", key)
        found[key] = value
    return found


def _check(value: Any, path: str) -> None:
    match value:
        case _Bad():
            raise MalformedJson(_join(path, value.below) or "body", value.message)
        case str():
            _check_text(value, path)
        case dict():
            for key, item in value.items():
                _check_text(key, _join(path, key))
                _check(item, _join(path, key))
        case list():
            for number, item in enumerate(value):
                _check(item, _join(path, str(number)))


def _check_text(text: str, path: str) -> None:
    if "\0" in text:
        raise MalformedJson(path or "body", "must not contain NUL characters")
    if _SURROGATE.search(text):
        raise MalformedJson(path or "body", "must not contain lone surrogates")


def _join(path: str, name: str) -> str:
    return ".".join(filter(None, (path, shown(name) if name else "")))
