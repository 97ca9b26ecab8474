"""A fake server with OpenAI's chat completions. It refuses the requests that OpenAI refuses."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from support.fakes.loopback import Canned, Loopback
from support.http_server import Received

KEY = "sk-of-the-test"
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
FIELDS = {"model", "messages", "tools", "max_tokens", "max_completion_tokens"}


@dataclass
class FakeOpenAI(Loopback):
    """``key``: the key that a request must have; empty for no check."""

    key: str = KEY

    def check(self, request: Received) -> str | None:
        wanted = f"Bearer {self.key}" if self.key else None
        if request.headers.get("authorization") != wanted:
            return "another key"
        if (request.method, request.path) == ("GET", "/v1/models"):
            return None
        if (request.method, request.path) != ("POST", "/v1/chat/completions"):
            return f"{request.method} {request.path}"
        try:
            _check(request.body)
        except (AssertionError, KeyError, TypeError) as wrong:
            return repr(wrong)
        return None


def completion(finish_reason: Any = "stop", **message: Any) -> Canned:
    """An answer of the true shape."""
    said = {"role": "assistant", "content": None, **message}
    return Canned(
        body={
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_795_000_000,
            "model": "some-model",
            "choices": [{"index": 0, "message": said, "logprobs": None, "finish_reason": finish_reason}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
    )


def tool_call(name: Any, arguments: Any, call_id: str = "call_x") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def refusal(status: int, message: str = "no", headers: dict[str, str] | None = None, **error: Any) -> Canned:
    """``error``: its type, param and code."""
    said = {"message": message, "type": "invalid_request_error", "param": None, "code": None, **error}
    return Canned(status=status, body={"error": said}, headers=headers or {})


def _check(body: dict[str, Any]) -> None:
    assert set(body) <= FIELDS, "unknown fields"
    assert isinstance(body["model"], str)
    assert body["model"]
    limits = [body[name] for name in ("max_tokens", "max_completion_tokens") if name in body]
    assert len(limits) == 1, "one limit"
    assert isinstance(limits[0], int)
    for tool in body.get("tools", [None])[: len(body.get("tools", []))]:
        _check_tool(tool)
    assert body.get("tools") != [], "an empty list of tools"
    _check_messages(body["messages"])


def _check_tool(tool: dict[str, Any]) -> None:
    assert set(tool) == {"type", "function"}
    assert tool["type"] == "function"
    function = tool["function"]
    assert set(function) == {"name", "description", "parameters"}
    assert NAME.fullmatch(function["name"])
    assert function["parameters"]["type"] == "object"
    assert isinstance(function["parameters"]["properties"], dict)


def _check_messages(messages: list[dict[str, Any]]) -> None:
    waiting: list[str] = []
    for number, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            assert set(message) == {"role", "tool_call_id", "content"}
            assert waiting, "a result without a call"
            assert message["tool_call_id"] == waiting.pop(0), "results come in the order of the calls"
            assert isinstance(message["content"], str)
            continue
        assert not waiting, f"calls without results: {waiting}"
        if role == "assistant":
            assert set(message) <= {"role", "content", "tool_calls"}, "what isn't taken back"
            assert message["content"] or message.get("tool_calls"), "an empty message"
            waiting = [_called(each) for each in message.get("tool_calls", [])]
        else:
            assert set(message) == {"role", "content"}
            assert role == "user" or (role == "system" and number == 0)
            assert message["content"].strip()
    assert not waiting
    assert messages[-1]["role"] in {"user", "tool"}


def _called(call: dict[str, Any]) -> str:
    assert set(call) == {"id", "type", "function"}
    assert call["type"] == "function"
    assert set(call["function"]) == {"name", "arguments"}
    assert NAME.fullmatch(call["function"]["name"])
    assert isinstance(json.loads(call["function"]["arguments"]), dict)
    return str(call["id"])
