"""A new profile for an agent, with a token of its own."""

from __future__ import annotations

from typing import Any

from baton_cli.command_context import CommandContext
from baton_client.core import Request
from baton_client.errors import Refused
from baton_client.profiles import Profile


def new_agent_profile(app: CommandContext, by: Profile, slug: str) -> Profile:
    """Returns a new profile for the agent, with a new token. Registers the agent if it isn't yet. ``by`` is a human's
    profile."""
    client = app.client_for(by)
    try:
        try:
            client.get(f"/agents/{slug}")
        except Refused as refusal:
            if refusal.status != 404:
                raise
            client.call(Request[Any]("PUT", f"/agents/{slug}", {"name": slug}))
        made = client.call(Request[Any]("POST", "/tokens", {"kind": "agent", "subject": slug}, app.key))
    finally:
        client.close()
    return Profile("", by.url, str(made["token"]), slug)
