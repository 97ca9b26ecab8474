"""The bell's connections, at API Gateway."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from botocore import exceptions

from baton.ports.bell import Heard

_GONE = 410


class ConnectionsClient(Protocol):
    def post_to_connection(self, **request: Any) -> Any: ...
    def delete_connection(self, **request: Any) -> Any: ...


class ApiGatewayConnections:
    def __init__(self, client: ConnectionsClient, log: Callable[..., None]) -> None:
        self._client, self._log = client, log

    def send(self, connection_id: str, message: Mapping[str, Any]) -> Heard:
        try:
            self._client.post_to_connection(ConnectionId=connection_id, Data=json.dumps(message).encode())
        except (exceptions.ClientError, exceptions.BotoCoreError) as exc:
            if _status(exc) == _GONE:
                return Heard.GONE
            self._log("a ring may be lost", action="ring_unclear", error=type(exc).__name__)
            return Heard.UNKNOWN
        return Heard.YES

    def close(self, connection_id: str) -> None:
        try:
            self._client.delete_connection(ConnectionId=connection_id)
        except (exceptions.ClientError, exceptions.BotoCoreError) as exc:
            if _status(exc) != _GONE:
                self._log("a connection wasn't closed", action="listener_not_closed", error=type(exc).__name__)


def _status(exc: Exception) -> int:
    response = getattr(exc, "response", None) or {}
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
