"""What Notion's refusals and silences mean, in one place (https://developers.notion.com/reference/status-codes)."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import httpx

from baton.adapters.notion.transport import NoTimeLeft
from baton.adapters.retry_after import retry_after
from baton.domain.errors import (
    NotPermitted,
    PageBusy,
    PageGone,
    PageRefused,
    TrackerAway,
    TrackerDenies,
    TrackerTrouble,
)

if TYPE_CHECKING:
    from datetime import datetime

    from notion_client.errors import HTTPResponseError

MAX_QUOTE = 300
CONFLICT_PAUSE_SECONDS = 1.0
TOKEN = "token"  # noqa: S105 - what a problem is about
DATABASE = "database"
CONNECTION = "connection"
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class Denied(TrackerDenies):
    """With what ``problems`` tells of it."""

    def __init__(self, about: str, problem: str, what_to_do: str) -> None:
        super().__init__(f"{problem}: {what_to_do}")
        self.about, self.problem, self.what_to_do = about, problem, what_to_do


class TokenRefused(Denied):
    def __init__(self) -> None:
        super().__init__(
            TOKEN,
            "Notion refuses the token",
            "copy the connection's secret from Notion's connection settings and PUT /tracker/token.",
        )


class Restricted(Denied, NotPermitted):
    """The connection lacks a capability: which one, the caller may know."""


class Refused(PageRefused):
    """Notion takes the request for wrong: definitely nothing has happened."""


class NotThere(PageGone):
    """Whatever was asked for isn't there, or not shared; the caller knows what that was."""


def no_token() -> Denied:
    return Denied(TOKEN, "No Notion token is set", "PUT /tracker/token.")


def of_silence(exc: BaseException | None, *, writes: bool) -> TrackerAway:
    """No whole answer came. ``exc``: httpx's. Its own words are left out: they may quote what was sent."""
    if isinstance(exc, NoTimeLeft):
        return TrackerAway("There was no time left to ask Notion.")
    if isinstance(exc, _NEVER_SENT):
        return TrackerAway("Notion can't be reached.")
    what = "didn't answer in time" if isinstance(exc, httpx.TimeoutException) else "broke off its answer"
    return TrackerAway(f"Notion {what}.", unclear=writes)


def of_nonsense(*, writes: bool) -> TrackerAway:
    return TrackerAway("Notion's answer can't be read.", unclear=writes)


def of_refusal(exc: HTTPResponseError, now: datetime, *, writes: bool) -> TrackerTrouble:
    """An answer that says no. A request that changes something has done so, or may yet, only after a server's error."""
    said = quote(exc)
    match exc.status:
        case HTTPStatus.UNAUTHORIZED:
            return TokenRefused()
        case HTTPStatus.FORBIDDEN if (exc.additional_data or {}).get("block_limit"):
            # Pages that are there may still be written: only this one can't be made.
            return PageRefused(
                "Notion's Free plan takes no more blocks in a workspace of several members: upgrade it "
                "(https://developers.notion.com/reference/workspace-block-limits), then POST /tracker/retry."
            )
        case HTTPStatus.FORBIDDEN:
            return Restricted(
                CONNECTION, f"Notion doesn't allow it ({said})", "give the connection the capability there."
            )
        case HTTPStatus.NOT_FOUND:
            return NotThere(said)
        case HTTPStatus.CONFLICT:
            return PageBusy(f"Somebody else was changing it in Notion ({said}).", retry_after=CONFLICT_PAUSE_SECONDS)
        case HTTPStatus.TOO_MANY_REQUESTS | 529:  # service_overload, which has no name in HTTP
            return TrackerAway(
                "Notion asks to be left alone.", retry_after=retry_after(exc.headers.get("retry-after", ""), now)
            )
        case status if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return Refused(f"Notion refuses it: {said}")
        case status:
            return TrackerAway(f"Notion failed ({status}).", unclear=writes)


def quote(exc: Exception) -> str:
    said = " ".join(str(exc).split())
    return said if len(said) <= MAX_QUOTE else said[: MAX_QUOTE - 1] + "…"
