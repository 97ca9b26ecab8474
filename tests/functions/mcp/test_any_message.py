"""Whatever is sent to the door is answered in the protocol's words, and never with a fault of Baton's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_door.protocol import CAPABILITIES_KEY, MODERN, SERVED, VERSION_KEY
from mcp_door.tools.catalogue import TOOLS
from support.faults.soak import scaled
from support.gateway import Reply
from support.worlds.http_agents import HttpAgents
from support.worlds.mcp_client import META, McpClient
from support.worlds.world import agent

CODER = agent("auto-code")
STATUSES = {200, 202, 400, 403, 404, 413, 422, 429}
TEXTS = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from(["initialize", "ping", "tools/list", "tools/call", "server/discover", "notifications/x"])
METAS = st.just(META) | st.fixed_dictionaries({}, optional={VERSION_KEY: JSON, CAPABILITIES_KEY: JSON}) | JSON
PARAMS = JSON | st.fixed_dictionaries({}, optional={"_meta": METAS, "name": JSON, "arguments": JSON, "cursor": JSON})
MESSAGES = JSON | st.fixed_dictionaries(
    {}, optional={"jsonrpc": st.just("2.0") | JSON, "id": JSON, "method": METHODS | JSON, "params": PARAMS}
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "mcp_protocol_version": st.sampled_from(SERVED) | TEXTS,
        "mcp_method": METHODS | TEXTS,
        "mcp_name": TEXTS | st.just("=?base64?eA==?="),
    },
)
often = settings(
    max_examples=scaled(150), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def _must_be_told(reply: Reply) -> None:
    assert reply.status in STATUSES, reply.text
    if reply.status == 202:
        assert reply.text == ""
        return
    told = reply.json
    assert told["jsonrpc"] == "2.0"
    assert ("result" in told) is not ("error" in told)
    assert told.get("error", {}).get("code") != -32603, reply.text


@often
@given(message=MESSAGES, headers=HEADERS)
def test_any_message_is_answered(http_agents: HttpAgents, message: Any, headers: dict[str, str]) -> None:
    _must_be_told(McpClient(http_agents.gateway).post(CODER, json.dumps(message), **headers))


@often
@given(body=st.binary(max_size=60))
def test_any_bytes_are_answered(http_agents: HttpAgents, body: bytes) -> None:
    _must_be_told(McpClient(http_agents.gateway).post(CODER, body))


def _arguments(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Right ones and wrong ones, mixed."""
    right = {
        "string": TEXTS,
        "integer": st.integers(-5, 200),
        "boolean": st.booleans(),
        "object": st.dictionaries(TEXTS, JSON, max_size=3),
        "array": st.lists(TEXTS | JSON, max_size=3),
    }
    fields = {
        name: st.sampled_from(each["enum"]) | JSON if "enum" in each else right.get(each.get("type", ""), JSON) | JSON
        for name, each in schema["properties"].items()
    }
    return st.fixed_dictionaries({}, optional={**fields, "another": JSON})


@pytest.mark.parametrize("tool", TOOLS, ids=lambda each: each.name)
def test_any_arguments_are_answered(http_agents: HttpAgents, tool: Any) -> None:
    client = McpClient(http_agents.gateway)

    @settings(max_examples=scaled(60))
    @given(arguments=_arguments(tool.shown["inputSchema"]))
    def played(arguments: Any) -> None:
        params = {"name": tool.name, "arguments": arguments, "_meta": META}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"mcp_protocol_version": MODERN, "mcp_method": "tools/call", "mcp_name": tool.name}
        reply = client.post(CODER, json.dumps(message), **headers)
        _must_be_told(reply)
        if "result" in reply.json:
            (content,) = reply.json["result"]["content"]
            assert "\nnext: " in content["text"]

    played()
