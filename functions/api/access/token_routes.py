"""Bearer tokens, created and revoked by humans."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from api.access import views
from baton.domain.access.principal import SCOPES, PrincipalKind
from baton.ports.deps import Deps
from baton.services.access.issue_token import TokenRequest, issue_token, read_tokens, revoke_token
from rest import answers, models, pages, routing, session_cookie

routes = routing.Routes()


class NewTokenRequest(models.Body):
    """``subject``: an agent's slug, or a human's or service's name. ``expires_at``: left out, never."""

    kind: PrincipalKind
    subject: models.Slug
    scopes: Annotated[frozenset[str], models.few(len(SCOPES))] = frozenset()
    expires_at: models.Instant | None = None


@routes.post(
    "/tokens", body=models.strict(NewTokenRequest), answers={201: views.NewToken}, only=routing.human("make a token")
)
def create_token(deps: Deps, call: routing.Call[NewTokenRequest, None]) -> answers.Answer:
    """Make a token. Its text is shown once: a repeat with the same Idempotency-Key gets 409 `secret_already_shown`.

    A human's token is made by that human, or by an administrator: a human whose own token has the scope `act_as` (403
    `scope_required`), and by no session (403 `token_required`). Only who has `act_as` gives it.
    """
    body = call.body
    request = TokenRequest(kind=body.kind, subject=body.subject, scopes=body.scopes, expires_at=body.expires_at)
    return answers.created(views.new_token(*issue_token(deps, call.by, request, call.idempotency_key)))


@routes.get(
    "/tokens", query=models.query(models.PageQuery), answers={200: views.TokenPage}, only=routing.human("list tokens")
)
def list_tokens(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """The workspace's tokens, newest first, without their secrets."""
    page = read_tokens(deps, call.by, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, views.token_view))


@routes.delete("/tokens/{token_id}", answers={200: views.TokenView}, only=routing.human("revoke a token"))
def delete_token(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """Revoke a token: it is refused from the next request on. Revoking twice changes nothing."""
    revoked = revoke_token(deps, call.by, call.params["token_id"])
    dropped = (session_cookie.dropped(revoked.id),) if revoked.in_cookie else ()
    return replace(answers.ok(views.token_view(revoked)), cookies=dropped)
