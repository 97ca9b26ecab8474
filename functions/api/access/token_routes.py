"""Bearer tokens, created and revoked by humans."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from api.access import views
from api.access.change_views import ChangeView, done_or_pending
from baton.domain.access.principal import SCOPES, PrincipalKind
from baton.domain.access.rights import Deed, Right
from baton.domain.access.token import Token
from baton.ports.deps import Deps
from baton.services.access.issue_token import TokenRequest, issue_token, read_tokens
from baton.services.access.revoke_token import revoke_token
from rest import answers, models, pages, routing, session_cookie

routes = routing.Routes()


class NewTokenRequest(models.Body):
    """``subject``: an agent's slug, or a human's or service's name. ``right``: of a human; left out, `approver`, or
    `administrator` with the scope `act_as`. ``expires_at``: left out, never. ``change_id``: of the approved change that
    allows this request."""

    kind: PrincipalKind
    subject: models.Slug
    scopes: Annotated[frozenset[str], models.few(len(SCOPES))] = frozenset()
    right: Right | None = None
    change_id: models.Id | None = None
    expires_at: models.Instant | None = None


@routes.post(
    "/tokens",
    body=models.strict(NewTokenRequest),
    answers={201: views.NewToken, 202: ChangeView},
    only=routing.human(Deed.ISSUE_AGENT_TOKEN),
)
def create_token(deps: Deps, call: routing.Call[NewTokenRequest, None]) -> answers.Answer:
    """Make a token. Its text is shown once: a repeat with the same Idempotency-Key gets 409 `secret_already_shown`.

    An approver makes tokens of agents. An administrator makes tokens of humans and services (403 `right_needed`), a
    human's with a token and not with a session (403 `token_required`).

    A token that makes a person an administrator, or an administrator for longer, waits for a second administrator if
    the workspace has two or more: 202 with the pending change. The same holds for a token in the name of another
    person, who has had a token before or counts for an approval rule, and for every token if the revocation of the
    caller's own token has been requested. Once it is approved, repeat the request with its id as `change_id` and a new
    Idempotency-Key.
    """
    body = call.body
    request = TokenRequest(**body.model_dump())
    return done_or_pending(
        deps,
        lambda: issue_token(deps, call.by, request, call.idempotency_key),
        lambda made: answers.created(views.new_token(*made)),
    )


@routes.get(
    "/tokens",
    query=models.query(models.PageQuery),
    answers={200: views.TokenPage},
    only=routing.human(Deed.LIST_TOKENS),
)
def list_tokens(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """The workspace's tokens, newest first, without their secrets."""
    page = read_tokens(deps, call.by, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, views.token_view))


@routes.delete(
    "/tokens/{token_id}", answers={200: views.TokenView, 202: ChangeView}, only=routing.human(Deed.REVOKE_OWN_TOKEN)
)
def delete_token(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """Revoke a token: it is refused from the next request on. Revoking twice changes nothing. Everybody revokes their
    own tokens, an administrator all (403 `right_needed`). A revocation that ends or shortens another administrator's
    right waits for a second administrator: 202 with the pending change."""
    return done_or_pending(deps, lambda: revoke_token(deps, call.by, call.params["token_id"]), _revoked)


def _revoked(token: Token) -> answers.Answer:
    dropped = (session_cookie.dropped(token.id),) if token.in_cookie else ()
    return replace(answers.ok(views.token_view(token)), cookies=dropped)
