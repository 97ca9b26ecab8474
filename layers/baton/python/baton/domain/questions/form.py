"""Forms: the flat part of JSON Schema that MCP's elicitation uses, so that every door can draw them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from baton.domain import errors, times
from baton.domain.numbers import Number
from baton.domain.one_line import one_line

MAX_FIELDS, MAX_VALUES, MAX_WORDS = 20, 50, 4_000
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float, Number),
    "integer": (int,),
    "boolean": (bool,),
}
_TEXTS = ("title", "description", "$schema")
_OF_FORM = {"type", "properties", "required", *_TEXTS}
_OF_FIELD = {"type", "title", "description", "default", "enum", "enumNames"}
_LENGTHS, _RANGE = ("minLength", "maxLength"), ("minimum", "maximum")
_BOUNDS = {"string": _LENGTHS, "number": _RANGE, "integer": _RANGE}
_EMAIL, _URI = re.compile(r"[^@\s]+@[^@\s]+"), re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _is_day(text: str) -> bool:
    return bool(_DAY.fullmatch(text)) and _parses(date.fromisoformat, text)


def _parses(parser: Callable[[str], object], text: str) -> bool:
    try:
        parser(text)
    except ValueError:
        return False
    return True


# Format of a string → whether a text has it, and an example of it.
_FORMATS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "email": (lambda text: bool(_EMAIL.fullmatch(text)), "an address such as ada@example.com"),
    "uri": (lambda text: bool(_URI.fullmatch(text)), "a URI such as https://example.com"),
    "date": (_is_day, "a date such as 2026-01-31"),
    "date-time": (lambda text: _parses(times.parse_rfc3339, text), "a time such as 2026-01-31T12:00:00Z"),
}


def check_form(form: Mapping[str, Any]) -> None:
    """Raises ``InvalidInput`` unless the form is an object with 1 to ``MAX_FIELDS`` properties, each a string, number,
    integer or boolean, with bounds, a format or a list of allowed values."""
    _must(form.get("type") == "object", "form.type", "must be 'object'")
    _check_keys("form", form, _OF_FORM, ": forms are flat")
    _check_texts("form", form)
    properties: Any = form.get("properties")
    required = form.get("required", [])
    _must(isinstance(properties, dict), "form.properties", "must be an object")
    _must(1 <= len(properties) <= MAX_FIELDS, "form.properties", f"must be 1 to {MAX_FIELDS} properties")
    for name, field in properties.items():
        _check_field(f"form.properties.{one_line(name)}", field)
    are_names = isinstance(required, list) and all(isinstance(name, str) and name in properties for name in required)
    _must(are_names, "form.required", "must be a list of names of properties")


def check_filled(form: Mapping[str, Any], answer: Any) -> None:
    """Raises ``InvalidInput`` for an answer that doesn't fit the form."""
    _must(isinstance(answer, dict), "answer", "must be an object that fits the form")
    _check_keys("answer", answer, set(form["properties"]))
    for name in form.get("required", []):
        _must(name in answer, f"answer.{one_line(name)}", "is required")
    for name, value in answer.items():
        _check_value(f"answer.{one_line(name)}", form["properties"][name], value)


def _check_field(at: str, field: Any) -> None:
    _must(isinstance(field, dict), at, "must be an object")
    kind = field.get("type")
    is_kind = isinstance(kind, str) and kind in _TYPES
    _must(is_kind, f"{at}.type", f"must be {' or '.join(_TYPES)}")
    _check_keys(at, field, _OF_FIELD | set(_BOUNDS.get(kind, ())) | ({"format"} if kind == "string" else set()))
    _check_texts(at, field)
    _check_bounds(at, field)
    known = isinstance(field.get("format", "date"), str) and field.get("format", "date") in _FORMATS
    _must(known, f"{at}.format", f"must be {' or '.join(_FORMATS)}")
    if "enum" in field:
        _check_values(f"{at}.enum", field["enum"], kind, 1)
    if "enumNames" in field:
        _must("enum" in field, f"{at}.enumNames", "must come with enum")
        _check_values(f"{at}.enumNames", field["enumNames"], "string", len(field["enum"]), len(field["enum"]))
    if "default" in field:
        _check_value(f"{at}.default", field, field["default"])


def _check_bounds(at: str, field: Mapping[str, Any]) -> None:
    """Checks the bounds of a field: numbers in the right order. Bounds of a length are whole and not negative."""
    names = _BOUNDS.get(field["type"])
    if names is None:
        return
    for name in names:
        value, is_length = field.get(name, 0), name in _LENGTHS
        is_bound = _is("integer" if is_length else "number", value) and (not is_length or value >= 0)
        _must(is_bound, f"{at}.{name}", "must be a whole number from 0" if is_length else "must be a number")
    low, high = map(field.get, names)
    if low is not None and high is not None:
        _must(low <= high, f"{at}.{names[1]}", f"must be at least {names[0]}")


def _check_values(at: str, values: Any, kind: str, least: int, most: int = MAX_VALUES) -> None:
    is_list = isinstance(values, list) and least <= len(values) <= most
    count = str(most) if least == most else f"{least} to {most}"
    _must(is_list and all(_is(kind, each) for each in values), at, f"must be a list of {count} values of type {kind}")


def _check_texts(at: str, schema: Mapping[str, Any]) -> None:
    for name in _TEXTS:
        _must(isinstance(schema.get(name, ""), str), f"{at}.{name}", "must be a string")


def _check_keys(at: str, given: Mapping[str, Any], known: set[str], why: str = "") -> None:
    unknown = ", ".join(sorted(one_line(name) for name in given.keys() - known))
    _must(not unknown, at, f"must have no {unknown}{why}")


def _check_value(at: str, field: Mapping[str, Any], value: Any) -> None:
    kind = field["type"]
    _must(_is(kind, value), at, f"must be a {kind}")
    if "enum" in field:
        _must(value in field["enum"], at, f"must be one of {', '.join(map(str, field['enum']))}")
    if kind == "string":
        low, high = field.get("minLength", 0), min(field.get("maxLength", MAX_WORDS), MAX_WORDS)
        _must(low <= len(value) <= high, at, f"must have {low} to {high} characters")
        if "format" in field:
            has_format, example = _FORMATS[field["format"]]
            _must(has_format(value), at, f"must be {example}")
    elif kind != "boolean":
        low, high = field.get("minimum", value), field.get("maximum", value)
        _must(low <= value <= high, at, f"must be from {low} to {high}")


def _is(kind: str, value: Any) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _must(holds: bool, at: str, problem: str) -> None:
    if not holds:
        raise errors.InvalidInput(at, problem)
