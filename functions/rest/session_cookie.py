"""Sessions that a browser keeps (docs/decisions/101-a-session-that-no-page-can-read.md,
112-a-cookie-is-half-of-a-secret.md).

The secret has two halves. The browser adds the cookie, which no script can read. Programs at other ports of the host
receive it as well. A page of the console adds the other half from its storage, which belongs to one port: it sends
``Baton-Session: <session_id>.<half>``. Neither half admits alone, and Baton stores a digest of both together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from baton.domain import errors
from baton.domain.access.token import Credentials, Token, digest, secret_of
from rest.errors import NotAuthenticated
from rest.request import SESSION, Request

NEW = "new"
# Browsers take a cookie of this name for this host alone, over TLS, or to this machine.
PREFIX = "__Host-baton-"
_KEPT = "Path=/; Secure; HttpOnly; SameSite=Strict"
_NAMED, _HALF = re.compile(r"([0-9a-z]{8,40})(?:\.([0-9a-f]{64}))?\Z"), re.compile(r"[0-9a-f]{64}\Z")


class ForeignPage(errors.Forbidden):
    """The browser doesn't say that a page of the console itself has asked."""

    code = "foreign_origin"

    def __init__(self) -> None:
        super().__init__(
            "A session in a cookie is used by pages of this origin alone, as their browser says. A program shows its "
            "token by Authorization."
        )


@dataclass(frozen=True, slots=True)
class Halves:
    """The secret of a session: the cookie's half, and the page's."""

    cookie: str
    page: str


def halves_of(text: str) -> Halves:
    """Returns the halves of the text of a session in a cookie."""
    secret = secret_of(text)
    return Halves(secret[: len(secret) // 2], secret[len(secret) // 2 :])


def is_wanted(request: Request) -> bool:
    """True if the session that is opened is to be kept in a cookie. Raises ``ForeignPage``."""
    if request.header(SESSION) != NEW:
        return False
    _must_be_own_page(request)
    return True


def shown_by(request: Request) -> Credentials:
    """Returns the credentials of the named session; its id comes from the header, never from a cookie. Raises
    ``ForeignPage``, and ``NotAuthenticated`` unless the header has the page's half and exactly one cookie the other."""
    _must_be_own_page(request)
    named = _NAMED.match(request.header(SESSION) or "")
    if named is None or named[2] is None:
        raise NotAuthenticated
    found = [value for name, value in _cookies(request) if name == PREFIX + named[1]]
    if len(found) != 1 or not _HALF.match(found[0]):
        raise NotAuthenticated
    return Credentials(named[1], digest(found[0] + named[2]), in_cookie=True)


def kept(session: Token, half: str, now: datetime) -> str:
    """Returns the cookie with its half of the secret, until no renewal leads any further."""
    seconds = int(((session.ends_at or now) - now).total_seconds())
    return f"{PREFIX}{session.id}={half}; {_KEPT}; Max-Age={seconds}"


def dropped(session_id: str) -> str:
    """Returns what makes a browser forget the session's cookie."""
    return f"{PREFIX}{session_id}=; {_KEPT}; Max-Age=0"


def useless(request: Request) -> tuple[str, ...]:
    """Returns the cookie to drop after the named session was refused. A page of another origin is refused before, so it
    signs no person out."""
    named = _NAMED.match(request.header(SESSION) or "")
    return (dropped(named[1]),) if named and request.is_by_cookie else ()


def _must_be_own_page(request: Request) -> None:
    if request.header("sec-fetch-site") != "same-origin":
        raise ForeignPage


def _cookies(request: Request) -> Iterator[tuple[str, str]]:
    """AWS's front doors have taken cookies out of the headers; other servers leave them there."""
    parts = request.event.get("cookies") or (request.header("cookie") or "").split(";")
    for each in parts:
        name, _, value = str(each).strip().partition("=")
        yield name, value
