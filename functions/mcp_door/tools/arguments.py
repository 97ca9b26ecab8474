"""The arguments of a tool: read as strictly as a body, and shown as a small schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from api.handoffs.requests import Piece
from rest import models
from rest.strict_json import JsonBody

# What a route checks anyway, and a model needn't pay for.
_UNSHOWN = {
    *("title", "pattern", "minLength", "maxLength", "minItems", "maxItems", "minimum", "default", "propertyNames"),
    "additionalProperties",
}


class Arguments(Piece):
    """Flat. ``advanced`` takes any other field of the route's body."""


def reader_of(model: type[Arguments]) -> Callable[[JsonBody], Arguments]:
    return models.strict(model).read


def shown_schema(model: type[Arguments]) -> dict[str, Any]:
    """Returns the schema of the model's fields, with every type where it is used."""
    schema = model.model_json_schema()
    shown: dict[str, Any] = _small(schema, schema.get("$defs", {}))
    return {name: shown[name] for name in ("type", "properties", "required") if name in shown}


def _small(value: Any, defined: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_small(each, defined) for each in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return _small(defined[value["$ref"].rpartition("/")[2]] | {"description": None}, defined)
    return {
        name: {each: _small(schema, defined) for each, schema in item.items()}
        if name == "properties"
        else _small(item, defined)
        for name, item in value.items()
        if name not in _UNSHOWN and item is not None
    }


def merged(advanced: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Returns both: where both have a value, the flat argument's counts."""
    both = dict(advanced)
    for name, value in given.items():
        other = both.get(name)
        both[name] = merged(other, value) if isinstance(other, dict) and isinstance(value, dict) else value
    return both


def left_out(**values: Any) -> dict[str, Any]:
    """Returns the values that aren't None."""
    return {name: value for name, value in values.items() if value is not None}
