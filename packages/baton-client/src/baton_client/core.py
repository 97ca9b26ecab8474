"""The client without a wire: requests, answers, retries and pauses as values.

A flow is a generator. It yields what is to be done next (a ``Send``, a ``Pause``, a ``Listen``), is sent the
``Answer``, and returns its result. Whoever plays it, by threads or by tasks, decides nothing."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar, cast

from baton_client.errors import Misused, NoAnswer, Unreadable, refusal

T = TypeVar("T")

VERSION = "0.1.0"
AGENT = f"baton-client/{VERSION}"  # its User-Agent
TIMEOUT_SECONDS = 35.0  # the longest long poll answers within 29 s
MOST_BYTES = 16 * 2**20  # Lambda gives 6 MB at most
POLL_SECONDS = 20.0
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
        try:
            return json.dumps(self.body, ensure_ascii=False).encode()  # the limits are of bytes
        except UnicodeEncodeError:  # half of a character: Baton's refusal names the field
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


class Answer(NamedTuple):
    """``status`` 0: none came from ``url``, and ``why`` says why. ``headers``: their names in lower case. ``json``:
    None where there is no body, a text where it isn't JSON. ``took``: seconds. To a ``Listen`` the status is 200 if it
    is time to look, 204 if its seconds are over."""

    status: int = 0
    headers: Mapping[str, str] = {}
    json: Any = None
    why: str = ""
    took: float = 0.0
    url: str = ""

    @property
    def object(self) -> dict[str, Any] | None:
        found: object = self.json
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None

    @property
    def code(self) -> str:
        return str((self.object or {}).get("code", ""))

    @property
    def retry_after(self) -> float:
        said = self.headers.get("retry-after", "")
        return float(said) if said.isascii() and said.isdecimal() and len(said) < 6 else 0.0


class Send(NamedTuple):
    """``seconds``: for all of the exchange, however slowly its bytes come."""

    request: Request[Any]
    seconds: float = TIMEOUT_SECONDS


class Pause(NamedTuple):
    seconds: float
    why: str = ""


class Listen(NamedTuple):
    """Wait by the bell until it is time to look at a topic, or for so many seconds. ``due_at``: when something is due,
    if an empty answer said so."""

    topic: str
    seconds: float
    due_at: str = ""


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


def is_refused(status: int, code: str) -> bool:
    """True for a wait that didn't begin: refused by Baton for its number, or by AWS, whose answers have no code."""
    return code == "too_many_polls" or (status in _THROTTLED and not code)


def exchange(
    request: Request[Any], patience: Patience, seconds: float = TIMEOUT_SECONDS, *, is_wait: bool = False
) -> Flow[Answer]:
    """Returns the answer, whatever its status. A request that may be repeated is, if no answer came or one that asks
    for it."""
    number = 0
    while True:
        answer = yield Send(request, seconds)
        number += 1
        is_clear = answer.status not in {0, *AGAIN} or (is_wait and is_refused(answer.status, answer.code))
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
    if answer.status in {202, 204} and answer.json is None:
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


class Spelled(float):
    """A number that ``json`` would write in another spelling. Digests cover the spelling."""

    written: str


def _number(written: str) -> float:
    number = float(written)
    if repr(number) == written:
        return number
    spelled = Spelled(number)
    spelled.written = written
    return spelled


def _integer(written: str) -> float:
    return _number(written) if written == "-0" else int(written)


def decoded(content: bytes) -> Any:
    """Returns the value of JSON, with a ``Spelled`` for a number of another spelling; a text if it isn't JSON."""
    if not content:
        return None
    try:
        return json.loads(content, parse_float=_number, parse_int=_integer if b"-0" in content else None)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def sound(token: str) -> str:
    """Returns the token. Raises ``Misused`` for one that no header may hold, which a wire would show in its error."""
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise Misused("the token isn't one of Baton's", "it has characters that no token has", "baton doctor")
    return token


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
