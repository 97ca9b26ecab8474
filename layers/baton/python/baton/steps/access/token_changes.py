"""Tokens as changes of the workspace, and the people with and without one."""

from __future__ import annotations

from datetime import datetime

from baton.domain import times
from baton.domain.access.person import People
from baton.domain.access.token import Token
from baton.domain.access.workspace_change import ChangeSubject, Difference


def granted(token: Token) -> dict[str, object]:
    """Returns the content of a token without its id and its secret."""
    return {
        "kind": str(token.kind),
        "subject": token.subject,
        "scopes": sorted(token.scopes),
        "right": None if token.right is None else str(token.right),
        "expires_at": None if token.expires_at is None else times.rfc3339(token.expires_at),
    }


def revocation_of(token: Token) -> Difference:
    return Difference(ChangeSubject.TOKENS, (token.principal.key,), {**granted(token), "id": token.id}, None)


def people_with(people: People, token: Token, now: datetime) -> People:
    return people.saved(people.named(token.subject).with_token(token), now)


def people_without(people: People, token: Token, now: datetime) -> People:
    return people.saved(people.named(token.subject).without_token(token.id), now)
