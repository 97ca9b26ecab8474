"""The protocol's methods. Each returns its result; the era adds its own fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from baton.bootstrap import logger
from baton.domain import errors
from baton.domain.numbers import dumps
from mcp_door.eras import negotiated
from mcp_door.messages import JsonRpcMessage
from mcp_door.protocol import INVALID_PARAMS, METHOD_NOT_FOUND, MODERN, SERVED, SERVER_KEY, RpcError
from mcp_door.tools.catalogue import missing_in, tools_of
from mcp_door.tools.inner_call import Caller
from mcp_door.tools.instructions import instructions
from mcp_door.tools.refusals import refusal
from mcp_door.tools.tool import McpTool
from rest.strict_json import JsonBody

SERVER = {"name": "baton", "title": "Baton", "version": "0.1.0"}
# A new release may bring other tools.
CACHED_MS = 300_000
CACHING = {"ttlMs": CACHED_MS, "cacheScope": "public"}


@dataclass(frozen=True, slots=True)
class MethodCall:
    """A request with its caller."""

    caller: Caller
    message: JsonRpcMessage
    who: str  # whose tools, by the name of their set

    @property
    def params(self) -> dict[str, Any]:
        return self.message.params


def result_of(asked: MethodCall, version: str) -> dict[str, Any]:
    """Returns the method's result. Raises ``RpcError``, and ``BatonError`` for what concerns the request as a whole."""
    methods = _MODERN if version == MODERN else _HANDSHAKE
    if asked.message.method not in methods:
        raise RpcError(METHOD_NOT_FOUND, "Method not found")
    return stamped(methods[asked.message.method](asked), version)


def stamped(result: dict[str, Any], version: str) -> dict[str, Any]:
    """Returns the result with what the era without a handshake says in each."""
    return result | ({"resultType": "complete", "_meta": {SERVER_KEY: SERVER}} if version == MODERN else {})


def _discover(asked: MethodCall) -> dict[str, Any]:
    said = {"supportedVersions": list(SERVED), "capabilities": {"tools": {}}, "instructions": instructions(asked.who)}
    return {**said, **CACHING}


def _initialize(asked: MethodCall) -> dict[str, Any]:
    return {
        "protocolVersion": negotiated(asked.params.get("protocolVersion")),
        "capabilities": {"tools": {}},
        "serverInfo": SERVER,
        "instructions": instructions(asked.who),
    }


def _ping(_asked: MethodCall) -> dict[str, Any]:
    return {}


def _list(asked: MethodCall) -> dict[str, Any]:
    if asked.params.get("cursor") is not None:
        raise RpcError(INVALID_PARAMS, "The list has one page: no cursor was given out")
    return {"tools": [tool.shown for tool in tools_of(asked.who).values()]}


def _list_cached(asked: MethodCall) -> dict[str, Any]:
    return {**_list(asked), **CACHING}


def _call(asked: MethodCall) -> dict[str, Any]:
    name, arguments = asked.params.get("name"), asked.params.get("arguments")
    tool = tools_of(asked.who).get(name) if isinstance(name, str) else None
    if tool is None:
        raise RpcError(INVALID_PARAMS, "Unknown tool: tools/list shows those that there are")
    if not isinstance(arguments, dict | None):
        raise RpcError(INVALID_PARAMS, "arguments must be an object")
    logger().append_keys(route=f"mcp {tool.name}")
    return _played(asked, tool, _body_of(arguments or {}, is_exact=asked.message.is_exact))


def _body_of(arguments: dict[str, Any], *, is_exact: bool) -> JsonBody:
    """Models send null for what they leave out."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return JsonBody(dumps(given, ensure_ascii=False), given, is_exact=is_exact)


def _played(asked: MethodCall, tool: McpTool, arguments: JsonBody) -> dict[str, Any]:
    """A refusal is a result, so that the model learns of it; that of the token itself isn't the tool's."""
    try:
        said = tool.call(asked.caller, arguments).without(missing_in(asked.who))
    except errors.TokenRefused:
        raise
    except errors.BatonError as exc:
        return refused_call(errors.Busy() if isinstance(exc, errors.Conflict) else exc, asked.who, tool)
    return {
        "content": [{"type": "text", "text": said.text}],
        "structuredContent": tool.structured(said),
        "isError": False,
    }


def refused_call(exc: errors.BatonError, who: str, tool: McpTool | None = None) -> dict[str, Any]:
    logger().info("tool refused", action="tool_refused", code=exc.code)
    missing = missing_in(who)
    text = refusal(exc, missing, tool.names_of_fields, as_json=tool.is_twinings) if tool else refusal(exc, missing)
    return {"content": [{"type": "text", "text": text}], "isError": True}


_MODERN: dict[str, Callable[[MethodCall], dict[str, Any]]] = {
    "server/discover": _discover,
    "tools/list": _list_cached,
    "tools/call": _call,
}
_HANDSHAKE: dict[str, Callable[[MethodCall], dict[str, Any]]] = {
    "initialize": _initialize,
    "ping": _ping,
    "tools/list": _list,
    "tools/call": _call,
}
