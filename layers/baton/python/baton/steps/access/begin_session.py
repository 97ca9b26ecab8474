"""Begins a session of a token's human."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.access.session import MAX_SESSIONS, OpenSessions, SessionCode, session_of
from baton.domain.access.token import Token, digest, spell
from baton.ports.deps import Deps


def begin_session(
    deps: Deps, parent: Token, code: SessionCode | None = None, *, in_cookie: bool = False
) -> tuple[Token, str]:
    """Returns the session and its text, which is never shown again. ``code``: what it is opened with, and uses up.
    ``in_cookie``: a browser keeps it, and its secret has two halves of that length. Raises ``TooManySessions``, and
    ``Conflict`` if another one began at the same time."""
    sessions = _with_room(deps, deps.store.sessions.open_sessions(parent.workspace, parent.id))
    now, secret = deps.clock.now(), "".join(deps.ids.secret() for _ in range(2 if in_cookie else 1))
    session = session_of(parent, deps.ids.new("t", now).removeprefix("t_"), digest(secret), now, in_cookie=in_cookie)
    deps.store.sessions.add_session(session, sessions.and_one(session.id), code)
    return session, spell(session.id, secret)


def _with_room(deps: Deps, sessions: OpenSessions) -> OpenSessions:
    """Only a full list is compared with what is still open."""
    if sessions.is_full:
        now, found = deps.clock.now(), deps.store.tokens.tokens_of(sessions.ids)
        sessions = sessions.only({each.id for each in found.values() if each.is_active(now)})
    if sessions.is_full:
        raise errors.TooManySessions(MAX_SESSIONS)
    return sessions
