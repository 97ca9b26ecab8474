"""What parameters and fields may name: mostly something that is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from baton.domain.agents.tool import NAME_PATTERN
from baton.domain.ids import ID_PATTERN, SLUG_PATTERN
from fuzz.premises import Premises
from support.worlds.operations import OPERATIONS, Schema, resolved

PROBABILITY = 0.8
# Ids that begin with another letter than their names.
LETTERS = {"conversation_id": "w"}
# Of the protocol that models speak.
METHODS = ["server/discover", "tools/list", "tools/call", "initialize", "ping", "notifications/initialized"]
URLS = ["https://notes.example/1", "http://notes.example/a?b#c"]


def bindings() -> dict[str, Any]:
    """Parameter or field → the dictionary of what is there of its kind."""
    found: dict[str, Any] = {}
    for each in OPERATIONS:
        for where in ("path", "query"):
            for name, schema in each.parameters(where).items():
                found |= _binding(f"{where}.{name}", name, schema)
        if each.body is not None:
            found |= dict(_in_body("body", each.body))
    return found


def dictionaries(premises: Premises) -> dict[str, Any]:
    """Slugs, URLs, and ids by the letter that they and their fields begin with: ``claim_id`` and ``clm_…``."""
    known = {"slugs": premises.slugs, "urls": URLS, "tools": premises.tools, "methods": METHODS}
    for name in {binding["dictionary"] for binding in bindings().values()} - known.keys():
        known[name] = [each for each in premises.ids if each[0] == name or "_" not in each]
    return {name: {"values": values} for name, values in known.items()}


def _in_body(path: str, schema: Schema, levels: int = 4) -> Iterator[tuple[str, Any]]:
    for alternative in map(resolved, schema.get("anyOf", [schema])):
        for name, inner in alternative.get("properties", {}).items() if levels else ():
            yield from _binding(f"{path}.{name}", name, inner).items()
            yield from _in_body(f"{path}.{name}", resolved(inner), levels - 1)


def _binding(path: str, name: str, schema: Schema) -> dict[str, Any]:
    patterns = {resolved(each).get("pattern") for each in schema.get("anyOf", [schema])}
    if SLUG_PATTERN in patterns or name.endswith("_agent"):
        return {path: {"dictionary": "slugs", "probability": PROBABILITY}}
    if path == "body.method":
        return {path: {"dictionary": "methods", "probability": PROBABILITY}}
    if name.endswith("_url"):
        return {path: {"dictionary": "urls", "probability": PROBABILITY}}
    if ID_PATTERN in patterns:
        return {path: {"dictionary": LETTERS.get(name, name[0]), "probability": PROBABILITY}}
    if NAME_PATTERN in patterns:
        return {path: {"dictionary": "tools", "probability": PROBABILITY}}
    return {}
