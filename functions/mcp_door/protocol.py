"""The protocol's words: versions, names of fields, and errors with their HTTP statuses (docs/spec/mcp.md §1)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

MODERN = "2026-07-28"
# Newest first. The first is offered to a client that asks for one that isn't served.
HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26")
SERVED = (MODERN, *HANDSHAKES)
# What a request without the header speaks, by the protocol itself.
UNNAMED = "2025-03-26"

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

STATUSES = {METHOD_NOT_FOUND: HTTPStatus.NOT_FOUND, INTERNAL_ERROR: HTTPStatus.OK}
# What stands before a client's era is known, or is about the version itself, is an error of HTTP in each era.
_IN_EACH_ERA = {PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, UNSUPPORTED_VERSION}


class RpcError(Exception):
    """A request that isn't the protocol's. A tool that refuses is no such error: its result says so."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def status(self, *, is_modern: bool) -> int:
        """Returns the HTTP status. Clients of the handshake expect 200 for an error of a method."""
        if not is_modern and self.code not in _IN_EACH_ERA:
            return HTTPStatus.OK
        return STATUSES.get(self.code, HTTPStatus.BAD_REQUEST)


def unsupported(asked: str) -> RpcError:
    return RpcError(
        UNSUPPORTED_VERSION, "Unsupported protocol version", {"supported": list(SERVED), "requested": asked[:100]}
    )


def error_body(id_: str | int | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": id_, "error": error}
