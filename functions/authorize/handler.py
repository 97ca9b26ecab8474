"""Authenticates a request for the gateway. Functions take the caller from nowhere else."""

from __future__ import annotations

from typing import Any

from baton.bootstrap import logger, wire_tokens
from baton.services.access.authenticate import authenticate

REFUSED: dict[str, Any] = {"isAuthorized": False}


class AuthorizerFailed(Exception):
    """The caller can't be identified right now. The message has no details: the gateway may show it."""


def lambda_handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    try:
        return answer(event)
    except Exception as exc:  # noqa: BLE001 - the edge of the process
        # No refusal: a 403 would tell a worker that its token is invalid. The gateway answers 500: try again.
        logger().error("authorizing failed", action="authorize_failed", error=type(exc).__name__)
        raise AuthorizerFailed from None


def answer(event: dict[str, Any]) -> dict[str, Any]:
    """Returns the gateway's simple response. ``scopes`` are joined by commas, as a context takes only texts."""
    header = str((event.get("headers") or {}).get("authorization") or "")
    principal = authenticate(*wire_tokens(), header)
    if principal is None:
        logger().info("refused", action="refused")
        return REFUSED
    ids = {"workspace": principal.workspace, "kind": principal.kind.value, "id": principal.id}
    logger().info("admitted", action="admitted", workspace=principal.workspace, principal=principal.key)
    return {"isAuthorized": True, "context": {**ids, "scopes": ",".join(sorted(principal.scopes))}}
