"""Who sends a request: the principal of its token (docs/decisions/088-admission-is-one-step.md)."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.token import Credentials
from baton.ports.deps import Deps


def admit(deps: Deps, shown: Credentials | None) -> tuple[Deps, Principal]:
    """Returns the ports for one request and its caller, judged by the token as it is now. The request's agents and
    settings are those of the version that the token was judged under. One small read; more if this process hasn't read
    the token since anything of its workspace was changed.

    Raises ``TokenRefused`` unless the token was issued, has the shown secret, hasn't expired and wasn't revoked;
    ``Busy`` if it can't be read."""
    deps = deps.at_one_version()
    token = None if shown is None else deps.store.tokens.present_token(shown, deps.clock.now())
    if shown is None or token is None or not token.admits(shown, deps.clock.now()):
        raise errors.TokenRefused
    return deps, token.principal
