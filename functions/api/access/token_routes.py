"""Bearer tokens, created and revoked by humans."""

from __future__ import annotations

from typing import Annotated

from api.access.views import NewToken, TokenPage, TokenView, new_token, token_view
from baton.domain.access.principal import SCOPES, Kind
from baton.ports.deps import Deps
from baton.services.access.issue_token import TokenRequest, issue_token, read_tokens, revoke_token
from rest.answers import Answer, created, ok
from rest.models import Body, Instant, PageQuery, Slug, few, query, strict
from rest.pages import cursor_of, listing
from rest.routing import Call, Routes, human

routes = Routes()


class NewTokenRequest(Body):
    """``subject``: an agent's slug, or a human's or service's name. ``expires_at``: left out, never."""

    kind: Kind
    subject: Slug
    scopes: Annotated[frozenset[str], few(len(SCOPES))] = frozenset()
    expires_at: Instant | None = None


@routes.post("/tokens", body=strict(NewTokenRequest), answers={201: NewToken}, only=human("make a token"))
def create_token(deps: Deps, call: Call[NewTokenRequest, None]) -> Answer:
    """Make a token. Its text is shown once: a repeat with the same Idempotency-Key gets 409 `secret_already_shown`."""
    body = call.body
    request = TokenRequest(kind=body.kind, subject=body.subject, scopes=body.scopes, expires_at=body.expires_at)
    return created(new_token(*issue_token(deps, call.by, request, call.idempotency_key)))


@routes.get("/tokens", query=query(PageQuery), answers={200: TokenPage}, only=human("list tokens"))
def list_tokens(deps: Deps, call: Call[None, PageQuery]) -> Answer:
    """The workspace's tokens, newest first, without their secrets."""
    page = read_tokens(deps, call.by, call.query.limit, cursor_of(call))
    return ok(listing(call, page, token_view))


@routes.delete("/tokens/{token_id}", answers={200: TokenView}, only=human("revoke a token"))
def delete_token(deps: Deps, call: Call[None, None]) -> Answer:
    """Revoke a token: it is refused from the next request on. Revoking twice changes nothing."""
    return ok(token_view(revoke_token(deps, call.by, call.params["token_id"])))
