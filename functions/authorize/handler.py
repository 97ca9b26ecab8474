"""Tells the gateway who is calling. Its word is the only one that functions believe about that."""

from __future__ import annotations

from typing import Any

from baton.bootstrap import logger, wire_tokens
from baton.services.authenticate import authenticate

REFUSED: dict[str, Any] = {"isAuthorized": False}


def lambda_handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    try:
        return answer(event)
    except Exception as exc:  # noqa: BLE001 - whoever can't be made out is refused, and nothing of the token is told
        logger().error("authorizing failed", action="authorize_failed", error=type(exc).__name__)
        return REFUSED


def answer(event: dict[str, Any]) -> dict[str, Any]:
    """The gateway's simple form. ``scopes`` are joined by commas: a context holds texts only."""
    header = str((event.get("headers") or {}).get("authorization") or "")
    principal = authenticate(*wire_tokens(), header)
    if principal is None:
        logger().info("refused", action="refused")
        return REFUSED
    ids = {"workspace": principal.workspace, "kind": principal.kind.value, "id": principal.id}
    logger().info("admitted", action="admitted", workspace=principal.workspace, principal=principal.key)
    return {"isAuthorized": True, "context": {**ids, "scopes": ",".join(sorted(principal.scopes))}}
