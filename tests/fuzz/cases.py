"""Who sends a case, and what is put right in it before."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any

from schemathesis.core import NotSet
from schemathesis.core.parameters import ParameterLocation

from baton.domain.access.principal import PrincipalKind
from mcp_door.protocol import MODERN
from mcp_door.tools.catalogue import TOOLS
from support.gateway import ROUTES
from support.values.schema import resolved
from support.worlds.mcp_client import META
from support.worlds.operations import OPERATIONS

# Of any operation.
Case = Any
MAX_NUMBER = 1e30


class Callers:
    """Who calls: anybody, but the same one for the same case, and mostly a human where nobody else may."""

    def __init__(self, tokens: dict[PrincipalKind, str]) -> None:
        self._tokens = tokens
        self._for_humans = {str(each) for each in OPERATIONS if each.is_for_humans}

    def drawn(self, case: Case) -> PrincipalKind:
        return list(PrincipalKind)[_number(case) % len(PrincipalKind)]

    def send_as(self, case: Case, usual: PrincipalKind) -> None:
        is_for_humans = case.operation.label in self._for_humans and _number(case) % 4
        kind = PrincipalKind.HUMAN if is_for_humans else usual
        case.headers.update(self.headers(kind))

    def headers(self, kind: PrincipalKind) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._tokens[kind]}"}

    def provider(self) -> type:
        """Of schemathesis's sort."""
        callers = self

        class Provider:
            def get(self, case: Case, _context: object) -> PrincipalKind:
                return callers.drawn(case)

            def set(self, case: Case, usual: PrincipalKind, _context: object) -> None:
                callers.send_as(case, usual)

        return Provider


def _number(case: Case) -> int:
    sent = f"{case.method} {case.path} {case.path_parameters} {case.query} {case.body!r}"
    return zlib.crc32(sent.encode(errors="replace"))


def is_allowed(case: Case) -> bool:
    """By the document."""
    return case.meta is not None and bool(case.meta.generation.mode.is_positive)


def _refused_texts(case: Case) -> Iterator[str]:
    """Yields the fields of the body whose texts don't match their patterns."""
    content = case.operation.definition.raw.get("requestBody", {}).get("content", {})
    schema = resolved(content.get("application/json", {}).get("schema", {}))
    body = case.body if isinstance(case.body, dict) else {}
    for name, value in body.items():
        pattern = resolved(schema.get("properties", {}).get(name, {})).get("pattern")
        if pattern is not None and isinstance(value, str) and not re.search(pattern, value):
            yield name


def is_fair(case: Case) -> bool:
    """Not where schemathesis takes for wrong what isn't: an optional body left out; lists in a query that are too long,
    but not without their repeats; a method of a path that looks alike (PUT /agents/import is of /agents/{slug}). Nor
    where it takes for right what isn't: a text that its own pattern refuses."""
    if is_allowed(case) and any(_refused_texts(case)):
        return False
    wrong = {where for where, part in case.meta.components.items() if part.mode.is_negative} if case.meta else set()
    if wrong == {ParameterLocation.BODY} and isinstance(case.body, NotSet):
        return bool(case.operation.definition.raw.get("requestBody", {}).get("required"))
    if ParameterLocation.QUERY in wrong and any(map(_has_repeats, case.query.values())):
        return False
    alike = {route.path for route in ROUTES if route.pattern.match(case.formatted_path)}
    return len(alike) < 2 or case.method.upper() == case.operation.method.upper()


def _has_repeats(value: Any) -> bool:
    return isinstance(value, list) and len(set(map(str, value))) < len(value)


def tamed(_context: object, case: Case) -> Case:
    """Without what JSON Schema allows and Baton's JSON doesn't, whatever the route: 1.0 for a whole number, and numbers
    out of the store's bounds."""
    if is_allowed(case):
        case.body = _tamed(case.body)
        case.query = {name: _tamed(value) for name, value in case.query.items()}
        if case.operation.label == "POST /handoff-markers" and case.body.get("create_task", True):
            case.body.setdefault("task_priority", "P1")  # as its description demands
        if case.operation.label == "POST /mcp":
            _agree(case)
    return case


def _agree(case: Case) -> None:
    """The headers of a message say what its body does, as their descriptions demand: mostly in the era without a
    handshake."""
    for name in ("Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"):
        case.headers.pop(name, None)
    is_plain = case.body["method"].isascii() and case.body["method"].isprintable() and " " not in case.body["method"]
    if "id" not in case.body or not is_plain or _number(case) % 4 == 0:
        return
    params = case.body.setdefault("params", {})
    params["_meta"] = META
    case.headers.update({"MCP-Protocol-Version": MODERN, "Mcp-Method": case.body["method"]})
    if case.body["method"] == "tools/call":
        params |= {"name": TOOLS[_number(case) % len(TOOLS)].name, "arguments": params.get("arguments", {})}
        case.headers["Mcp-Name"] = params["name"]


def _tamed(value: Any) -> Any:
    match value:
        case bool():
            return value
        case float():
            small = round(value, 3) if abs(value) < MAX_NUMBER else 0.5
            return int(small) if small.is_integer() else small
        case int() if abs(value) > MAX_NUMBER:
            return 1
        case dict():
            return {name: _tamed(item) for name, item in value.items()}
        case list():
            return [_tamed(item) for item in value]
        case _:
            return value
