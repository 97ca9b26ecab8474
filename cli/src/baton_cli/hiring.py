"""An agent with a token of its own."""

from __future__ import annotations

from baton_cli.client import Client
from baton_cli.exits import Refused
from baton_cli.profiles import Profile
from baton_cli.wire import Request


def hired(by: Profile, slug: str, key: str) -> Profile:
    """Returns the agent's profile: it is registered unless it is already, and gets a new token. ``by`` is a human's."""
    client = Client(by)
    try:
        try:
            client.get(f"/agents/{slug}")
        except Refused as refusal:
            if refusal.status != 404:
                raise
            client.call(Request("PUT", f"/agents/{slug}", {"name": slug}))
        made = client.call(Request("POST", "/tokens", {"kind": "agent", "subject": slug}, key))
    finally:
        client.close()
    return Profile("", by.url, str(made["token"]), slug)
