"""One JSON-RPC message: a request or a notification. None of it is trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp_door.protocol import INVALID_REQUEST, PARSE_ERROR, RpcError
from rest.errors import MalformedJson
from rest.request import Request
from rest.strict_json import JsonBody, read_json

MAX_ID = 200
LAST_NUMBER = 2**53 - 1


@dataclass(frozen=True, slots=True)
class JsonRpcMessage:
    id: str | int | None  # None for a notification
    method: str
    params: dict[str, Any]
    is_exact: bool = False  # it has numbers that are kept as they were written

    @property
    def is_notification(self) -> bool:
        return self.id is None

    @property
    def meta(self) -> dict[str, Any]:
        found = self.params.get("_meta")
        return found if isinstance(found, dict) else {}


def message_from(request: Request) -> JsonRpcMessage:
    """Returns the body's message. Raises ``RpcError``, and ``TooLarge`` for a body over the API's limit."""
    try:
        body = read_json(request.body, any_value=True)
    except MalformedJson as exc:
        raise RpcError(PARSE_ERROR, f"Parse error: {exc.message}") from exc
    return _message(body)


def _message(body: JsonBody) -> JsonRpcMessage:
    value = body.value
    if isinstance(value, list):
        raise RpcError(INVALID_REQUEST, "Invalid request: send one message, not a batch")
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0" or not isinstance(value.get("method"), str):
        raise RpcError(INVALID_REQUEST, "Invalid request: the body must be one JSON-RPC 2.0 request or notification")
    params = value.get("params", {})
    if not isinstance(params, dict):
        raise RpcError(INVALID_REQUEST, "Invalid request: params must be an object")
    return JsonRpcMessage(_id(value), value["method"], params, body.is_exact)


def _id(value: dict[str, Any]) -> str | int | None:
    if "id" not in value:
        return None
    match value["id"]:
        case bool():
            pass
        case int() as number if abs(number) <= LAST_NUMBER:
            return number
        case str() as text if len(text) <= MAX_ID:
            return text
    raise RpcError(INVALID_REQUEST, f"Invalid request: id must be a whole number, or a text of up to {MAX_ID}")
