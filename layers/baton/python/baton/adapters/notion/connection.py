"""All requests of one tracker session: with the workspace's token, within the time budget, retried once where that is
harmless."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator
from typing import Any

import httpx
from notion_client import Client
from notion_client.errors import HTTPResponseError, RequestTimeoutError
from notion_client.helpers import iterate_paginated_api

from baton.adapters.notion import troubles
from baton.adapters.notion.transport import MIN_SECONDS, SessionTransport
from baton.domain import errors
from baton.ports.system import Clock
from baton.ports.tracker import Secrets

Endpoint = Callable[..., Any]

VERSION = "2026-03-11"
PAGE_SIZE = 100
FIRST_PAUSE_SECONDS = 0.3
MAX_PAUSE_SECONDS = 2.0

# Without a logger, notion-client logs to the console, and its errors quote what Notion says about the payload.
_SILENT = logging.getLogger("baton.adapters.notion.silent")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


class Connection:
    """Sends the requests of one tracker session. notion-client's own retries are off: they sleep for as long as Notion
    asks, whatever the budget, and don't know status 529."""

    def __init__(
        self, workspace: str, secrets: Secrets, base_url: str, transport: SessionTransport, clock: Clock
    ) -> None:
        self._workspace, self._secrets, self._deadline, self._clock = workspace, secrets, transport.deadline, clock
        self._token: str | None = None
        # Setting ``client`` also sets its base_url, headers and timeout, so each session has a client; they share the
        # pool.
        self.api = Client(
            client=httpx.Client(transport=transport, trust_env=False),
            base_url=base_url.rstrip("/"),
            notion_version=VERSION,
            logger=_SILENT,
            log_level=logging.CRITICAL,
            retry=False,
        )

    def read(self, endpoint: Endpoint, *args: str, **request: Any) -> dict[str, Any]:
        """Sends a GET or a query, which changes nothing."""
        return self._send(endpoint, args, request, writes=False)

    def write(self, endpoint: Endpoint, *args: str, **request: Any) -> dict[str, Any]:
        """Sends a request that changes something. It isn't retried after an unclear outcome."""
        return self._send(endpoint, args, request, writes=True)

    def read_all(self, endpoint: Endpoint, *args: str, **request: Any) -> Iterator[dict[str, Any]]:
        """Yields the results; each page is requested when the one before is used up."""

        def one_page(**paging: Any) -> dict[str, Any]:
            answer = self.read(endpoint, *args, **request, **paging, page_size=PAGE_SIZE)
            if not isinstance(answer.get("results"), list):
                raise troubles.of_nonsense(writes=False)
            return answer

        yield from iterate_paginated_api(one_page)

    def token(self, *, afresh: bool = False) -> str:
        if self._token is None or afresh:
            try:
                found = self._secrets.get(self._workspace, afresh=afresh)
            except errors.Busy as exc:
                raise errors.TrackerAway("The Notion token can't be read now.") from exc
            if not found:
                raise troubles.no_token()
            self._token = found
        return self._token

    def _send(
        self, endpoint: Endpoint, args: tuple[str, ...], request: dict[str, Any], *, writes: bool
    ) -> dict[str, Any]:
        try:
            return self._send_with_token(endpoint, args, request, writes=writes)
        except errors.TrackerAway as exc:
            pause = self._pause_before_retry(exc)
            if pause is None:
                raise
        self._clock.sleep(pause)
        return self._send_with_token(endpoint, args, request, writes=writes)

    def _pause_before_retry(self, exc: errors.TrackerAway) -> float | None:
        """Returns seconds, or None if the request may have had an effect or there is no time for a retry."""
        if exc.unclear:
            return None
        jittered = FIRST_PAUSE_SECONDS * random.uniform(0.5, 1.5)  # noqa: S311 - spreads retries, keeps no secret
        pause = jittered if exc.retry_after is None else exc.retry_after
        return pause if pause <= MAX_PAUSE_SECONDS and pause + MIN_SECONDS < self._deadline.left else None

    def _send_with_token(
        self, endpoint: Endpoint, args: tuple[str, ...], request: dict[str, Any], *, writes: bool
    ) -> dict[str, Any]:
        refused = self.token()
        try:
            return self._send_once(endpoint, args, request, refused, writes=writes)
        except troubles.NotionTokenRefused:
            if self.token(afresh=True) == refused:  # the saved token may have been replaced since it was read
                raise
        return self._send_once(endpoint, args, request, self.token(), writes=writes)

    def _send_once(
        self, endpoint: Endpoint, args: tuple[str, ...], request: dict[str, Any], token: str, *, writes: bool
    ) -> dict[str, Any]:
        _check(token)
        try:
            answer = endpoint(*args, **request, auth=token)
        except HTTPResponseError as exc:
            raise troubles.of_refusal(exc, self._clock.now(), writes=writes) from exc
        except RequestTimeoutError as exc:  # the error that it replaces says which step timed out
            raise troubles.of_silence(exc.__context__, writes=writes) from exc
        except httpx.HTTPError as exc:
            raise troubles.of_silence(exc, writes=writes) from exc
        except ValueError as exc:  # not JSON, or not UTF-8
            raise troubles.of_nonsense(writes=writes) from exc
        if not isinstance(answer, dict):
            raise troubles.of_nonsense(writes=writes)
        return answer


def _check(token: str) -> None:
    """Raises ``TokenRefused`` for characters that no header takes: httpx would refuse them in an error that quotes the
    token."""
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise troubles.NotionTokenRefused
