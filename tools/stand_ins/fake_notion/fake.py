"""The fake itself: calls come in through `handle`, people act through its methods."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

import httpx

from tools.stand_ins.fake_notion.api import Api
from tools.stand_ins.fake_notion.errors import NotionError, Reply, json_reply
from tools.stand_ins.fake_notion.faults import Fault, Refused, ReplyLost
from tools.stand_ins.fake_notion.model import Connection
from tools.stand_ins.fake_notion.people import People
from tools.stand_ins.fake_notion.workspace import VERSION, new_id, utc_now

WORKSPACE_NAME = "Local stand-in"


class Call(NamedTuple):
    """A request to the API as it came in."""

    method: str
    path: str
    body: Any


class FakeNotion(People):
    """One Notion workspace with one connection, and more if they are added. Safe for use from several threads.

    `fault` is asked before each call, outside the lock: a test may also hold a call there. `rate_limit` is how many
    calls a connection has in how many seconds. `index_lag` is how long a new page isn't found by queries. `requests`
    and `events` grow until cleared, unless `recording` is off. With `any_token`, every token that begins with ntn_
    is a connection of its own.
    """

    def __init__(
        self,
        now: Callable[[], datetime] = utc_now,
        token: str = "ntn_fake_token",  # noqa: S107 (no secret: nothing but this fake takes it)
        bot_id: str | None = None,
        workspace_id: str | None = None,
        *,
        any_token: bool = False,
    ) -> None:
        super().__init__(now, workspace_id or new_id(), WORKSPACE_NAME)
        self.token, self.bot_id, self.any_token = token, bot_id or new_id(), any_token
        self.fault: Callable[[str, str], Fault | None] | None = None
        self.rate_limit: tuple[int, float] | None = None
        self.index_lag = timedelta(0)
        self.requests: list[Call] = []
        self._calls: dict[str, deque[datetime]] = {}
        self.add_connection(token, self.bot_id)

    def add_connection(self, token: str, bot_id: str | None = None, name: str = "Baton") -> str:
        """Another bot of this workspace; its id."""
        with self.changing():
            return self.new_connection(token, bot_id or new_id(), name).bot_id

    def clear_requests(self) -> None:
        self.requests.clear()

    def handle(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """Answer one API call. Raises Refused or ReplyLost when a fault says so."""
        if self.recording:
            self.requests.append(Call(method, path, _readable(body)))
        fault = self.fault(method, path) if self.fault else None
        reply = None if fault and not fault.applied else self._reply(method, path, query, headers, body)
        if fault is None and reply is not None:
            return reply
        return (fault or Fault()).spoil(reply)

    def transport(self) -> httpx.MockTransport:
        """For `httpx.Client(transport=...)`: calls without a network, and httpx's own errors for faults."""

        def handler(request: httpx.Request) -> httpx.Response:
            url = request.url
            try:
                reply = self.handle(request.method, url.path, dict(url.params), request.headers, request.read())
            except Refused as error:
                raise httpx.ConnectError(str(error), request=request) from error
            except ReplyLost as error:
                raise httpx.ReadTimeout(str(error), request=request) from error
            return httpx.Response(reply.status, headers=dict(reply.headers), content=reply.body)

        return httpx.MockTransport(handler)

    def _reply(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> Reply:
        lowered = {name.lower(): value for name, value in headers.items()}
        try:
            with self.changing():
                connection = self._authenticate(lowered.get("authorization", ""))
                self._count(connection)
                _check_version(lowered.get("notion-version"))
                api = Api(self, connection.bot_id, self.index_lag)
                parts = path.removeprefix("/v1/").split("/") if path.startswith("/v1/") else []
                answer = api.answer(method, parts, dict(query), _parsed(body) if method in ("POST", "PATCH") else {})
        except NotionError as error:
            return error.reply()
        return json_reply(200, answer)

    def _authenticate(self, header: str) -> Connection:
        token = header.removeprefix("Bearer ") if header.startswith("Bearer ") else ""
        if token in self.connections:
            return self.connections[token]
        if self.any_token and token.startswith("ntn_"):
            # The bot's id comes from the token, so that it is the same after a restart.
            return self.new_connection(token, str(uuid5(NAMESPACE_URL, token)), "Local connection")
        raise NotionError(401, "API token is invalid.")

    def _count(self, connection: Connection) -> None:
        if self.rate_limit is None:
            return
        most, seconds = self.rate_limit
        now, calls = self.now(), self._calls.setdefault(connection.bot_id, deque())
        while calls and now - calls[0] >= timedelta(seconds=seconds):
            calls.popleft()
        if len(calls) >= most:
            wait = math.ceil(seconds - (now - calls[0]).total_seconds())
            raise NotionError(
                429, "You have been rate limited. Please try again later.", headers={"Retry-After": str(wait)}
            )
        calls.append(now)


def _check_version(given: str | None) -> None:
    if given is None:
        message = (
            "Notion-Version header failed validation: Notion-Version header should be defined, instead was undefined."
        )
        raise NotionError(400, message, "missing_version")
    if given != VERSION:
        raise NotionError(400, f"Notion-Version header failed validation: this stand-in speaks {VERSION} only.")


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
        # What Python takes and JSON doesn't: NaN, and halves of characters.
        json.dumps(parsed, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        raise NotionError(400, "Error parsing JSON body.", "invalid_json") from None
    if not isinstance(parsed, dict):
        raise NotionError(400, "body failed validation: body should be an object.")
    return parsed


def _readable(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body
