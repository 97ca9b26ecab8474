"""The check of a model's reply before it is used: nothing in it exceeds what the store takes (invariant 9)."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

from baton.domain.canonical_json import canonical_json
from baton.domain.runs.transcript import Block

MAX_REPLY_BYTES = 250_000
MAX_DEPTH = 16
MAX_CALLS = 32
MAX_TOOL_NAME = 64
SHOWN = 200
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})


class BrokenReply(ValueError):
    """A reply that can't be stored. The message tells the model why."""


def kept_blocks(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Returns the reply's blocks without blank and unknown ones. Raises ``BrokenReply``."""
    try:
        kept = tuple(block for block in map(_kept_block, blocks) if block is not None)
        size = len(canonical_json(kept).encode())
    except (TypeError, ValueError, RecursionError) as exc:
        raise BrokenReply("it isn't plain JSON") from exc
    if size > MAX_REPLY_BYTES:
        raise BrokenReply(f"it is larger than {MAX_REPLY_BYTES} bytes")
    if sum("toolUse" in block for block in kept) > MAX_CALLS:
        raise BrokenReply(f"it calls more than {MAX_CALLS} tools at once")
    return kept


def _kept_block(block: Block) -> Block | None:
    if "text" in block:
        text = clean(str(block["text"]))
        return None if is_blank(text) else {"text": text}
    if "toolUse" in block:
        return {"toolUse": _call(block["toolUse"])}
    if "reasoningContent" in block:
        return {"reasoningContent": _cleaned(block["reasoningContent"], 0)}
    return None


def _call(call: dict[str, Any]) -> dict[str, Any]:
    named = {"name": clean(str(call.get("name", "")))[:MAX_TOOL_NAME] or "unnamed"}
    given, malformed = call.get("input"), call.get("malformed")
    if malformed is None and not isinstance(given, dict):
        malformed = str(given)
    if malformed is None:
        try:
            return {**named, "input": _cleaned(given, 0)}
        except BrokenReply as exc:
            malformed = str(exc)
    return {**named, "input": {}, "malformed": clean(str(malformed))[:SHOWN]}


def _cleaned(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise BrokenReply(f"arguments are nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _cleaned(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(each, depth + 1) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise BrokenReply("arguments have a number that JSON doesn't know")
    return value


def is_blank(text: str) -> bool:
    """True if nothing in the text is visible: white space, control and format characters."""
    return all(unicodedata.category(each) in _INVISIBLE_CATEGORIES for each in text)


def clean(text: str) -> str:
    """Returns the text with each lone surrogate, which some tokenizers leave, replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
