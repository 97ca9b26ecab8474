"""A model's tool calls in a form that can be stored and sent again.

A model's output is data of any kind: arguments may be no JSON, no object, endless, or of characters that no store
takes."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from baton.domain.numbers import Number, fraction, integer
from baton.domain.runs.reply import MAX_DEPTH, MAX_TOOL_NAME, SHOWN, clean
from baton.domain.runs.transcript import Block

_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_ODD_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_NAMELESS = "unnamed"


def tool_use(call_id: str, name: Any, raw: Any) -> Block:
    """Returns the call as a block. ``raw`` is the arguments, as text or parsed. Empty text means no arguments: some
    servers send nothing for a tool without any. If they are no valid object, ``input`` is empty and ``malformed`` has
    the beginning of the original."""
    use = {"toolUseId": call_id, "name": _name(name)}
    arguments = {} if raw is None or raw == "" else _read(raw) if isinstance(raw, str) else raw
    if isinstance(arguments, dict) and _is_sound(arguments, MAX_DEPTH):
        return {"toolUse": {**use, "input": arguments}}
    return {"toolUse": {**use, "input": {}, "malformed": clean(_as_text(raw)[:SHOWN])}}


def _name(name: Any) -> str:
    """Returns the name in an alphabet that every provider takes: it is sent back with the history, and a provider that
    refuses it would end the run."""
    cleaned = _ODD_IN_A_NAME.sub("_", name)[:MAX_TOOL_NAME] if isinstance(name, str) else ""
    return cleaned or _NAMELESS


def _read(text: str) -> Any:
    try:
        return json.loads(text, parse_int=integer, parse_float=fraction)
    except (ValueError, RecursionError):
        return None


def _is_sound(value: Any, levels: int) -> bool:
    if isinstance(value, str):
        return _HALF_A_CHARACTER.search(value) is None
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return levels > 0 and all(_is_sound(each, levels - 1) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return levels > 0 and all(_is_sound(each, levels - 1) for each in value)
    return value is None or isinstance(value, bool | int | Number)


def _as_text(raw: Any) -> str:
    if isinstance(raw, str):
        return raw
    try:
        return json.dumps(raw, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return f"({type(raw).__name__})"
