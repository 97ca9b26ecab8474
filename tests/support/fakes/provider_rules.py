"""The rules of Bedrock and OpenAI-compatible servers for a history of messages."""

from __future__ import annotations

import json
from typing import Any

from baton.ports.runs import ModelRequest


def check_request(request: ModelRequest) -> None:
    check_history(request.messages, has_tools=bool(request.tools))
    names = [tool["name"] for tool in request.tools]
    assert len(set(names)) == len(names)
    for tool in request.tools:
        assert set(tool) == {"name", "description", "input_schema"}
        assert tool["input_schema"]["type"] == "object"
        assert tool["input_schema"]["additionalProperties"] is False
        assert tool["input_schema"].get("required") != []
    json.dumps(request.messages, allow_nan=False)


def check_history(messages: list[dict[str, Any]], *, has_tools: bool) -> None:
    """Checks that the history begins and ends with the user, the roles alternate, nothing is empty, and every call is
    answered once, first in the next turn."""
    assert [message["role"] for message in messages] == [("user", "assistant")[n % 2] for n in range(len(messages))]
    assert messages, "a history can't be empty"
    assert messages[-1]["role"] == "user"
    seen: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        blocks = message["content"]
        assert blocks, "an empty turn"
        assert all(len(block) == 1 for block in blocks)
        results = [block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block]
        used = [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block]
        if message["role"] == "user":
            assert not used
            assert sorted(results) == sorted(waiting), "orphan call or result"
            kinds = ["toolResult" in block for block in blocks]
            assert kinds == sorted(kinds, reverse=True), "results come first"
            waiting = []
        else:
            assert not results
            assert any("text" in block or "toolUse" in block for block in blocks)
            waiting = used
        assert has_tools or not (results or used), "calls without tools"
        for call in used:
            assert call not in seen, "two calls with one id"
            assert len(call) <= 64
            seen.add(call)
        for block in blocks:
            if "text" in block:
                assert block["text"].strip(), "an empty text"
    assert not waiting
