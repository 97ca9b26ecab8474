"""Idempotency keys of tool calls. A lost reply is sent again under a new JSON-RPC id, so that id can't be the key
(docs/decisions/060-mcp-tools-play-the-routes.md)."""

from __future__ import annotations

from typing import Any

from baton.domain.numbers import fingerprint


def key_under_claim(tool: str, arguments: dict[str, Any]) -> str:
    """Returns the key of a worker's verb: the same claim, tool and arguments are the same request."""
    return f"mcp-{fingerprint([tool, arguments])}"


def key_of(tool: str, request_id: str | None) -> str | None:
    """Returns the key that the caller chose by ``request_id``, None if it chose none."""
    return None if request_id is None else f"mcp-{fingerprint([tool, request_id])}"
