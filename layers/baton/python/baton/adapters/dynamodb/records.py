"""Items of dataclasses, field by field: each under its own name, in the form that its declared type has in the table. A
time is RFC 3339 text, a JSON object its text, a set a sorted list. What is stored otherwise, the caller gives by
hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from enum import StrEnum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.canonical_json import canonical_json
from baton.domain.newer import member
from baton.domain.numbers import loads

T = TypeVar("T")

# A type → how a value of it is read. What isn't here is stored as it is.
_READ: Mapping[type, Callable[[Any], Any]] = {
    int: int,
    bytes: bytes,
    tuple: tuple,
    frozenset: frozenset,
    datetime: times.parse_rfc3339,
    dict: loads,
}


def read(kind: Callable[..., T], item: Item, /, **odd: Any) -> T:
    """Returns the dataclass. Ignores attributes that this version no longer knows; fields without one get their
    defaults. A value of an enum that only a newer version knows stays the text (``newer.member``). ``odd``: the fields
    that are read otherwise. Raises ``TypeError`` without a field that has no default, ``ValueError`` for damaged
    values."""
    found = {
        name: item[name] if form is None else form(item[name])
        for name, form in _forms(kind).items()
        if item.get(name) is not None and name not in odd
    }
    return kind(**found, **odd)


def written(value: Any) -> Item:
    """Returns all fields. Those that are None aren't stored."""
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


@cache
def _forms(kind: Callable[..., Any]) -> dict[str, Callable[[Any], Any] | None]:
    return {name: _form(hint) for name, hint in get_type_hints(kind).items()}


def _form(hint: Any) -> Callable[[Any], Any] | None:
    if isinstance(hint, UnionType):
        hint = next(each for each in get_args(hint) if each is not NoneType)
    plain = get_origin(hint) or hint
    if isinstance(plain, type) and issubclass(plain, StrEnum):
        return partial(member, plain)
    return _READ.get(plain)


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return times.rfc3339(value)
        case dict():
            return canonical_json(value)
        case frozenset():
            return sorted(value)
        case tuple():
            return list(value)
    return value
