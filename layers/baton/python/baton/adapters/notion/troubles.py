"""Notion's refusals and failures as Baton's errors (https://developers.notion.com/reference/status-codes)."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus

import httpx
from notion_client.errors import HTTPResponseError

from baton.adapters.notion.transport import NoTimeLeft
from baton.adapters.retry_after import retry_after
from baton.domain import errors

MAX_QUOTE = 300
CONFLICT_PAUSE_SECONDS = 1.0
TOKEN = "token"  # noqa: S105 - what a problem is about
DATABASE = "database"
CONNECTION = "connection"
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class Denied(errors.TrackerDenies):
    """A refusal with the parts that ``problems`` reports."""

    def __init__(self, about: str, problem: str, what_to_do: str) -> None:
        super().__init__(f"{problem}: {what_to_do}")
        self.about, self.problem, self.what_to_do = about, problem, what_to_do


class NotionTokenRefused(Denied):
    def __init__(self) -> None:
        super().__init__(
            TOKEN,
            "Notion refuses the token",
            "copy the connection's secret from Notion's connection settings and PUT /tracker/token.",
        )


class Restricted(Denied, errors.NotPermitted):
    """The connection lacks a capability; the caller knows which one it needed."""


class RequestRefused(errors.PageRefused):
    """Notion considers the request wrong: it definitely had no effect."""


class NotThere(errors.PageGone):
    """The object doesn't exist or isn't shared; the caller knows which one it asked for."""


def no_token() -> Denied:
    return Denied(TOKEN, "No Notion token is set", "PUT /tracker/token.")


def of_silence(exc: BaseException | None, *, writes: bool) -> errors.TrackerAway:
    """Returns the error for a missing or broken answer. ``exc`` is httpx's; its text is left out, as it may quote the
    request."""
    if isinstance(exc, NoTimeLeft):
        return errors.TrackerAway("There was no time left to ask Notion.")
    if isinstance(exc, _NEVER_SENT):
        return errors.TrackerAway("Notion can't be reached.")
    what = "didn't answer in time" if isinstance(exc, httpx.TimeoutException) else "broke off its answer"
    return errors.TrackerAway(f"Notion {what}.", unclear=writes)


def of_nonsense(*, writes: bool) -> errors.TrackerAway:
    return errors.TrackerAway("Notion's answer can't be read.", unclear=writes)


def of_refusal(exc: HTTPResponseError, now: datetime, *, writes: bool) -> errors.TrackerTrouble:
    """Returns the error for a refusal. Only after a server's error may a changing request have had an effect, or have
    one later."""
    message = quote(exc)
    match exc.status:
        case HTTPStatus.UNAUTHORIZED:
            return NotionTokenRefused()
        case HTTPStatus.FORBIDDEN if (exc.additional_data or {}).get("block_limit"):
            # Existing pages may still be written: only this one can't be created.
            return errors.PageRefused(
                "Notion's Free plan takes no more blocks in a workspace of several members: upgrade it "
                "(https://developers.notion.com/reference/workspace-block-limits), then POST /tracker/retry."
            )
        case HTTPStatus.FORBIDDEN:
            return Restricted(
                CONNECTION, f"Notion doesn't allow it ({message})", "give the connection the capability there."
            )
        case HTTPStatus.NOT_FOUND:
            return NotThere(message)
        case HTTPStatus.CONFLICT:
            return errors.PageBusy(
                f"Somebody else was changing it in Notion ({message}).", retry_after=CONFLICT_PAUSE_SECONDS
            )
        case HTTPStatus.TOO_MANY_REQUESTS | 529:  # service_overload, which has no name in HTTP
            return errors.TrackerAway(
                "Notion asks to be left alone.", retry_after=retry_after(exc.headers.get("retry-after", ""), now)
            )
        case status if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return RequestRefused(f"Notion refuses it: {message}")
        case status:
            return errors.TrackerAway(f"Notion failed ({status}).", unclear=writes)


def quote(exc: Exception) -> str:
    message = " ".join(str(exc).split())
    return message if len(message) <= MAX_QUOTE else message[: MAX_QUOTE - 1] + "…"
