"""Places of a JSON document: each value with its full path, and each text to inspect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Scalar = str | int | float | bool
_PLAIN_NAME = re.compile(r"[A-Za-z_][0-9A-Za-z_-]*")
_NUMBERED = re.compile(r"\[[0-9]+\]")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value and its place: ``at``: the full path (``arguments.paths[41]``); ``field``: the path without the numbers
    of list elements (``arguments.paths[]``)."""

    at: str
    field: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class Text:
    """A text to inspect and its place: a value, or the name of a field of the object at ``parent``."""

    at: str
    text: str
    parent: str | None = None


def leaves(value: Any, left_out: frozenset[str] = frozenset(), at: str = "") -> Iterator[Leaf]:
    """Yields each value that isn't null. ``left_out``: full paths to leave out, with everything below them."""
    if at in left_out:
        return
    if isinstance(value, dict):
        for name, each in value.items():
            yield from leaves(each, left_out, joined(at, name))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from leaves(each, left_out, f"{at}[{number}]")
    elif value is not None:
        yield Leaf(at, _NUMBERED.sub("[]", at), value)


def texts(value: Any, left_out: frozenset[str] = frozenset(), at: str = "") -> Iterator[Text]:
    """Yields each text and each field name of the document. ``left_out``: as of ``leaves``."""
    if at in left_out:
        return
    if isinstance(value, dict):
        for name, each in value.items():
            place = joined(at, name)
            yield Text(place, name, at)
            yield from texts(each, left_out, place)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from texts(each, left_out, f"{at}[{number}]")
    elif isinstance(value, str):
        yield Text(at, value)


def joined(at: str, name: str) -> str:
    """Returns the path of a field. A name that could be taken for more than a name is written as JSON."""
    if _PLAIN_NAME.fullmatch(name):
        return f"{at}.{name}" if at else name
    return f"{at}[{json.dumps(name, ensure_ascii=False)}]"


def written(value: Scalar) -> str:
    """Returns the value as text; a whole number has no decimals, as in JavaScript."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
