"""The person behind the token of a command."""

from __future__ import annotations

from typing import Any

from baton_cli.command_context import CommandContext
from baton_client.core import Request
from baton_client.errors import Refused


def own_person(app: CommandContext) -> dict[str, Any] | None:
    """Returns the person as ``principal`` of `POST /sessions/redeem`, with ``id`` and ``right``; None for an agent's or
    a service's token.

    No route returns the caller. A code for a session names its maker; this code is never redeemed, and it expires
    within a minute.
    """
    try:
        made = app.client.call(Request[Any]("POST", "/session-codes", {}))
    except Refused as refusal:
        if refusal.code != "human_required":
            raise
        return None
    look = {"code": made["code"], "look": True}
    person: dict[str, Any] = app.client.call(Request[Any]("POST", "/sessions/redeem", look))["principal"]
    return person
