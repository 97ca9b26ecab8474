"""The client without a wire: requests, answers, retries and pauses as values.

A flow is a generator. It yields what is to be done next (a ``Send``, a ``Pause``, a ``Listen``), is sent the
``Answer``, and returns its result. Whoever plays it, by threads or by tasks, decides nothing."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from baton_client.errors import NoAnswer, Unreadable, refusal

T = TypeVar("T")

VERSION = "0.1.0"
AGENT = f"baton-client/{VERSION}"  # its User-Agent
TIMEOUT_SECONDS = 35.0  # the longest long poll answers within 29 s
MOST_BYTES = 16 * 2**20  # Lambda gives 6 MB at most
POLL_SECONDS = 20.0
NOT_MODIFIED = 304
_SAFE = {"GET", "HEAD", "PUT", "DELETE"}
AGAIN = {429, 500, 502, 503, 504}
_THROTTLED = {429, 503}


@dataclass(frozen=True)  # without slots, or Request[T](…) would fail
class Request(Generic[T]):
    """``path`` begins with a slash and has its query. ``key``: the Idempotency-Key. ``repeatable``: a repeat does
    nothing twice, even without a key. ``T``: the answer's body."""

    method: str
    path: str
    body: Any = None
    key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    repeatable: bool = False

    @property
    def may_repeat(self) -> bool:
        return self.repeatable or self.method in _SAFE or self.key is not None

    @property
    def content(self) -> bytes | None:
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        return json.dumps(self.body, ensure_ascii=True).encode()

    def headers_for(self, token: str, agent: str) -> dict[str, str]:
        """``agent``: the program, as its ``User-Agent`` says it."""
        headers = {"User-Agent": agent, "Accept": "application/json", "Accept-Encoding": "identity"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if self.body is not None:
            headers["Content-Type"] = "application/json"
        if self.key is not None:
            headers["Idempotency-Key"] = self.key
        return headers | dict(self.headers)


@dataclass(frozen=True, slots=True)
class Answer:
    """``status`` 0: none came from ``url``, and ``why`` says why. ``headers``: their names in lower case. ``json``:
    None where there is no body, a text where it isn't JSON. ``took``: seconds. To a ``Listen`` the status is 200 if it
    is time to look."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    json: Any = None
    why: str = ""
    took: float = 0.0
    url: str = ""

    @property
    def object(self) -> dict[str, Any] | None:
        return cast("dict[str, Any]", self.json) if isinstance(self.json, dict) else None

    @property
    def code(self) -> str:
        return str((self.object or {}).get("code", ""))

    @property
    def retry_after(self) -> float:
        said = self.headers.get("retry-after", "")
        return float(said) if said.isascii() and said.isdecimal() and len(said) < 6 else 0.0


@dataclass(frozen=True, slots=True)
class Send:
    """``seconds``: for all of the exchange, however slowly its bytes come."""

    request: Request[Any]
    seconds: float = TIMEOUT_SECONDS


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Listen:
    """Wait by the bell until it is time to look at a topic, or for so many seconds."""

    topic: str
    seconds: float


Step = Send | Pause | Listen
Flow = Generator[Step, Answer, T]


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request is sent, and the pauses between. ``attempts``: in all. A pause is drawn from 0 to a bound,
    which begins at ``base_seconds`` and doubles. A ``Retry-After`` is kept to, up to ``longest_seconds``."""

    attempts: int = 4
    base_seconds: float = 0.5
    longest_seconds: float = 30.0
    drawn: Callable[[float, float], float] = random.uniform

    def pause(self, number: int, retry_after: float) -> float:
        """Returns the seconds to wait after the attempt of this number, counted from 0."""
        if retry_after:
            return min(retry_after, self.longest_seconds) + self.drawn(0, self.base_seconds)
        return self.drawn(0, min(self.base_seconds * 2**number, self.longest_seconds))


@dataclass(slots=True)
class WaitBackoff:
    """The backoff of long polls where too many wait: the caller looks once without waiting, and stays away for a while,
    the longer, the more often it was refused. ``refusals``: how often waits were refused, less the waits since."""

    refusals: int = 0
    drawn: Callable[[float, float], float] = random.uniform

    def pause_after_refusal(self, retry_after: float) -> float:
        """Returns the seconds until the next wait."""
        self.refusals = min(self.refusals + 1, 5)
        return self._pause(retry_after)

    def pause_after_wait(self, asked_seconds: float, seconds: float) -> float:
        """Returns the seconds until the next wait, after one in vain: none if it was as long as asked. One that was cut
        short gives way to others."""
        self.refusals = max(0, self.refusals - 1)
        return self._pause() if seconds < asked_seconds * 0.9 else 0.0

    def _pause(self, at_least: float = 0.0) -> float:
        pause: float = min(0.5 * 2**self.refusals, 8.0)  # with its jitter, at most 10 s
        return max(at_least, pause) * self.drawn(1.0, 1.25)


def is_refused_wait(answer: Answer) -> bool:
    """True for a wait that didn't begin: refused by Baton for its number, or by AWS, whose answers have no code."""
    return answer.code == "too_many_polls" or (answer.status in _THROTTLED and not answer.code)


def exchange(
    request: Request[Any], patience: Patience, seconds: float = TIMEOUT_SECONDS, *, is_wait: bool = False
) -> Flow[Answer]:
    """Returns the answer, whatever its status. A request that may be repeated is, if no answer came or one that asks
    for it."""
    number = 0
    while True:
        answer = yield Send(request, seconds)
        number += 1
        is_clear = answer.status not in {0, *AGAIN} or (is_wait and is_refused_wait(answer))
        if is_clear or not request.may_repeat or number >= patience.attempts:
            return answer
        why = f"the API answers {answer.status}" if answer.status else f"{answer.url} doesn't answer"
        yield Pause(patience.pause(number - 1, answer.retry_after), why)


def call(request: Request[T], patience: Patience, seconds: float = TIMEOUT_SECONDS) -> Flow[T]:
    """Returns the answer's body. Raises ``Refused``, ``NoAnswer`` and ``Unreadable``."""
    body: T = body_of((yield from exchange(request, patience, seconds)))
    return body


def body_of(answer: Answer) -> Any:
    if answer.status == 0:
        raise NoAnswer(f"{answer.url or 'Baton'} doesn't answer", answer.why, "baton doctor")
    if answer.status == 204:
        return None
    if answer.status >= 400:
        raise refusal(answer.status, answer.object or {}, answer.retry_after)
    if answer.status < 300 and answer.object is not None:
        return answer.object
    raise unreadable(answer)


def unreadable(answer: Answer) -> Unreadable:
    """What answers in such a way is a proxy, a portal, or another program."""
    if 300 <= answer.status < 400:
        return Unreadable(f"Baton doesn't redirect, and this does ({answer.status})", "no redirect is followed")
    return Unreadable("the answer isn't Baton's", answer.why or f"status {answer.status}, without a JSON object")


def decoded(content: bytes) -> Any:
    if not content:
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


@dataclass(slots=True)
class LongPoll:
    """Looks that wait, in turn. If a wait was refused or cut short, the next one begins with a pause. For one flow."""

    patience: Patience
    backoff: WaitBackoff = field(default_factory=WaitBackoff)
    pause: float = 0.0

    def wait(self, request: Request[T], look: Request[T], seconds: float) -> Flow[tuple[T, float]]:
        """Returns the body of a request that waits for ``seconds``, and how long that took. Where too many wait, it is
        that of ``look``, which doesn't wait."""
        paused = min(self.pause, seconds)
        if paused:
            yield Pause(paused)
        answer = yield from exchange(request, self.patience, seconds + 15.0, is_wait=True)
        if is_refused_wait(answer):
            self.pause = self.backoff.pause_after_refusal(answer.retry_after)
            return (yield from call(look, self.patience)), paused + answer.took
        self.pause = self.backoff.pause_after_wait(seconds, answer.took)
        return body_of(answer), paused + answer.took


@dataclass(slots=True)
class Again:
    """GETs that are sent again and again. If an answer is the same as the last time, the API sends no body (RFC 9110
    §13). From the second time on it may be half a minute old, which costs the API less, unless it has to be fresh."""

    known: dict[str, tuple[str, Any]] = field(default_factory=dict)

    def get(self, request: Request[T], patience: Patience, *, is_fresh: bool = False) -> Flow[T]:
        tag, known = self.known.get(request.path, ("", None))
        headers = {"If-None-Match": tag, "Cache-Control": f"max-age={0 if is_fresh else 30}"} if tag else {}
        answer = yield from exchange(replace(request, headers=headers), patience)
        is_same = answer.status == NOT_MODIFIED and tag != ""
        body = known if is_same else body_of(answer)
        self.known[request.path] = (answer.headers.get("etag", tag if is_same else ""), body)
        return body  # type: ignore[no-any-return]


def new_key() -> str:
    return f"client-{uuid.uuid4()}"


def with_query(path: str, query: Mapping[str, Any]) -> str:
    """Returns the path with the values that aren't None as its query; the items of a list are joined by commas."""
    from urllib.parse import urlencode

    said = {name: _said(value) for name, value in query.items() if value is not None and value not in ((), [])}
    return f"{path}?{urlencode(said)}" if said else path


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, cast("list[Any]", value))) if isinstance(value, list | tuple) else str(value)
