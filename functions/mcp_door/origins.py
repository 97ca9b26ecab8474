"""Which web pages may ask: Baton's own and those of the caller's own machine (docs/spec/mcp.md §2)."""

from __future__ import annotations

from urllib.parse import urlsplit

from baton.domain import errors
from baton.ports.deps import Deps
from rest.request import Request

LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class ForeignOrigin(errors.Forbidden):
    """A web page of somebody else's sent this from its reader's browser."""

    code = "foreign_origin"

    def __init__(self) -> None:
        super().__init__("The header Origin names a page that may not call this.")


def must_not_be_foreign(deps: Deps, request: Request) -> None:
    """Raises ``ForeignOrigin``. Only browsers send an origin."""
    origin = request.header("origin")
    if origin is None or origin == _origin_of(deps.public_url):
        return
    try:
        host = urlsplit(origin).hostname
    except ValueError:
        host = None
    if host not in LOOPBACK:
        raise ForeignOrigin


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
