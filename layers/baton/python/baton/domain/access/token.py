"""Bearer tokens, ``baton_<id>_<secret>``. Only a digest of the secret is ever stored. A session is a token that was
exchanged for another one (docs/decisions/067-sessions-are-short-tokens.md)."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from hmac import compare_digest

from baton.domain import times
from baton.domain.access.principal import Principal, PrincipalKind, usual_right
from baton.domain.access.rights import Right

SECRET_BYTES = 32
_TOKEN = re.compile(r"baton_([0-9a-z]{8,40})_([0-9a-f]{64})\Z")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a caller shows: the id of a token, and a secret. The secret is digested at once, so that every refusal takes
    the same work. ``in_cookie``: a browser showed one half of it, and a page the other."""

    token_id: str
    digest: str = field(repr=False)
    in_cookie: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A bearer token."""

    id: str
    workspace: str
    kind: PrincipalKind
    subject: str  # an agent's slug, or the name of a human or service
    scopes: frozenset[str]
    digest: str  # SHA-256 of the secret: 256 random bits need no slow hash
    created_at: datetime
    created_by: str
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    revoked_by: str | None = None
    session_of: str | None = None  # the id of the token that a session was opened with
    ends_at: datetime | None = None  # of a session: no renewal leads beyond it
    in_cookie: bool = False  # of a session: it is shown by a cookie, and by nothing else
    right: Right | None = None  # a human's; the default is ``usual_right``. Agents and services have no right

    def __post_init__(self) -> None:
        is_human = self.kind is PrincipalKind.HUMAN
        object.__setattr__(self, "right", usual_right(self.scopes, self.right) if is_human else None)

    @property
    def principal(self) -> Principal:
        return Principal(
            self.workspace, self.kind, self.subject, self.scopes, self.id, self.session_of, self.created_by, self.right
        )

    @property
    def is_session(self) -> bool:
        return self.session_of is not None

    @property
    def is_of_a_person(self) -> bool:
        """True for a token that makes its human a person of the workspace. A session doesn't."""
        return self.kind is PrincipalKind.HUMAN and not self.is_session

    def admits(self, shown: Credentials, now: datetime) -> bool:
        return self.in_cookie is shown.in_cookie and compare_digest(self.digest, shown.digest) and self.is_active(now)

    def is_active(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def revoked(self, by: Principal, at: datetime) -> Token:
        return self if self.revoked_at else replace(self, revoked_at=at, revoked_by=by.key)

    def under(self, parent: Token) -> Token:
        """Returns the session as it is, given the token that it was opened with: revoked with it, and with its
        right."""
        session = replace(self, right=parent.right, scopes=parent.scopes)
        if self.revoked_at is not None or parent.revoked_at is None:
            return session
        return replace(session, revoked_at=parent.revoked_at, revoked_by=parent.revoked_by)

    def state(self, now: datetime) -> str:
        if self.revoked_at is not None:
            return f"revoked at {times.rfc3339(self.revoked_at)}"
        expired = self.expires_at is not None and self.expires_at <= now
        return "expired" if expired else "active"


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def spell(token_id: str, secret: str) -> str:
    return f"baton_{token_id}_{secret}"


def secret_of(text: str) -> str:
    """Returns the secret of a token's text, as ``spell`` wrote it."""
    return text.rpartition("_")[2]


def credentials_from(header: str) -> Credentials | None:
    """Reads an ``Authorization: Bearer …`` header. Returns None if it holds no Baton token."""
    scheme, _, text = header.strip().partition(" ")
    match = _TOKEN.match(text.strip()) if scheme.lower() == "bearer" else None
    return Credentials(match[1], digest(match[2])) if match else None
