"""docs/openapi.json as the campaign reads it, with OpenAPI links: which answer holds what which request asks for. They
are made from names alone, so that every new route gets its own. In docs/openapi.json they would be most of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from support.worlds.operations import DOCUMENT, OPERATIONS, Operation, Schema, resolved

# Of the things that have routes of their own: the path's parameter that names them.
PARAMETERS = {name for each in OPERATIONS for name in each.parameters("path")} - {"secret", "token"}
ROOT = "$response.body#"
# Characters of a text; patterns of longer ones take a second each to be compiled for so many.
MOST_BY_PATTERN = 10_000


def linked_document() -> dict[str, Any]:
    """The document, and from every answer that makes or lists something a link to each request that can use it."""
    linked = copy.deepcopy(DOCUMENT)
    for schema in linked["components"]["schemas"].values():
        for text in schema.get("properties", {}).values():
            if text.get("maxLength", 0) > MOST_BY_PATTERN:
                text.pop("pattern", None)
    for source in OPERATIONS:
        responses = linked["paths"][source.path][source.method.lower()]["responses"]
        for status, response in responses.items():
            schema = response.get("content", {}).get("application/json", {}).get("schema")
            if status.startswith("2") and schema is not None:
                response["links"] = dict(_links(source, dict(_found(source, schema))))
    return linked


def _links(source: Operation, found: dict[str, str]) -> Iterator[tuple[str, Any]]:
    for target in OPERATIONS:
        names = target.parameters("path").keys()
        if target == source or not names or not names <= found.keys() | source.parameters("path").keys():
            continue
        if not names & found.keys():
            continue
        parameters = {name: found.get(name, f"$request.path.{name}") for name in names}
        body = {name: found[name] for name in (target.body or {}).get("properties", {}) if name in found}
        link = {"operationId": target.id, "parameters": parameters, **({"requestBody": body} if body else {})}
        yield target.id, link


def _found(source: Operation, schema: Schema, at: str = ROOT, levels: int = 3) -> Iterator[tuple[str, str]]:
    """Name of what an answer holds → where."""
    schema = resolved(schema)
    if "items" in schema and at.endswith("/items"):
        yield from _found(source, schema["items"], f"{at}/*", levels)
    for name, inner in schema.get("properties", {}).items() if levels else ():
        if name == "id":
            yield from ((each, f"{at}/id") for each in _own_parameter(source, at))
        elif name == "claim_id" or (name in PARAMETERS and _is_one(source, name)):
            yield name, f"{at}/{name}"
        else:
            yield from _found(source, inner, f"{at}/{name}", levels - 1)


def _is_one(source: Operation, name: str) -> bool:
    """Not only tools have a ``name``."""
    return name != "name" or source.path.startswith("/tools")


def _own_parameter(source: Operation, at: str) -> Iterator[str]:
    """What an ``id`` is called in paths: by the object that has it, or by the collection that it is in."""
    for name in PARAMETERS:
        inside = at.rpartition("/")[2]
        if name == f"{inside}_id" or (
            inside in {ROOT, "*"} and any(each.path == f"{source.path}/{{{name}}}" for each in OPERATIONS)
        ):
            yield name
