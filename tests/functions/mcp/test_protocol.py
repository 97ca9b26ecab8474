"""The protocol itself: versions, headers, envelopes, refusals of whole requests (docs/spec/mcp.md §1, §2)."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from mcp_door.protocol import CAPABILITIES_KEY, HANDSHAKES, MODERN, SERVED, SERVER_KEY, VERSION_KEY
from rest.strict_json import MAX_BYTES
from support.gateway import Gateway
from support.worlds.mcp_client import HANDSHAKE, META, McpClient
from support.worlds.world import agent, human

ALICE, QA = human(), agent("qa")


@pytest.fixture
def modern(gateway: Gateway) -> McpClient:
    return McpClient(gateway)


@pytest.fixture
def handshake(gateway: Gateway) -> McpClient:
    return McpClient(gateway, HANDSHAKE)


def refusal(client: McpClient, message: Any, **headers: str) -> tuple[int, int]:
    """The HTTP status and the code of an error."""
    reply = client.post(ALICE, message, **headers)
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.json["jsonrpc"] == "2.0"
    return reply.status, reply.json["error"]["code"]


# ---- without a handshake ---------------------------------------------------------------------------------------------


def test_discovery_tells_versions_and_tools_and_nothing_that_there_is_not(modern: McpClient) -> None:
    found = modern.ask(ALICE, "server/discover")
    assert found["supportedVersions"] == list(SERVED)
    assert found["capabilities"] == {"tools": {}}
    assert (found["resultType"], found["cacheScope"]) == ("complete", "public")
    assert found["ttlMs"] > 0
    assert found["_meta"][SERVER_KEY]["name"] == "baton"


def test_the_list_may_be_cached_and_has_one_order(modern: McpClient) -> None:
    first, second = (modern.ask(ALICE, "tools/list") for _ in range(2))
    assert first == second
    assert (first["resultType"], first["cacheScope"]) == ("complete", "public")
    assert first["ttlMs"] > 0


@pytest.mark.parametrize("method", ["initialize", "ping", "resources/list", "prompts/list", "tools", "", "nope"])
def test_an_unknown_method_is_404(modern: McpClient, method: str) -> None:
    message = {"jsonrpc": "2.0", "id": "a", "method": method, "params": {"_meta": META}}
    assert refusal(modern, message, **modern.headers(method)) == (404, -32601)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mcp_protocol_version": HANDSHAKE},
        {"mcp_protocol_version": ""},
        {"mcp_method": "tools/call"},
        {"mcp_method": "tools/list,tools/list"},
    ],
)
def test_headers_that_contradict_the_body_are_refused(modern: McpClient, wrong: dict[str, str]) -> None:
    headers = {**modern.headers("tools/list"), **wrong}
    assert refusal(modern, modern.request("tools/list"), **headers) == (400, -32020)


@pytest.mark.parametrize("left_out", ["mcp_protocol_version", "mcp_method", "mcp_name"])
def test_headers_that_are_missing_are_refused(modern: McpClient, left_out: str) -> None:
    message = modern.request("tools/call", name="list_tasks", arguments={})
    headers = modern.headers("tools/call", "list_tasks")
    headers.pop(left_out)
    assert refusal(modern, message, **headers) == (400, -32020)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("list_tasks", 200),
        ("get_task", 400),
        (" list_tasks\t", 200),
        ("=?base64?bGlzdF90YXNrcw==?=", 200),
        ("=?base64?%%?=", 400),
    ],
)
def test_the_name_header_has_to_name_the_tool(modern: McpClient, name: str, status: int) -> None:
    message = modern.request("tools/call", name="list_tasks", arguments={})
    assert modern.post(ALICE, message, **modern.headers("tools/call", name)).status == status


def test_a_name_in_base_64_is_read_as_utf_8(modern: McpClient) -> None:
    encoded = f"=?base64?{base64.b64encode('Prüfer'.encode()).decode()}?="
    message = modern.request("tools/call", name="Prüfer", arguments={})
    assert refusal(modern, message, **modern.headers("tools/call", encoded)) == (400, -32602)


@pytest.mark.parametrize("left_out", [VERSION_KEY, CAPABILITIES_KEY])
def test_the_envelope_has_to_be_whole(modern: McpClient, left_out: str) -> None:
    meta = {name: value for name, value in META.items() if name != left_out}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    assert refusal(modern, message, **modern.headers("tools/list")) == (400, -32602)


def test_a_version_that_is_not_served_is_refused_with_those_that_are(modern: McpClient) -> None:
    meta = {**META, VERSION_KEY: "2031-01-01"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}
    headers = {**modern.headers("server/discover"), "mcp_protocol_version": "2031-01-01"}
    reply = modern.post(ALICE, message, **headers)
    assert (reply.status, reply.json["error"]["code"]) == (400, -32022)
    assert reply.json["error"]["data"] == {"supported": list(SERVED), "requested": "2031-01-01"}


# ---- with a handshake ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [*zip(HANDSHAKES, HANDSHAKES, strict=True), ("2024-11-05", HANDSHAKE), (MODERN, HANDSHAKE), (None, HANDSHAKE)],
)
def test_the_handshake_agrees_on_the_version_that_was_asked_for_or_the_newest(
    handshake: McpClient, asked: str | None, agreed: str
) -> None:
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    reply = handshake.post(ALICE, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    assert reply.json["result"]["protocolVersion"] == agreed
    assert reply.json["result"]["capabilities"] == {"tools": {}}
    assert reply.json["result"]["serverInfo"]["name"] == "baton"
    assert "mcp-session-id" not in {name.lower() for name in reply.headers}


def test_the_handshake_says_nothing_that_only_the_other_era_has(handshake: McpClient) -> None:
    assert handshake.ask(ALICE, "ping") == {}
    assert handshake.ask(ALICE, "tools/list").keys() == {"tools"}


def test_a_request_without_a_version_is_of_the_first_era(handshake: McpClient) -> None:
    assert handshake.post(ALICE, handshake.request("tools/list")).status == 200


def test_an_unknown_method_is_an_error_of_the_method(handshake: McpClient) -> None:
    assert refusal(handshake, handshake.request("resources/list")) == (200, -32601)


def test_a_header_with_an_unknown_version_is_refused(handshake: McpClient) -> None:
    assert refusal(handshake, handshake.request("tools/list"), mcp_protocol_version="1999-01-01") == (400, -32022)


def test_an_empty_version_is_none_that_is_served_in_a_notification_too(gateway: Gateway) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    reply = McpClient(gateway).post(ALICE, message, mcp_protocol_version="")
    assert (reply.status, reply.json["error"]["code"]) == (400, -32022)


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "notifications/odd"])
@pytest.mark.parametrize("version", [MODERN, *HANDSHAKES])
def test_a_notification_is_taken_without_an_answer(gateway: Gateway, method: str, version: str) -> None:
    reply = McpClient(gateway).post(ALICE, {"jsonrpc": "2.0", "method": method}, mcp_protocol_version=version)
    assert (reply.status, reply.text) == (202, "")


# ---- any request -----------------------------------------------------------------------------------------------------

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff", -32700),
        (b'{"a": NaN}', -32700),
        (b'{"id": 1, "id": 2}', -32700),
        (b"[" * 1_000, -32700),
        (b"", -32600),
        (b"[]", -32600),
        ([PING], -32600),
        ([PING, PING], -32600),
        ("7", -32600),
        ({**PING, "jsonrpc": "1.0"}, -32600),
        ({**PING, "method": 7}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, -32600),
        ({**PING, "id": None}, -32600),
        ({**PING, "id": True}, -32600),
        ({**PING, "id": 1.5}, -32600),
        ({**PING, "id": [1]}, -32600),
        ({**PING, "id": "x" * 201}, -32600),
    ],
)
def test_what_is_not_one_message_is_refused(handshake: McpClient, body: Any, code: int) -> None:
    assert refusal(handshake, body) == (400, code)


def test_params_have_to_be_an_object(handshake: McpClient) -> None:
    assert refusal(handshake, {**PING, "params": [1]}) == (400, -32600)


@pytest.mark.parametrize("id_", [0, -7, 2**53 - 1, "", "x" * 200])
def test_the_answer_has_the_requests_id(handshake: McpClient, id_: Any) -> None:
    assert handshake.post(ALICE, {**PING, "id": id_}).json == {"jsonrpc": "2.0", "id": id_, "result": {}}


def test_a_body_over_the_apis_limit_is_refused(handshake: McpClient) -> None:
    assert refusal(handshake, {**PING, "params": {"x": "y" * MAX_BYTES}}) == (413, -32600)


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 200), ("tools=worker", 200), ("tools=sender", 200), ("tools=all", 200)]
    + [(each, 422) for each in ("tools=admin", "tools=", "other=1", "tools=all&tools=all")],
)
def test_the_query_narrows_the_tools_and_nothing_else(handshake: McpClient, query: str, status: int) -> None:
    assert handshake.post(ALICE, handshake.request("tools/list"), query=query).status == status


def test_the_list_has_no_other_page(client: McpClient) -> None:
    reply = client.post(ALICE, client.request("tools/list", cursor="x"), **client.headers("tools/list"))
    assert reply.json["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_no_stream_and_no_session(modern: McpClient, method: str) -> None:
    reply = modern.send(ALICE, method, "/mcp")
    assert (reply.status, reply.headers["Allow"]) == (405, "POST")


# ---- who asks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "challenge"),
    [
        (None, "Bearer"),
        ("", "Bearer"),
        ("nonsense", 'Bearer error="invalid_token"'),
        ("Basic YWxpY2U6eA==", 'Bearer error="invalid_token"'),
        (f"Bearer baton_{'0' * 26}_{'f' * 64}", 'Bearer error="invalid_token"'),
    ],
)
def test_nobody_without_a_good_token_gets_in_and_all_are_told_401(
    modern: McpClient, header: str | None, challenge: str
) -> None:
    headers = {} if header is None else {"authorization": header}
    reply = modern.post(None, modern.request("tools/list"), **modern.headers("tools/list"), **headers)
    assert (reply.status, reply.headers["WWW-Authenticate"]) == (401, challenge)
    assert reply.json["error"]["data"]["www_authenticate"] == challenge  # AWS's front doors rename the header
    assert reply.json["error"]["data"]["code"] in {"not_authenticated", "token_refused"}
    assert "resource_metadata" not in reply.text + str(reply.headers)


def test_a_token_that_was_revoked_is_401_at_the_next_request(modern: McpClient) -> None:
    made = modern.gateway.post(ALICE, "/tokens", {"kind": "human", "subject": "bob"}).json
    headers = {**modern.headers("tools/list"), "authorization": f"Bearer {made['token']}"}
    assert modern.post(None, modern.request("tools/list"), **headers).status == 200
    modern.gateway.delete(ALICE, f"/tokens/{made['id']}")
    assert modern.post(None, modern.request("tools/list"), **headers).status == 401
    called = modern.request("tools/call", name="list_tasks", arguments={})
    headers = {**modern.headers("tools/call", "list_tasks"), "authorization": f"Bearer {made['token']}"}
    assert modern.post(None, called, **headers).status == 401


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration/mcp",
        "/mcp/.well-known/oauth-authorization-server",
    ],
)
@pytest.mark.parametrize("by", [None, ALICE])
def test_there_is_no_authorization_server_and_everybody_is_told_so(
    modern: McpClient, path: str, by: Principal | None
) -> None:
    reply = modern.send(by, "GET", path)
    assert (reply.status, reply.code, reply.headers["Content-Type"]) == (404, "not_found", "application/problem+json")


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://baton.example", 200),
        ("http://localhost:6274", 200),
        ("http://127.0.0.1", 200),
        ("http://[::1]:80", 200),
        ("https://evil.example", 403),
        ("https://baton.example.evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("http://[", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_a_web_page_of_somebody_elses_is_refused(modern: McpClient, origin: str, status: int) -> None:
    message = modern.request("tools/list")
    assert modern.post(ALICE, message, **modern.headers("tools/list"), origin=origin).status == status


def test_requests_count_against_the_callers_limit(modern: McpClient) -> None:
    modern.gateway.put(ALICE, "/workspace/settings", {"requests_per_minute": 60})
    replies = [modern.post(QA, modern.request("tools/list"), **modern.headers("tools/list")) for _ in range(70)]
    assert {each.status for each in replies} == {200, 429}
    last = replies[-1]
    assert (last.status, last.json["error"]["data"]["code"]) == (429, "rate_limited")
    assert int(last.headers["Retry-After"]) > 0
