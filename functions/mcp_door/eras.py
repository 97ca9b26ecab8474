"""Which protocol version a request speaks: with a handshake before it, or by itself (docs/spec/mcp.md §1)."""

from __future__ import annotations

import base64
import re

from mcp_door.messages import JsonRpcMessage
from mcp_door.protocol import (
    CAPABILITIES_KEY,
    HANDSHAKES,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    MODERN,
    SERVED,
    UNNAMED,
    VERSION_KEY,
    RpcError,
    unsupported,
)
from rest.request import Request

# A value that isn't printable ASCII travels in base 64.
_ENCODED = re.compile(r"=\?base64\?(.*)\?=\Z")


def speaks_modern(message: JsonRpcMessage, request: Request) -> bool:
    """True if the client means the era without a handshake, rightly or not. It decides how an error is told."""
    return VERSION_KEY in message.meta or request.header("mcp-protocol-version") == MODERN


def version_of(message: JsonRpcMessage, request: Request) -> str:
    """Returns the version that the request speaks. Raises ``RpcError`` for one that isn't served, and for a request
    whose headers and body disagree."""
    named = request.header("mcp-protocol-version")
    if message.is_notification:
        return _served(UNNAMED if named is None else named)
    if not speaks_modern(message, request):
        return _handshake(message, named)
    _must_be_whole(message)
    asked = message.meta[VERSION_KEY]
    _must_agree("MCP-Protocol-Version", named, asked)
    _must_agree("Mcp-Method", request.header("mcp-method"), message.method)
    if message.method == "tools/call":
        _must_agree("Mcp-Name", _decoded(request.header("mcp-name")), message.params.get("name"))
    if asked != MODERN:
        raise unsupported(asked)
    return MODERN


def _handshake(message: JsonRpcMessage, named: str | None) -> str:
    """``initialize`` negotiates the version in its body, whatever its header says."""
    if named is None or message.method == "initialize":
        return UNNAMED
    return _served(named)


def _served(named: str) -> str:
    if named not in SERVED:
        raise unsupported(named)
    return named


def _must_be_whole(message: JsonRpcMessage) -> None:
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in message.meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}")


def _must_agree(header: str, given: str | None, said: object) -> None:
    if given is None or given.strip(" \t") != said:
        raise RpcError(HEADER_MISMATCH, f"The header {header} has to say the same as the body")


def _decoded(value: str | None) -> str | None:
    encoded = _ENCODED.match((value or "").strip(" \t"))
    if encoded is None:
        return value
    try:
        return base64.b64decode(encoded[1], validate=True).decode()
    except ValueError:
        return None


def negotiated(asked: object) -> str:
    """Returns the version that ``initialize`` agrees on: the client's, or the newest with a handshake."""
    return asked if isinstance(asked, str) and asked in HANDSHAKES else HANDSHAKES[0]
