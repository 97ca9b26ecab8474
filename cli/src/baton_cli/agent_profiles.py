"""A new profile for an agent, with a token of its own."""

from __future__ import annotations

from baton_cli.client import Client
from baton_cli.failures import ApiRefusal
from baton_cli.http_connection import HttpRequest
from baton_cli.profiles import Profile


def new_agent_profile(by: Profile, slug: str, key: str) -> Profile:
    """Returns a new profile for the agent, with a new token. Registers the agent if it isn't yet. ``by`` is a human's
    profile."""
    client = Client(by)
    try:
        try:
            client.get(f"/agents/{slug}")
        except ApiRefusal as refusal:
            if refusal.status != 404:
                raise
            client.call(HttpRequest("PUT", f"/agents/{slug}", {"name": slug}))
        made = client.call(HttpRequest("POST", "/tokens", {"kind": "agent", "subject": slug}, key))
    finally:
        client.close()
    return Profile("", by.url, str(made["token"]), slug)
