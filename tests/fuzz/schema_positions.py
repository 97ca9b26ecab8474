"""Wrong values at every position of a JSON Schema, and the operations that take one, or any other free content."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from support.worlds.operations import OPERATIONS, Operation, Schema, resolved

Path = tuple[int | str, ...]
# A form with a value at every position that a form may have.
FORM: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "title": "Refund",
    "description": "Details of the refund",
    "properties": {
        "why": {"type": "string", "title": "Why", "description": "The reason", "minLength": 1, "maxLength": 9},
        "mail": {"type": "string", "format": "email", "default": "ada@example.com"},
        "size": {"type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"], "default": "s"},
        "amount": {"type": "number", "minimum": 0, "maximum": 9.5, "default": 1.5},
        "count": {"type": "integer", "minimum": 0, "maximum": 9, "default": 1},
        "sure": {"type": "boolean", "default": False},
    },
    "required": ["why", "amount"],
}
# Values of every type of JSON; lists and objects can't be hashed.
ODD: tuple[Any, ...] = (None, True, 0, -1, 1.5, 1e30, "", "x", [], ["string"], [[]], [{}], {}, {"type": []})
# Kinds of content that OpenAPI describes no further.
_FREE: tuple[Schema, ...] = ({}, {"type": "object"})


def positions(value: Any, at: Path = ()) -> Iterator[Path]:
    """Yields the path of the value and of every value inside it."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield from positions(each, (*at, name))


def altered(value: Any, path: Path, odd: Any) -> Any:
    """Returns a copy of the value with ``odd`` at the path."""
    if not path:
        return copy.deepcopy(odd)
    changed = copy.deepcopy(value)
    inner = changed
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = copy.deepcopy(odd)
    return changed


def free_fields(operation: Operation) -> list[Path]:
    """Returns the paths of the body's fields that take any JSON, or any object."""
    return [] if operation.body is None or operation.is_door else list(_free("", operation.body, ()))


def _free(name: str, schema: Schema, at: Path, levels: int = 4) -> Iterator[Path]:
    for each in map(resolved, schema.get("anyOf", [schema])):
        told = {key: each[key] for key in each if key in {"type", "anyOf", "enum", "const", "properties", "items"}}
        is_free = told in _FREE and each.get("additionalProperties", True) in (True, {})
        if at and is_free:
            yield at
        for inner, below in each.get("properties", {}).items() if levels else ():
            yield from _free(inner, below, (*at, inner), levels - 1)


TAKES_FREE = [(each, path) for each in OPERATIONS for path in dict.fromkeys(free_fields(each))]
