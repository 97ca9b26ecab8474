"""The API's client: it repeats requests where that is safe, and raises refusals."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from baton_cli.failures import ApiRefusal, Unreachable
from baton_cli.http_connection import ApiReply, HttpConnection, HttpRequest
from baton_cli.profiles import Profile
from baton_cli.wait_backoff import WaitBackoff, is_refused

TIMEOUT_SECONDS = 35.0  # the longest poll answers within 29 s
_SAFE = {"GET", "HEAD", "PUT", "DELETE"}
NOT_MODIFIED = 304
_AGAIN = {429, 500, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request is sent, and the pauses between. ``attempts``: in all. A pause is drawn from 0 to a bound,
    which begins at ``base_seconds`` and doubles. A ``Retry-After`` is kept to, up to ``longest_seconds``."""

    attempts: int = 4
    base_seconds: float = 0.5
    longest_seconds: float = 30.0

    def pause(self, number: int, retry_after: str | None) -> float:
        """Returns the seconds to wait after the attempt of this number, counted from 0."""
        if retry_after is not None and retry_after.isdecimal():
            return min(float(retry_after), self.longest_seconds) + random.uniform(0, self.base_seconds)  # noqa: S311
        return random.uniform(0, min(self.base_seconds * 2**number, self.longest_seconds))  # noqa: S311


class Client:
    """For any number of threads: each has a connection of its own."""

    def __init__(
        self,
        profile: Profile,
        patience: Patience | None = None,
        *,
        sleep: Callable[[float], None] | None = None,
        say: Callable[[str], None] = lambda _said: None,
        during: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """``say`` gets a sentence before each pause. ``during`` is entered while a request waits for its answer."""
        self.profile = profile
        self._patience, self._sleep = patience or Patience(), sleep or time.sleep
        self._say, self._during = say, during
        self._threads, self._wires = threading.local(), list[HttpConnection]()
        self._waits, self._wait_pause = WaitBackoff(), 0.0
        self._tagged: dict[str, tuple[str, Any]] = {}

    def request(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, timeout: float = TIMEOUT_SECONDS
    ) -> ApiReply:
        """Sends a request once, and returns the answer, whatever its status. Raises ``Unreachable`` if none came within
        ``timeout`` seconds."""
        return self._sent(HttpRequest(method, path, body, key), timeout)

    def call(self, request: HttpRequest, *, repeatable: bool = False, timeout: float = TIMEOUT_SECONDS) -> Any:
        """Returns the answer's body. A request that is safe, has a key or is ``repeatable`` is sent again if no answer
        came, or one that says so. Raises ``ApiRefusal`` and ``Unreachable``."""
        may_repeat = repeatable or request.method in _SAFE or request.key is not None
        return _body_of(self._answered(request, may_repeat=may_repeat, timeout=timeout))

    def wait(self, request: HttpRequest, look: HttpRequest, seconds: float) -> Any:
        """Returns the answer's body of a request that waits for ``seconds``, as ``call`` does. Where too many wait,
        that of ``look``, which doesn't wait. If this one was refused or cut short, the next call begins with a pause,
        at most as long as its own ``seconds``. For one thread."""
        if self._wait_pause:
            self._sleep(min(self._wait_pause, seconds))
        begun_at = time.monotonic()
        reply = self._answered(request, may_repeat=True, timeout=TIMEOUT_SECONDS, is_wait=True)
        if _is_refused_wait(reply):
            after = reply.headers.get("retry-after", "")
            self._wait_pause = self._waits.pause_after_refusal(float(after) if after.isdecimal() else 0.0)
            return self.call(look)
        self._wait_pause = self._waits.pause_after_wait(seconds, time.monotonic() - begun_at)
        return _body_of(reply)

    def _answered(self, request: HttpRequest, *, may_repeat: bool, timeout: float, is_wait: bool = False) -> ApiReply:
        for number in range(self._patience.attempts if may_repeat else 1):
            is_last = not may_repeat or number + 1 == self._patience.attempts
            try:
                reply = self._sent(request, timeout)
            except Unreachable as failure:
                if is_last:
                    raise
                self._pause(number, None, failure.what)
                continue
            if is_last or reply.status not in _AGAIN or (is_wait and _is_refused_wait(reply)):
                return reply
            self._pause(number, reply.headers.get("retry-after"), f"the API answers {reply.status}")
        raise AssertionError("the last attempt returns or raises")

    def get(self, path: str, query: Mapping[str, Any] | None = None, *, timeout: float = TIMEOUT_SECONDS) -> Any:
        return self.call(HttpRequest("GET", with_query(path, query or {})), timeout=timeout)

    def again(self, path: str, *, is_fresh: bool = False) -> Any:
        """Returns the body of a GET that is sent again and again. If it is the same as the last time, the API answers
        without a body (RFC 9110 §13). From the second time on the answer may be half a minute old, which costs the API
        less, unless it has to be fresh."""
        tag, known = self._tagged.get(path, ("", None))
        headers = {"If-None-Match": tag, "Cache-Control": f"max-age={0 if is_fresh else 30}"} if tag else {}
        reply = self._answered(HttpRequest("GET", path, headers=headers), may_repeat=True, timeout=TIMEOUT_SECONDS)
        is_same = reply.status == NOT_MODIFIED and tag != ""
        body = known if is_same else _body_of(reply)
        self._tagged[path] = (reply.headers.get("etag", tag if is_same else ""), body)
        return body

    def pages(self, path: str, query: Mapping[str, Any]) -> Iterator[Any]:
        """Yields a listing's pages, as they are asked for."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.get(path, {**query, **({"cursor": cursor} if cursor else {})})
            yield page
            cursor = page.get("next_cursor")

    def _pause(self, number: int, retry_after: str | None, why: str) -> None:
        seconds = self._patience.pause(number, retry_after)
        self._say(f"{why}: again in {seconds:.0f} s …")
        self._sleep(seconds)

    def close(self) -> None:
        """Closes the connections of all threads. None may be in use."""
        for wire in self._wires:
            wire.close()

    def _sent(self, request: HttpRequest, timeout: float) -> ApiReply:
        with self._during():
            return self._wire().send(request, timeout)

    def _wire(self) -> HttpConnection:
        if not hasattr(self._threads, "wire"):
            self._threads.wire = HttpConnection(self.profile.url, self.profile.token)
            self._wires.append(self._threads.wire)
        wire: HttpConnection = self._threads.wire
        return wire


def with_query(path: str, query: Mapping[str, Any]) -> str:
    """Returns the path with the values that aren't None as its query; the items of a list are joined by commas."""
    said = {name: _said(value) for name, value in query.items() if value is not None and value not in ((), [])}
    return f"{path}?{urlencode(said)}" if said else path


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _is_refused_wait(reply: ApiReply) -> bool:
    return is_refused(reply.status, str(reply.json.get("code", "")) if isinstance(reply.json, dict) else "")


def _body_of(reply: ApiReply) -> Any:
    if reply.status < 300:
        return reply.json
    raise ApiRefusal(reply.status, reply.json if isinstance(reply.json, dict) else {})
