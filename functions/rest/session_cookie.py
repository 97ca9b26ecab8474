"""Sessions that a browser keeps (docs/decisions/101-a-session-that-no-page-can-read.md).

A page of the console names its session by a header, and the browser adds the cookie of that name, which no script can
read. Neither does anything alone: a page of another site can't send the header, and who has the header has no secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from baton.domain import errors
from baton.domain.access.token import Credentials, Token, digest, secret_of
from rest.errors import NotAuthenticated
from rest.request import SESSION, Request

NEW = "new"
# Browsers take a cookie of this name for this host alone, over TLS, or to this machine.
PREFIX = "__Host-baton-"
_KEPT = "Path=/; Secure; HttpOnly; SameSite=Strict"
_ID, _SECRET = re.compile(r"[0-9a-z]{8,40}\Z"), re.compile(r"[0-9a-f]{64}\Z")


class ForeignPage(errors.Forbidden):
    """The browser doesn't say that a page of the console itself has asked."""

    code = "foreign_origin"

    def __init__(self) -> None:
        super().__init__(
            "A session in a cookie is used by pages of this origin alone, as their browser says. A program shows its "
            "token by Authorization."
        )


def is_wanted(request: Request) -> bool:
    """True if the session that is opened is to be kept in a cookie. Raises ``ForeignPage``."""
    if request.header(SESSION) != NEW:
        return False
    _must_be_own_page(request)
    return True


def shown_by(request: Request) -> Credentials:
    """Returns what the cookie of the named session shows; the session's id comes from the header, never from a cookie.
    Raises ``ForeignPage``, and ``NotAuthenticated`` unless there is exactly one such cookie."""
    _must_be_own_page(request)
    named = request.header(SESSION) or ""
    found = [value for name, value in _cookies(request) if name == PREFIX + named]
    if not _ID.match(named) or len(found) != 1 or not _SECRET.match(found[0]):
        raise NotAuthenticated
    return Credentials(named, digest(found[0]), in_cookie=True)


def kept(session: Token, text: str, now: datetime) -> str:
    """Returns the cookie that shows the session, until no renewal leads any further."""
    seconds = int(((session.ends_at or now) - now).total_seconds())
    return f"{PREFIX}{session.id}={secret_of(text)}; {_KEPT}; Max-Age={seconds}"


def dropped(session_id: str) -> str:
    """Returns what makes a browser forget the session's cookie."""
    return f"{PREFIX}{session_id}=; {_KEPT}; Max-Age=0"


def _must_be_own_page(request: Request) -> None:
    if request.header("sec-fetch-site") != "same-origin":
        raise ForeignPage


def _cookies(request: Request) -> Iterator[tuple[str, str]]:
    """AWS's front doors have taken cookies out of the headers; other servers leave them there."""
    parts = request.event.get("cookies") or (request.header("cookie") or "").split(";")
    for each in parts:
        name, _, value = str(each).strip().partition("=")
        yield name, value
