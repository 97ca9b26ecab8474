"""Sessions: short-lived tokens for people at a browser, opened with a token or with a code. A browser keeps one in a
cookie if it is asked to (docs/decisions/101-a-session-that-no-page-can-read.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import StringConstraints

from api.access import session_views as views
from baton.domain.access.rights import Deed
from baton.domain.access.token import Token
from baton.ports.deps import Deps
from baton.services.access.open_session import (
    look_at_session_code,
    make_session_code,
    open_session,
    redeem_session_code,
)
from baton.services.access.renew_session import renew_session
from rest import answers, models, routing, session_cookie

routes = routing.Routes()


class RedeemRequest(models.Body):
    """``code``: as `POST /session-codes` answered it. ``look``: only whom it would sign in is told, and the code stays
    good."""

    code: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    look: bool = False


@routes.post(
    "/sessions",
    body=models.strict(models.NoFields),
    answers={201: views.NewSession},
    only=routing.human(Deed.OPEN_SESSION),
    is_idempotent=False,
    opens_session=True,
)
def open_a_session(deps: Deps, call: routing.Call[models.NoFields, None]) -> answers.Answer:
    """Exchange a token for a session: a token of the same human that lasts for 15 minutes and is renewed while it is in
    use, for at most 12 hours. It ends with the token it was opened with, is listed and revoked as tokens are, and opens
    no further session. Its text is shown once; a lost answer leaves a session that ends by itself.

    With `Baton-Session: new`, which a page of this origin sends, the browser keeps half of the secret in a cookie that
    no page can read. The page keeps the other half, `session_key`; `session_token` is null. Such a session lasts for 4
    hours without a renewal. Requests name it by `Baton-Session: <session_id>.<session_key>`.
    """
    return _opened(deps, call, *open_session(deps, call.by, in_cookie=call.wants_cookie))


@routes.post(
    "/sessions/renew",
    body=models.strict(models.NoFields),
    answers={200: views.RenewedSession},
    only=routing.human(Deed.RENEW_SESSION),
    is_idempotent=False,
)
def renew_a_session(deps: Deps, call: routing.Call[models.NoFields, None]) -> answers.Answer:
    """Let the calling session last for another 15 minutes (4 hours in a cookie), within its 12 hours. 409
    `not_a_session` for any other token."""
    return answers.ok(views.renewed_session(renew_session(deps, call.by)))


@routes.post(
    "/session-codes",
    body=models.strict(models.NoFields),
    answers={201: views.NewSessionCode},
    only=routing.human(Deed.MAKE_SESSION_CODE),
    is_idempotent=False,
)
def create_session_code(deps: Deps, call: routing.Call[models.NoFields, None]) -> answers.Answer:
    """Make a code that opens one session within 60 seconds: for a program that opens a browser, whose address may be
    seen by others. Its text is shown once."""
    return answers.created(views.new_code(*make_session_code(deps, call.by)))


@routes.post(
    "/sessions/redeem",
    body=models.strict(RedeemRequest),
    answers={200: views.SessionOffer, 201: views.NewSession},
    refusals=(403,),
    is_idempotent=False,
    needs_token=False,
    opens_session=True,
)
def redeem_a_session_code(deps: Deps, call: routing.Call[RedeemRequest, None]) -> answers.Answer:
    """Exchange a code for a session of the human who made it. Takes no token. Of all who show the code exactly one gets
    a session; everybody else is refused with 403 `code_refused`, whatever the reason.

    Whoever didn't make the code looks first: with `look` the answer is 200 with whose session it would be, in which
    workspace, and nothing happens. A page asks by it before it signs anybody in. `Baton-Session: new` as in `POST
    /sessions`."""
    if call.body.look:
        return answers.ok(views.session_offer(*look_at_session_code(deps, call.body.code)))
    return _opened(deps, call, *redeem_session_code(deps, call.body.code, in_cookie=call.wants_cookie))


def _opened(deps: Deps, call: routing.Call[Any, None], session: Token, text: str) -> answers.Answer:
    """A program gets the token in the answer; a page gets half of it there, and the browser the other half."""
    if not call.wants_cookie:
        return answers.created(views.new_session(session, token=text))
    halves = session_cookie.halves_of(text)
    cookie = session_cookie.kept(session, halves.cookie, deps.clock.now())
    return replace(answers.created(views.new_session(session, key=halves.page)), cookies=(cookie,))
