"""Forms: the flat part of JSON Schema that MCP's elicitation has, as a person can fill it in anywhere. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baton.domain import errors

MAX_FIELDS, MAX_VALUES, MAX_WORDS = 20, 50, 4_000
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
}
_SAID = {"type", "title", "description", "default", "enum", "enumNames"}
_BOUNDS = {"string": {"minLength", "maxLength"}, "number": {"minimum", "maximum"}, "integer": {"minimum", "maximum"}}


def check_form(form: dict[str, Any]) -> None:
    """Raises ``InvalidInput`` for what is no flat schema: an object with at most ``MAX_FIELDS`` properties, each a
    string, number, integer or boolean, with bounds or the values that it may have."""
    _must(form.get("type") == "object", "form.type", "must be 'object'")
    unknown = form.keys() - {"type", "properties", "required", "title", "description", "$schema"}
    _must(not unknown, "form", f"must have no {', '.join(sorted(map(str, unknown)))}: forms are flat")
    properties, required = form.get("properties"), form.get("required", [])
    is_some = isinstance(properties, dict) and 1 <= len(properties) <= MAX_FIELDS
    _must(is_some, "form.properties", f"must be 1 to {MAX_FIELDS} properties")
    for name, each in (properties or {}).items():
        _check_field(f"form.properties.{name}", each)
    are_names = isinstance(required, list) and all(each in (properties or {}) for each in required)
    _must(are_names, "form.required", "must name properties")


def check_filled(form: dict[str, Any], answer: Any) -> None:
    """Raises ``InvalidInput`` for an answer that isn't as the form says."""
    if not isinstance(answer, dict):
        raise errors.InvalidInput("answer", "must be an object, as the form says")
    unknown = answer.keys() - form["properties"].keys()
    _must(not unknown, "answer", f"must have no {', '.join(sorted(map(str, unknown)))}")
    for name in form.get("required", []):
        _must(name in answer, f"answer.{name}", "is required")
    for name, value in answer.items():
        _check_value(f"answer.{name}", form["properties"][name], value)


def _check_field(at: str, field: Any) -> None:
    _must(isinstance(field, dict) and field.get("type") in _TYPES, at, f"must have a type of {', '.join(_TYPES)}")
    unknown = field.keys() - _SAID - _BOUNDS.get(field["type"], set())
    _must(not unknown, at, f"must have no {', '.join(sorted(map(str, unknown)))}")
    for name in _BOUNDS.get(field["type"], ()):
        _must(name not in field or _is("number", field[name]), f"{at}.{name}", "must be a number")
    if "enum" in field:
        values = field["enum"]
        is_list = isinstance(values, list) and 1 <= len(values) <= MAX_VALUES
        _must(is_list and all(_is(field["type"], each) for each in values), f"{at}.enum", "must be values of its type")


def _check_value(at: str, field: dict[str, Any], value: Any) -> None:
    kind = field["type"]
    _must(_is(kind, value), at, f"must be a {kind}")
    if "enum" in field:
        _must(value in field["enum"], at, f"must be one of {', '.join(map(str, field['enum']))}")
    if kind == "string":
        low, high = field.get("minLength", 0), min(field.get("maxLength", MAX_WORDS), MAX_WORDS)
        _must(low <= len(value) <= high, at, f"must have {low} to {high} characters")
    elif kind != "boolean":
        low, high = field.get("minimum", value), field.get("maximum", value)
        _must(low <= value <= high, at, f"must be from {low} to {high}")


def _is(kind: str, value: Any) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _must(holds: bool, at: str, problem: str) -> None:
    if not holds:
        raise errors.InvalidInput(at, problem)
