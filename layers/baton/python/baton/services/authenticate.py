"""Who a bearer token speaks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.token import digest, split

if TYPE_CHECKING:
    from baton.domain.principal import Principal
    from baton.ports import Clock, TokenStore


def authenticate(tokens: TokenStore, clock: Clock, header: str) -> Principal | None:
    """None for everything but a token that was issued, has not expired and was not revoked."""
    parts = split(header)
    if parts is None:
        return None
    token_id, secret = parts
    token = tokens.token(token_id)
    if token is None:
        # The same work as for a known id, so that the time of a refusal tells nothing.
        digest(secret)
        return None
    return token.principal if token.admits(secret, clock.now()) else None
