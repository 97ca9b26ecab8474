"""What goes through the door, for docs/openapi.json. The protocol is read in messages.py and eras.py."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from annotated_types import Ge, Le, MaxLen
from typing_extensions import TypedDict

from mcp_door.messages import LAST_NUMBER, MAX_ID
from rest import models

MessageId = Annotated[int, Ge(-LAST_NUMBER), Le(LAST_NUMBER)] | Annotated[str, MaxLen(MAX_ID)]


class McpMessage(TypedDict):
    """A request of JSON-RPC, or without ``id`` a notification. ``method``: ``server/discover``, ``tools/list`` and
    ``tools/call``; after a handshake ``initialize`` and ``ping`` too. ``params``: the method's own, and ``_meta`` in
    the era without a handshake."""

    jsonrpc: Literal["2.0"]
    id: NotRequired[MessageId]
    method: str
    params: NotRequired[dict[str, Any]]


class McpErrorBody(TypedDict):
    """``data``: for a refusal of the request itself its problem (RFC 9457), with ``code`` and ``request_id``; with 401
    ``www_authenticate`` too, what the header says."""

    code: int
    message: str
    data: NotRequired[dict[str, Any]]


class McpError(TypedDict):
    """``id``: null where the request's couldn't be read."""

    jsonrpc: Literal["2.0"]
    id: MessageId | None
    error: McpErrorBody


class McpAnswer(TypedDict):
    """Either ``result`` or ``error``. A tool that refuses has a ``result`` with ``isError``."""

    jsonrpc: Literal["2.0"]
    id: MessageId | None
    result: NotRequired[dict[str, Any]]
    error: NotRequired[McpErrorBody]


class ToolsQuery(models.Query):
    """``tools``: which ones are listed and known: those of a worker, of a sender, of both, or all. ``worker``: the
    session's name, for its claims and handoffs."""

    tools: Literal["worker", "sender", "usual", "all"] = "usual"
    worker: models.Worker | None = None
