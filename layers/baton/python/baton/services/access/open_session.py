"""A human exchanges a token for a session: at once, or by a code that somebody else shows."""

from __future__ import annotations

from datetime import timedelta

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.session import CODE_SECONDS, SessionCode
from baton.domain.access.token import Token, digest
from baton.ports.deps import Deps
from baton.steps.access.begin_session import begin_session
from baton.steps.retrying import retry_on_conflict


def open_session(deps: Deps, by: Principal, *, in_cookie: bool = False) -> tuple[Token, str]:
    """Returns the session and its text, which is never shown again. Raises ``HumanNeeded``, ``TokenNeeded`` for another
    session, and ``TooManySessions``."""

    def attempt() -> tuple[Token, str]:
        return begin_session(deps, _parent(deps, by, Deed.OPEN_SESSION), in_cookie=in_cookie)

    return retry_on_conflict(deps, attempt)


def make_session_code(deps: Deps, by: Principal) -> tuple[SessionCode, str]:
    """Returns the code and its text, which is never shown again. Raises ``HumanNeeded``, and ``TokenNeeded`` for a
    session."""
    parent, text = _parent(deps, by, Deed.MAKE_SESSION_CODE), deps.ids.secret()
    code = SessionCode(
        digest=digest(text),
        workspace=parent.workspace,
        token_id=parent.id,
        expires_at=deps.clock.now() + timedelta(seconds=CODE_SECONDS),
    )
    deps.store.sessions.add_session_code(code)
    return code, text


def look_at_session_code(deps: Deps, text: str) -> tuple[SessionCode, Token]:
    """Returns the code and the token that a session of it would be opened with. Nothing is written. Raises
    ``CodeRefused``, which doesn't tell why."""
    now, code = deps.clock.now(), deps.store.sessions.session_code(digest(text))
    if code is None or not code.is_good(now):
        raise errors.CodeRefused
    parent = deps.store.tokens.token(code.token_id)
    if parent is None or not parent.is_active(now):
        raise errors.CodeRefused
    return code, parent


def redeem_session_code(deps: Deps, text: str, *, in_cookie: bool = False) -> tuple[Token, str]:
    """Returns a session of the human who made the code, for exactly one of all who show it. Raises ``CodeRefused``,
    which doesn't tell why, and ``TooManySessions``, which leaves the code as it is."""

    def attempt() -> tuple[Token, str]:
        code, parent = look_at_session_code(deps, text)
        return begin_session(deps, parent, code, in_cookie=in_cookie)

    return retry_on_conflict(deps, attempt)


def _parent(deps: Deps, by: Principal, deed: Deed) -> Token:
    by.must_have(deed)
    token = deps.store.tokens.token(by.token_id)
    if token is None:
        raise errors.TokenRefused
    if token.is_session:
        raise errors.TokenNeeded(deed.value)
    return token
