"""Checks values against docs/openapi.json: as much of JSON Schema as it uses, and no undeclared properties."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCUMENT: dict[str, Any] = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text(encoding="utf-8"))
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema that a ``$ref`` stands for."""
    if "$ref" not in schema:
        return schema
    found: Any = DOCUMENT
    for part in schema["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return resolved(found)


def violations(value: Any, schema: dict[str, Any], path: str = "") -> Iterator[str]:
    schema = resolved(schema)
    if "anyOf" in schema:
        if all(any(True for _ in violations(value, each, path)) for each in schema["anyOf"]):
            yield f"{path}: none of the alternatives"
        return
    if "type" in schema and (
        not isinstance(value, TYPES[schema["type"]]) or (isinstance(value, bool) and schema["type"] != "boolean")
    ):
        yield f"{path}: {type(value).__name__} is no {schema['type']}"
    elif "const" in schema and value != schema["const"]:
        yield f"{path}: not {schema['const']!r}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{path}: not one of {schema['enum']}"
    elif "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{path}: not like {schema['pattern']}"
    elif isinstance(value, dict) and "properties" in schema:
        yield from _in_object(value, schema, path)
    elif isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from violations(item, schema["items"], f"{path}[{number}]")


def _in_object(value: dict[str, Any], schema: dict[str, Any], path: str) -> Iterator[str]:
    for name in schema.get("required", []):
        if name not in value:
            yield f"{path}.{name}: missing"
    for name, item in value.items():
        if name in schema["properties"]:
            yield from violations(item, schema["properties"][name], f"{path}.{name}")
        elif "code" not in schema["properties"]:  # a problem may have fields of its own
            yield f"{path}.{name}: not declared"
