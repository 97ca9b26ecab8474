"""Tells the gateway who is calling. Its word is the only one that functions believe about that."""

from __future__ import annotations

from typing import Any

from baton.bootstrap import logger, wire_tokens
from baton.services.authenticate import authenticate

REFUSED: dict[str, Any] = {"isAuthorized": False}


class AuthorizerFailed(Exception):
    """Nobody can be made out right now. Says nothing else: the gateway may show it."""


def lambda_handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    try:
        return answer(event)
    except Exception as exc:  # noqa: BLE001 - the edge of the process
        # Not a refusal: 403 would tell a worker that its token is dead. The gateway makes a 500 of it: try again.
        logger().error("authorizing failed", action="authorize_failed", error=type(exc).__name__)
        raise AuthorizerFailed from None


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
