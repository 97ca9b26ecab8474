"""Converts the answer of an OpenAI chat completion into the shape of Bedrock's Converse. No form of it is taken for
granted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from baton.adapters.models.tool_calls import tool_use
from baton.domain.runs.reply import clean
from baton.domain.runs.transcript import Block, Usage, count_in
from baton.ports import runs

_STOP_REASONS = {
    "stop": runs.StopReason.END_TURN,
    "tool_calls": runs.StopReason.TOOL_USE,
    "function_call": runs.StopReason.TOOL_USE,
    "length": runs.StopReason.MAX_TOKENS,
    "content_filter": runs.StopReason.CONTENT_FILTERED,
}
_BYTES_PER_TOKEN = 4


def reply_in(body: bytes, sent_bytes: int) -> runs.ModelReply:
    """Returns the reply in a server's answer. ``sent_bytes`` is the request's length, for servers that don't count
    tokens."""
    answer = json_in(body)
    usage = _usage(answer, sent_bytes, len(body))
    choice = _first(_field(answer, "choices"))
    message = _field(choice, "message")
    if not isinstance(message, dict):
        return runs.ModelReply(blocks=(), stop_reason=runs.StopReason.MALFORMED_MODEL_OUTPUT, usage=usage)
    if refusal := _text(message.get("refusal")):
        return runs.ModelReply(blocks=({"text": refusal},), stop_reason=runs.StopReason.CONTENT_FILTERED, usage=usage)
    blocks = (*_reasoning(message), *_texts(message), *_calls(message))
    return runs.ModelReply(
        blocks=blocks, stop_reason=_stop_reason(_field(choice, "finish_reason"), blocks), usage=usage
    )


def json_in(body: bytes) -> Any:
    """Returns None if it isn't JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _stop_reason(name: Any, blocks: tuple[Block, ...]) -> runs.StopReason:
    """Returns the reason, by the blocks if they have tool calls: several servers send "stop" with them."""
    reason = _STOP_REASONS.get(name) if isinstance(name, str) else None
    if reason in {runs.StopReason.END_TURN, runs.StopReason.TOOL_USE}:
        calls = any("toolUse" in block for block in blocks)
        return runs.StopReason.TOOL_USE if calls else runs.StopReason.END_TURN
    return reason or runs.StopReason.MALFORMED_MODEL_OUTPUT


def _reasoning(message: dict[str, Any]) -> Iterator[Block]:
    if text := _text(message.get("reasoning_content")) or _text(message.get("reasoning")):
        yield {"reasoningContent": {"reasoningText": {"text": text}}}


def _texts(message: dict[str, Any]) -> Iterator[Block]:
    if text := _text(message.get("content")):
        yield {"text": text}


def _calls(message: dict[str, Any]) -> Iterator[Block]:
    calls = message.get("tool_calls")
    functions = [_field(each, "function") for each in calls] if isinstance(calls, list) else []
    if not functions and isinstance(message.get("function_call"), dict):  # the older field, for a single call
        functions = [message["function_call"]]
    for number, function in enumerate(functions, start=1):
        yield tool_use(f"call_{number}", _field(function, "name"), _field(function, "arguments"))


def _text(content: Any) -> str:
    """Returns a text, or the texts of its parts."""
    if isinstance(content, list):
        content = "".join(_text(_field(part, "text")) for part in content)
    return clean(content) if isinstance(content, str) and content.strip() else ""


def _usage(answer: Any, sent_bytes: int, answered_bytes: int) -> Usage:
    """Estimates the usage if the server doesn't report it, so that a run's limit holds for every server."""
    counted = _field(answer, "usage")
    given, made = count_in(_field(counted, "prompt_tokens")), count_in(_field(counted, "completion_tokens"))
    if given or made:
        return Usage(input_tokens=given, output_tokens=made)
    return Usage(input_tokens=sent_bytes // _BYTES_PER_TOKEN, output_tokens=answered_bytes // _BYTES_PER_TOKEN)


def _field(of: Any, name: str) -> Any:
    return of.get(name) if isinstance(of, dict) else None


def _first(of: Any) -> Any:
    return of[0] if isinstance(of, list) and of else None
