"""The principal of a bearer token."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.domain.access.token import digest, split
from baton.ports.access import TokenStore
from baton.ports.system import Clock


def authenticate(tokens: TokenStore, clock: Clock, header: str) -> Principal | None:
    """Returns the token's principal. None unless the token was issued, hasn't expired and wasn't revoked."""
    parts = split(header)
    if parts is None:
        return None
    token_id, secret = parts
    token = tokens.token(token_id)
    if token is None:
        # The same work as for a known id, so that a refusal's timing reveals nothing.
        digest(secret)
        return None
    return token.principal if token.admits(secret, clock.now()) else None
