"""A fake of Bedrock's Converse on loopback. It refuses the requests that Bedrock refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from support.fakes.loopback import Canned, Loopback
from support.http_server import Received

METADATA = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,-.]{0,256}")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CALL = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
FIELDS = {"messages", "system", "inferenceConfig", "toolConfig", "requestMetadata"}


@dataclass
class FakeBedrock(Loopback):
    model: str = "some-model"

    def check(self, request: Received) -> str | None:
        if (request.method, request.path) != ("POST", f"/model/{self.model}/converse"):
            return f"{request.method} {request.path}"
        if "/bedrock/aws4_request" not in request.headers["authorization"]:
            return "not signed for bedrock"
        try:
            _check(request.body)
        except (AssertionError, KeyError, TypeError) as wrong:
            return repr(wrong)
        return None


def answer(*content: dict[str, Any], stop_reason: str = "end_turn", **more: Any) -> Canned:
    return Canned(
        body={
            "output": {"message": {"role": "assistant", "content": list(content)}},
            "stopReason": stop_reason,
            "usage": {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18},
            "metrics": {"latencyMs": 250},
            **more,
        }
    )


def trouble(code: str, status: int, message: str = "no", **headers: str) -> Canned:
    kind = {"x-amzn-ErrorType": f"{code}:http://internal.amazon.com/coral/com.amazon.bedrock/"}
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return Canned(status=status, body={"message": message}, headers=kind | told)


def _check(body: dict[str, Any]) -> None:
    assert set(body) <= FIELDS, "unknown fields"
    assert set(body["inferenceConfig"]) == {"maxTokens"}
    assert 1 <= len(body["requestMetadata"]) <= 16
    assert all(METADATA.fullmatch(each) for pair in body["requestMetadata"].items() for each in pair)
    for system in body.get("system", []):
        assert system["text"].strip(), "blank text"
    tools = body.get("toolConfig", {"tools": [{}]})["tools"]
    assert tools, "no tools"
    for tool in tools if "toolConfig" in body else []:
        spec = tool["toolSpec"]
        assert NAME.fullmatch(spec["name"])
        assert spec.get("description") != "", "an empty description"
        assert spec["inputSchema"]["json"]["type"] == "object"
    roles = [message["role"] for message in body["messages"]]
    assert roles == [("user", "assistant")[number % 2] for number in range(len(roles))]
    for message in body["messages"]:
        assert message["content"]
        for block in message["content"]:
            _check_block(block)


def _check_block(block: dict[str, Any]) -> None:
    ((kind, said),) = block.items()
    if kind == "text":
        assert said.strip(), "blank text"
    elif kind == "toolUse":
        assert set(said) == {"toolUseId", "name", "input"}
        assert CALL.fullmatch(said["toolUseId"])
        assert NAME.fullmatch(said["name"])
        assert isinstance(said["input"], dict)
    elif kind == "toolResult":
        assert set(said) == {"toolUseId", "content", "status"}
        for content in said["content"]:
            ((form, value),) = content.items()
            assert value.strip() if form == "text" else isinstance(value, dict), "Provide a json object for the field"
    else:
        assert kind == "reasoningContent"
        assert set(said) in [{"reasoningText"}, {"redactedContent"}]
