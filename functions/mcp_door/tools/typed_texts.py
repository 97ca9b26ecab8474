"""Arguments as MCP clients send them. Some send arrays, objects, numbers and booleans as JSON texts, and integers as
``300.0``. The tool's schema decides: a text stays a text wherever one is allowed."""

from __future__ import annotations

from functools import cache
from typing import Any

from baton.domain import errors
from baton.domain.numbers import Number, dumps
from mcp_door.tools.arguments import Arguments
from rest.strict_json import JsonBody, read_json

_KINDS: tuple[tuple[type, str], ...] = (
    *((bool, "boolean"), (int, "integer"), (float, "number"), (Number, "number")),
    *((list, "array"), (dict, "object")),
)
LARGEST = 2**53  # an integer with a fraction of zeros is below it


def as_declared(arguments: JsonBody, model: type[Arguments]) -> JsonBody:
    """Returns the arguments with the types of the tool's schema, where they can be read so."""
    schema = _schema(model)
    reading = _Reading(schema.get("$defs", {}), arguments.is_exact)
    value = reading.value(arguments.value, schema)
    if not reading.has_changed:
        return arguments
    return JsonBody(dumps(value, ensure_ascii=False), value, is_exact=reading.is_exact)


@cache
def _schema(model: type[Arguments]) -> dict[str, Any]:
    return model.model_json_schema()


def document_in(text: Any) -> JsonBody | None:
    """Returns the JSON object or array that a text is; None for every other value."""
    found = _parsed(text)
    return found if found is not None and isinstance(found.value, dict | list) else None


def _parsed(text: Any) -> JsonBody | None:
    try:
        return read_json(text.encode(), any_value=True) if isinstance(text, str) and text.strip() else None
    except errors.BatonError:
        return None


class _Reading:
    def __init__(self, defined: dict[str, Any], is_exact: bool) -> None:
        self._defined, self.is_exact, self.has_changed = defined, is_exact, False

    def value(self, found: Any, schema: dict[str, Any]) -> Any:
        branches = [self._whole(each) for each in schema.get("anyOf", [schema])]
        kinds = {str(each.get("type", "any")) for each in branches}
        if isinstance(found, str):
            found = self._from_text(found, kinds)
        if isinstance(found, float | Number):
            return self._from_number(found, kinds)
        of = {str(each.get("type")): each for each in branches}
        if isinstance(found, list) and "items" in of.get("array", {}):
            return [self.value(each, of["array"]["items"]) for each in found]
        if isinstance(found, dict) and "properties" in of.get("object", {}):
            known = of["object"]["properties"]
            return {name: self.value(each, known[name]) if name in known else each for name, each in found.items()}
        return found

    def _whole(self, schema: dict[str, Any]) -> dict[str, Any]:
        return self._defined[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    def _from_text(self, text: str, kinds: set[str]) -> Any:
        if kinds & {"string", "any"} or (parsed := _parsed(text)) is None:
            return text
        kind = next((name for type_, name in _KINDS if isinstance(parsed.value, type_)), "")
        if kind not in kinds and not (kind in {"integer", "number"} and kinds & {"integer", "number"}):
            return text
        self.is_exact, self.has_changed = self.is_exact or parsed.is_exact, True
        return parsed.value

    def _from_number(self, number: float | Number, kinds: set[str]) -> Any:
        is_whole = (
            "integer" in kinds and "number" not in kinds and -LARGEST < number < LARGEST and number == int(number)
        )
        self.has_changed = self.has_changed or is_whole
        return int(number) if is_whole else number
