"""Sessions: short-lived tokens for a person at a browser, and the codes that open one
(docs/decisions/067-sessions-are-short-tokens.md)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from baton.domain.access.token import Token

# How long a session lasts without being renewed, one whose secret no page can read, and each at most.
SESSION_SECONDS = 900
COOKIE_SESSION_SECONDS = 14_400
LONGEST_SESSION_SECONDS = 43_200
CODE_SECONDS = 60
# The most sessions of one token that are open at once.
MAX_SESSIONS = 20


@dataclass(frozen=True, slots=True)
class OpenSessions:
    """The sessions of a token that may still be open, by their ids. Some of them may be over."""

    workspace: str
    token_id: str
    ids: tuple[str, ...] = ()
    version: int = 0

    @property
    def is_full(self) -> bool:
        return len(self.ids) >= MAX_SESSIONS

    def only(self, open_ids: Collection[str]) -> OpenSessions:
        return replace(self, ids=tuple(each for each in self.ids if each in open_ids))

    def and_one(self, session_id: str) -> OpenSessions:
        """Returns the next version, with one more."""
        return replace(self, ids=(*self.ids, session_id), version=self.version + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCode:
    """A code that opens one session of the token's human. Only its digest is stored."""

    digest: str = field(repr=False)
    workspace: str
    token_id: str
    expires_at: datetime
    session_id: str | None = None  # what it has opened

    def is_good(self, now: datetime) -> bool:
        return self.session_id is None and now < self.expires_at


def session_of(parent: Token, session_id: str, digest: str, now: datetime, *, in_cookie: bool = False) -> Token:
    """Returns a session of the token's human, which ends with the token at the latest. ``in_cookie``: a browser keeps
    its secret from all pages, so it may lie unused for longer."""
    ends_at = now + timedelta(seconds=LONGEST_SESSION_SECONDS)
    if parent.expires_at is not None:
        ends_at = min(ends_at, parent.expires_at)
    return Token(
        id=session_id,
        workspace=parent.workspace,
        kind=parent.kind,
        subject=parent.subject,
        scopes=parent.scopes,
        digest=digest,
        created_at=now,
        created_by=parent.principal.key,
        expires_at=min(now + _unused(in_cookie), ends_at),
        session_of=parent.id,
        ends_at=ends_at,
        in_cookie=in_cookie,
        right=parent.right,
    )


def renewed(session: Token, now: datetime) -> Token:
    """Returns the session with as much time as a new one has, within its own end. Never with less than it had."""
    wanted = now + _unused(session.in_cookie)
    ends_at, expires_at = session.ends_at or wanted, session.expires_at or now
    return replace(session, expires_at=max(expires_at, min(wanted, ends_at)))


def _unused(in_cookie: bool) -> timedelta:
    """Returns how long a session lasts that nobody renews."""
    return timedelta(seconds=COOKIE_SESSION_SECONDS if in_cookie else SESSION_SECONDS)
