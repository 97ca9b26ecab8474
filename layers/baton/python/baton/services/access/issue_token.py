"""Humans issue and revoke tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from baton.domain import errors
from baton.domain.access.principal import ACT_AS, CONVERSE, OWN_PARTS, SCOPES, Principal, PrincipalKind
from baton.domain.access.token import Token, digest, spell
from baton.domain.idempotency import IdempotencyKey
from baton.domain.ids import is_slug
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps import idempotency
from baton.steps.retrying import retry_on_conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """A request for a token."""

    kind: PrincipalKind
    subject: str  # an agent's slug, or a human's or service's name
    scopes: frozenset[str] = frozenset()
    expires_at: datetime | None = None


def issue_token(
    deps: Deps, by: Principal, request: TokenRequest, idempotency_key: IdempotencyKey | None = None
) -> tuple[Token, str]:
    """Returns the token and its text, which is never shown again. Raises ``InvalidInput``, ``TokenNeeded`` and
    ``ScopeNeeded`` for what the maker may not give away, and for a repeat with the same key ``SecretAlreadyShown``."""
    by.must_be_human("make a token")

    def refuse(saved: dict[str, Any]) -> NoReturn:
        raise errors.SecretAlreadyShown(saved["token_id"])

    def decide() -> tuple[Token, str]:
        token, secret = _new_token(deps, by, request)
        deps.store.tokens.add_token(token, idempotency_key)
        return token, spell(token.id, secret)

    return idempotency.run_once(deps, idempotency_key, decide, refuse)


def read_tokens(deps: Deps, by: Principal, limit: int, cursor: str | None) -> Page:
    """Returns the workspace's tokens, newest first."""
    by.must_be_human("list tokens")
    return deps.store.tokens.listed(by.workspace, limit, cursor)


def _new_token(deps: Deps, by: Principal, request: TokenRequest) -> tuple[Token, str]:
    now = deps.clock.now()
    _check(deps, by, request, now)
    secret = deps.ids.secret()
    token = Token(
        id=deps.ids.new("t", now).removeprefix("t_"),
        workspace=by.workspace,
        kind=request.kind,
        subject=request.subject,
        scopes=request.scopes,
        digest=digest(secret),
        created_at=now,
        created_by=by.key,
        expires_at=request.expires_at,
    )
    return token, secret


def revoke_token(deps: Deps, by: Principal, token_id: str) -> Token:
    """Revokes the token from the next request on. Revoking twice changes nothing. Raises ``Unknown``."""
    by.must_be_human("revoke a token")

    def attempt() -> Token:
        token = deps.store.tokens.token(token_id)
        if token is None or token.workspace != by.workspace:
            raise errors.Unknown("token")
        revoked = token.revoked(by, deps.clock.now())
        if revoked is not token:
            deps.store.tokens.save_revocation(revoked)
        return revoked

    return retry_on_conflict(deps, attempt)


def _check(deps: Deps, by: Principal, request: TokenRequest, now: datetime) -> None:
    if not is_slug(request.subject):
        raise errors.InvalidInput(
            "subject", "must be 1 to 63 of a-z, 0-9 and hyphens, and not begin or end with a hyphen"
        )
    if request.kind is PrincipalKind.SERVICE and request.subject in OWN_PARTS:
        raise errors.InvalidInput("subject", f"{request.subject!r} is what Baton's own part is called in the trail")
    unknown = request.scopes - SCOPES
    if unknown:
        raise errors.InvalidInput("scopes", f"{min(unknown)!r} is not a scope; known: {', '.join(sorted(SCOPES))}")
    if request.kind is PrincipalKind.AGENT:
        if request.scopes - {CONVERSE}:
            raise errors.InvalidInput(
                "scopes", f"an agent acts only as itself: its tokens take no scope but {CONVERSE!r}"
            )
        if deps.store.agents.agent(by.workspace, request.subject) is None:
            raise errors.InvalidInput("subject", f"no agent {request.subject!r} is registered in this workspace")
    if request.kind is PrincipalKind.HUMAN:
        by.must_be_let_name(request.subject)
    if ACT_AS in request.scopes - by.scopes:
        raise errors.ScopeNeeded(ACT_AS)
    if request.expires_at is not None and request.expires_at <= now:
        raise errors.InvalidInput("expires_at", "must be in the future")
