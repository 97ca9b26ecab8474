"""A session goes on while it is in use."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.session import renewed
from baton.domain.access.token import Token
from baton.ports.deps import Deps


def renew_session(deps: Deps, by: Principal) -> Token:
    """Returns the caller's session with its later end. Raises ``HumanNeeded``, ``NotASession`` for another token, and
    ``TokenRefused`` if it was revoked meanwhile."""
    by.must_have(Deed.RENEW_SESSION)
    session = deps.store.tokens.token(by.token_id)
    if session is None:
        raise errors.TokenRefused
    if not session.is_session:
        raise errors.NotASession
    return deps.store.sessions.renew_session(renewed(session, deps.clock.now()))
