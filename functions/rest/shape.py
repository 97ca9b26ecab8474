"""How an object becomes a view: most fields are its attributes under their own names, in the form that JSON gives them.
Only the odd ones are written out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any, Generic, TypeVar

from baton.domain import times

SourceT = TypeVar("SourceT")
ViewT = TypeVar("ViewT")

SHAPES: list[ViewShape[Any, Any]] = []


class ViewShape(Generic[SourceT, ViewT]):
    """``view``: a TypedDict, the table of the fields. ``odd``: its fields that the caller gives. A test holds the types
    of all other fields to those of the attributes (tests/functions/test_shapes.py)."""

    def __init__(self, view: type[ViewT], source: type[SourceT], odd: str = "") -> None:
        self.view, self.source, self.odd = view, source, frozenset(odd.split())
        self._names = tuple(view.__annotations__)
        SHAPES.append(self)

    def __call__(self, source: SourceT, **odd: object) -> ViewT:
        shown: Any = {name: odd[name] if name in self.odd else json_form(getattr(source, name)) for name in self._names}
        view: ViewT = shown
        return view


def json_form(value: object) -> object:
    """Returns a time or a day as text, a tuple as a list, and a set as a sorted one. An enum's member is its value."""
    convert = _FORMS.get(type(value))
    return value if convert is None else convert(value)


_FORMS: dict[type, Callable[[Any], object]] = {
    datetime: times.rfc3339,
    date: date.isoformat,
    tuple: lambda values: [json_form(each) for each in values],
    frozenset: sorted,
}
