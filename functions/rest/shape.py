"""The shapes of views: most fields of a view are attributes of its source under their own names, in the form that JSON
gives them. A caller gives only the odd ones."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any, Generic, TypeVar

from baton.domain import times

SourceT = TypeVar("SourceT")
ViewT = TypeVar("ViewT")

SHAPES: list[ViewShape[Any, Any]] = []


class ViewShape(Generic[SourceT, ViewT]):
    """``view``: a TypedDict, which lists the fields. ``odd``: the fields that the caller gives. A test compares the
    types of all other fields with those of the attributes (tests/functions/test_shapes.py)."""

    def __init__(self, view: type[ViewT], source: type[SourceT], odd: str = "") -> None:
        self.view, self.source, self.odd = view, source, frozenset(odd.split())
        self._names = tuple(view.__annotations__)
        SHAPES.append(self)

    def __call__(self, source: SourceT, **odd: object) -> ViewT:
        shown: Any = {name: odd[name] if name in self.odd else json_form(getattr(source, name)) for name in self._names}
        view: ViewT = shown
        return view


def json_form(value: object) -> object:
    """Returns a time or a day as text, a tuple as a list, a set as a sorted list, and any other value as it is."""
    convert = _FORMS.get(type(value))
    return value if convert is None else convert(value)


_FORMS: dict[type, Callable[[Any], object]] = {
    datetime: times.rfc3339,
    date: date.isoformat,
    tuple: lambda values: [json_form(each) for each in values],
    frozenset: sorted,
}
