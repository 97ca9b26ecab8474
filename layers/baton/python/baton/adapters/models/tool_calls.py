"""Tool calls as models word them, brought into a form that can be kept and sent again.

A model's words are data of any kind: arguments may be no JSON, no object, endless, or of characters that no store
takes."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from baton.domain.numbers import Number, fraction, integer
from baton.domain.reply import MAX_DEPTH, MAX_TOOL_NAME, SHOWN, clean

if TYPE_CHECKING:
    from baton.domain.transcript import Block

_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_ODD_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_NAMELESS = "unnamed"


def tool_use(call_id: str, name: Any, said: Any) -> Block:
    """``said``: the arguments, as text or as what was read of it. No text is no arguments: some servers say nothing
    where a tool takes none. Where they are no sound object, ``input`` is empty and ``malformed`` holds the beginning of
    what was said."""
    use = {"toolUseId": call_id, "name": _name(name)}
    arguments = {} if said is None or said == "" else _read(said) if isinstance(said, str) else said
    if isinstance(arguments, dict) and _is_sound(arguments, MAX_DEPTH):
        return {"toolUse": {**use, "input": arguments}}
    return {"toolUse": {**use, "input": {}, "malformed": clean(_worded(said)[:SHOWN])}}


def _name(name: Any) -> str:
    """In every provider's alphabet: it goes back with the history, and one that refuses it would end the run."""
    said = _ODD_IN_A_NAME.sub("_", name)[:MAX_TOOL_NAME] if isinstance(name, str) else ""
    return said or _NAMELESS


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


def _worded(said: Any) -> str:
    if isinstance(said, str):
        return said
    try:
        return json.dumps(said, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return f"({type(said).__name__})"
