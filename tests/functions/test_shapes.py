"""Every field of a view that is an attribute's has the type that JSON gives to the attribute's."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Mapping
from datetime import date, datetime
from enum import Enum
from functools import cache
from typing import Any, Literal, Union

import pytest

import api.handler
import wait.handler
from rest.shape import SHAPES, ViewShape

LOADED = (api.handler, wait.handler)  # whose modules have all views
TEXT = {datetime: str, date: str}


@cache
def names() -> dict[str, Any]:
    """What annotations may name: also what their modules import for the type checker only."""
    found: dict[str, Any] = {"datetime": datetime, "date": date, "Mapping": Mapping, "Any": Any}
    for name in sorted(sys.modules):
        if name.startswith("baton."):
            found |= {key: value for key, value in vars(sys.modules[name]).items() if isinstance(value, type)}
    return found


def type_of(source: type[Any], name: str) -> Any:
    known = names() | vars(sys.modules[source.__module__])
    attribute = getattr(source, name, None)
    if isinstance(attribute, property):
        return typing.get_type_hints(attribute.fget, None, known)["return"]
    return typing.get_type_hints(source, None, known)[name]


def json_of(hint: Any) -> Any:
    """The type of an attribute's JSON form."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in {Union, types.UnionType}:
        return Union[tuple(json_of(each) for each in args)]  # noqa: UP007 - of any number
    if origin in {tuple, frozenset}:
        return list[json_of(args[0])]  # type: ignore[misc] # a type made while it runs
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Literal[tuple(each.value for each in hint)]
    return TEXT.get(hint, hint)


def admits(shown: Any, made: Any) -> bool:
    """True if a view's type admits all that an attribute's does."""
    if typing.get_origin(made) in {Union, types.UnionType}:
        return all(admits(shown, each) for each in typing.get_args(made))
    if typing.get_origin(shown) in {Union, types.UnionType}:
        return any(admits(each, made) for each in typing.get_args(shown))
    if typing.get_origin(made) is Literal and typing.get_origin(shown) is Literal:
        return set(typing.get_args(made)) <= set(typing.get_args(shown))
    if typing.get_origin(made) is Literal:
        return shown is str
    if typing.get_origin(made) is list and typing.get_origin(shown) is list:
        return admits(typing.get_args(shown)[0], typing.get_args(made)[0])
    return shown is Any or made is Any or bool(shown == made)


def label(shape: ViewShape[Any, Any]) -> str:
    return f"{shape.view.__name__} of {shape.source.__name__}"


@pytest.mark.parametrize("shape", SHAPES, ids=label)
def test_a_views_fields_have_the_types_of_their_attributes(shape: ViewShape[Any, Any]) -> None:
    shown = typing.get_type_hints(shape.view)
    assert shape.odd <= set(shown), "an odd field that the view doesn't have"
    wrong = {
        name: (hint, type_of(shape.source, name))
        for name, hint in shown.items()
        if name not in shape.odd and not admits(hint, json_of(type_of(shape.source, name)))
    }
    assert wrong == {}


def test_a_wrong_type_is_found() -> None:
    assert not admits(str, json_of(int))
    assert not admits(str, json_of(datetime | None))
    assert not admits(Literal["a"], json_of(str))
    assert admits(str | None, json_of(datetime | None))
    assert admits(list[str], json_of(tuple[date, ...]))
