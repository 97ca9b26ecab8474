"""Sessions as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from api.access.views import RightName
from baton.domain import times
from baton.domain.access.session import SessionCode
from baton.domain.access.token import Token


class HumanPrincipal(TypedDict):
    """Whose session it is."""

    workspace: str
    kind: Literal["human"]
    id: str
    scopes: list[str]
    right: RightName


class RenewedSession(TypedDict):
    """``expires_at``: until it is renewed; ``ends_at``: however often it is renewed."""

    session_id: str
    expires_at: str
    ends_at: str


class NewSession(RenewedSession):
    """``session_token``: goes into `Authorization`, as any token does, and is never shown again; null if the browser
    keeps the session in a cookie. ``session_key``: the page's half of that session's secret, which goes into
    `Baton-Session` and is never shown again; null without a cookie. ``session_id`` is the id that `DELETE
    /tokens/{token_id}` ends it by."""

    session_token: str | None
    session_key: str | None
    principal: HumanPrincipal


class SessionOffer(TypedDict):
    """``principal``: whom the code would sign in, until ``expires_at``."""

    expires_at: str
    principal: HumanPrincipal


class NewSessionCode(TypedDict):
    """``code`` is never shown again."""

    code: str
    expires_at: str


def renewed_session(session: Token) -> RenewedSession:
    return {
        "session_id": session.id,
        "expires_at": times.rfc3339(session.expires_at or session.created_at),
        "ends_at": times.rfc3339(session.ends_at or session.created_at),
    }


def new_session(session: Token, *, token: str | None = None, key: str | None = None) -> NewSession:
    shown = renewed_session(session)
    return {**shown, "session_token": token, "session_key": key, "principal": _human(session)}


def session_offer(code: SessionCode, parent: Token) -> SessionOffer:
    return {"expires_at": times.rfc3339(code.expires_at), "principal": _human(parent)}


def new_code(code: SessionCode, text: str) -> NewSessionCode:
    return {"code": text, "expires_at": times.rfc3339(code.expires_at)}


def _human(token: Token) -> HumanPrincipal:
    right: Any = str(token.right)
    return {
        "workspace": token.workspace,
        "kind": "human",
        "id": token.subject,
        "scopes": sorted(token.scopes),
        "right": right,
    }
