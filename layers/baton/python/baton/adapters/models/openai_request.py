"""Converts a request in the shape of Bedrock's Converse into the body of an OpenAI chat completion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from baton.domain.canonical_json import canonical_json
from baton.domain.numbers import dumps
from baton.domain.runs.transcript import Block
from baton.ports import runs

ChatMessage = dict[str, Any]
# A message of the role "tool" has no other field for a failure.
FAILED = "Error: "


def body_of(request: runs.ModelRequest, model: str, limit: str) -> dict[str, Any]:
    """Returns the request's body. ``limit`` is the server's name for the maximum tokens of a reply."""
    body = {"model": model, "messages": list(_messages(request)), limit: request.max_tokens}
    if request.tools:
        body["tools"] = [_tool(each) for each in request.tools]
    return body


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}
    return {"type": "function", "function": function}


def _messages(request: runs.ModelRequest) -> Iterator[ChatMessage]:
    if request.system.strip():
        yield {"role": "system", "content": request.system}
    calls: list[str] = []
    for turn in request.messages:
        if turn["role"] == "assistant":
            calls = [block["toolUse"]["toolUseId"] for block in turn["content"] if "toolUse" in block]
            yield from _assistant_message(turn["content"])
        else:
            yield from _results(turn["content"], calls)
            yield from _user_message(turn["content"])


def _assistant_message(blocks: list[Block]) -> Iterator[ChatMessage]:
    """Leaves reasoning out: servers refuse it, or take it for the model's reply."""
    message: ChatMessage = {"role": "assistant", "content": _texts(blocks) or None}
    calls = [_call(block["toolUse"]) for block in blocks if "toolUse" in block]
    if calls:
        message["tool_calls"] = calls
    if calls or message["content"] is not None:
        yield message


def _call(use: Block) -> dict[str, Any]:
    arguments = dumps(use["input"], ensure_ascii=False)
    return {"id": use["toolUseId"], "type": "function", "function": {"name": use["name"], "arguments": arguments}}


def _results(blocks: list[Block], calls: list[str]) -> Iterator[ChatMessage]:
    """Yields results in the order of the calls, right after them."""
    answers = {block["toolResult"]["toolUseId"]: block["toolResult"] for block in blocks if "toolResult" in block}
    for call in calls:
        if call in answers:
            yield {"role": "tool", "tool_call_id": call, "content": _result(answers[call])}


def _result(answer: Block) -> str:
    text = "\n\n".join(each["text"] if "text" in each else canonical_json(each["json"]) for each in answer["content"])
    return FAILED + text if answer.get("status") == "error" else text


def _user_message(blocks: list[Block]) -> Iterator[ChatMessage]:
    if text := _texts(blocks):
        yield {"role": "user", "content": text}


def _texts(blocks: list[Block]) -> str:
    return "\n\n".join(block["text"] for block in blocks if block.get("text"))
