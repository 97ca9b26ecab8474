"""The smallest value that a schema of docs/openapi.json allows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from support.values.schema import resolved

# Texts of which one is taken wherever a text is asked for.
TEXTS = ("x", "agent:nobody", "0" * 64, "2030-01-01T00:00:00Z")


def least(schema: dict[str, Any], known: Mapping[str, Any] | None = None, name: str = "") -> Any:
    """Returns the value with the required fields. Fields with a name of ``known`` get that value. Raises
    ``LookupError`` for a text in a form that no text of ``TEXTS`` has."""
    schema = resolved(schema)
    if known and name in known:
        return known[name]
    if "anyOf" in schema:
        return least(schema["anyOf"][0], known, name)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    match schema.get("type"):
        case "object":
            return {each: least(schema["properties"][each], known, each) for each in schema.get("required", ())}
        case "array":
            return [least(schema.get("items", {}), known)] * schema.get("minItems", 0)
        case "boolean":
            return True
        case "integer" | "number":
            return schema.get("minimum", 1)
        case _:
            return _text(schema, name)


def _text(schema: dict[str, Any], name: str) -> str:
    for text in TEXTS:
        is_time = text == TEXTS[-1]
        if is_time == (schema.get("format") == "date-time") and re.search(schema.get("pattern", ""), text):
            return text
    raise LookupError(f"no text of support/values/samples.py is a {name!r}, {schema}: add one to TEXTS there")
