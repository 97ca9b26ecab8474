"""Digests of actions and questions, as Baton computes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from baton_client.numbers import Number


def plain(value: Any) -> Any:
    """Returns JSON with Python's own numbers, for a tool."""
    if isinstance(value, Number):
        return float(value)
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in cast("Mapping[str, Any]", value).items()}
    return [plain(each) for each in cast("Sequence[Any]", value)] if isinstance(value, list | tuple) else value


def digest_of(value: Any) -> str:
    """Returns SHA-256, in hexadecimal, of the value's canonical JSON: sorted names, no spaces."""
    return hashlib.sha256(_written(value).encode("utf-8", "surrogatepass")).hexdigest()


def action_digest(tool: str, arguments: Mapping[str, Any]) -> str:
    return digest_of({"arguments": arguments, "tool": tool})


def _written(value: Any) -> str:
    if isinstance(value, Number):
        return value.written
    if isinstance(value, Mapping):
        found = cast("Mapping[str, Any]", value)
        named = {str(name): each for name, each in found.items()}
        return "{" + ",".join(f"{_text(name)}:{_written(named[name])}" for name in sorted(named)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_written, cast("Sequence[Any]", value))) + "]"
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
