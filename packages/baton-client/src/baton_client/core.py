"""The client without a wire: requests, answers, retries and pauses as values.

A flow is a generator. It yields what is to be done next (a ``Send``, a ``Pause``, a ``Listen``), is sent the
``Answer``, and returns its result. Whoever plays it, by threads or by tasks, decides nothing."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar, cast

from baton_client import numbers
from baton_client.errors import AGAIN, Misused, NoAnswer, Unreadable, refusal
from baton_client.genuine import why_foreign

T = TypeVar("T")

VERSION = "0.1.0"
AGENT = f"baton-client/{VERSION}"  # its User-Agent
TIMEOUT_SECONDS = 35.0  # the longest long poll answers within 29 s
MOST_BYTES = 16 * 2**20  # Lambda gives 6 MB at most
POLL_SECONDS = 20.0
_SAFE = {"GET", "HEAD", "PUT", "DELETE"}
_THROTTLED = {429, 503}
FOREVER = float("inf")
# A remark about trouble appears with the first pause, and then once in so many seconds.
REMARK_SECONDS = 10.0
FOREIGN_SECONDS = 30.0  # the longest Retry-After that another program's answer is granted


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

    def __post_init__(self) -> None:
        """Raises ``Misused`` for a path or key that no request may have: an attempt could never succeed."""
        if " " in self.path or not is_printable(self.path):
            raise Misused("the request's path has other characters than ASCII's", self.path, "check the ids")
        if self.key is not None and not is_printable(self.key):
            raise Misused("the Idempotency-Key has other characters than ASCII's", self.key, "give another key")

    @property
    def may_repeat(self) -> bool:
        return self.repeatable or self.method in _SAFE or self.key is not None

    @property
    def content(self) -> bytes | None:
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        try:
            return numbers.dumps(self.body, ensure_ascii=False).encode()  # the limits are of bytes
        except UnicodeEncodeError:  # half of a character: Baton's refusal names the field
            return numbers.dumps(self.body, ensure_ascii=True).encode()

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
    """An answer of Baton's, or none: ``status`` is 0 then, and ``why`` states the cause.

    ``headers``: their names are in lower case. ``json``: None without a body, a text for another type. ``took``: the
    seconds of the last attempt; ``since``: the seconds since the first attempt began. ``url``: Baton's address.
    ``foreign``: the status of an answer that a program between sent, else 0 (``genuine.py``). The answer to a
    ``Listen`` has the status 200 if it is time to look, and 204 if its seconds are over."""

    status: int = 0
    headers: Mapping[str, str] = {}
    json: Any = None
    why: str = ""
    took: float = 0.0
    url: str = ""
    foreign: int = 0
    since: float = 0.0

    @property
    def object(self) -> dict[str, Any] | None:
        found: object = self.json
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None

    @property
    def code(self) -> str:
        return str((self.object or {}).get("code", ""))

    @property
    def retry_after(self) -> float:
        """The seconds that the answer asks for. A page of maintenance may ask for a day: it isn't Baton's to ask."""
        said = self.headers.get("retry-after", "")
        seconds = float(said) if said.isascii() and said.isdecimal() and len(said) < 6 else 0.0
        return min(seconds, FOREIGN_SECONDS) if self.foreign else seconds

    @property
    def is_settled(self) -> bool:
        """True for an answer of Baton's that doesn't ask for the same request later."""
        return self.status not in {0, *AGAIN}

    @property
    def trouble(self) -> str:
        """The cause of another attempt, in a few words."""
        if self.status:
            return f"the API answers {self.status}"
        return f"{self.url or 'Baton'} doesn't answer" + (f" ({self.why})" if self.why else "")


def answer_of(request: Request[Any], url: str, status: int, headers: Mapping[str, str], content: bytes) -> Answer:
    """Returns the answer to a request, with the status 0 unless it is Baton's (``genuine.py``)."""
    if len(content) > MOST_BYTES:
        return Answer(0, headers, why=f"{status} with more than {MOST_BYTES:,} bytes", url=url, foreign=status)
    found = decoded(content)
    if why := why_foreign(request.method, request.path, status, headers, found):
        return Answer(0, headers, why=why, url=url, foreign=status)
    return Answer(status, headers, found, url=url)


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
    """For how long a request is repeated, and the pauses between two attempts.

    ``attempts``: at least so many. ``seconds``: attempts begin for so long after the first one, and one attempt begins
    after that; 0: ``attempts`` decides alone. A pause is drawn from 0 to a bound, which begins at ``base_seconds`` and
    doubles up to ``longest_pause``. A ``Retry-After`` is kept to, up to ``longest_seconds``."""

    attempts: int = 4
    seconds: float = 40.0  # an outage of 30 s changes no outcome
    base_seconds: float = 0.5
    longest_pause: float = 4.0
    longest_seconds: float = 30.0
    drawn: Callable[[float, float], float] = random.uniform

    def lasting(self, seconds: float) -> Patience:
        """Returns the same patience for another time; unchanged, if ``attempts`` decides alone."""
        return replace(self, seconds=seconds) if self.seconds else self

    def pause(self, number: int, retry_after: float, left: float = float("inf")) -> float:
        """Returns the seconds to wait after the attempt of this number, counted from 0. ``left``: the seconds until the
        last attempt is due."""
        if retry_after:
            return min(retry_after, self.longest_seconds) + self.drawn(0, self.base_seconds)
        pause = self.drawn(0, min(self.base_seconds * 2 ** min(number, 10), self.longest_pause))
        return min(pause, left) if left > 0 else pause


def is_refused(code: str, foreign: int) -> bool:
    """True for a wait that didn't begin: refused by Baton for its number, or by AWS, whose answers have no code."""
    return code == "too_many_polls" or foreign in _THROTTLED


@dataclass(slots=True)
class Remarks:
    """The remarks about the trouble of one request, few enough for a person."""

    next_at: float = 0.0

    def about(self, answer: Answer, since: float) -> str:
        """Returns the remark that is due ``since`` seconds after the first attempt began; else an empty text."""
        if since < self.next_at:
            return ""
        self.next_at = since + REMARK_SECONDS
        return answer.trouble


def exchange(
    request: Request[Any], patience: Patience, seconds: float = TIMEOUT_SECONDS, *, is_wait: bool = False
) -> Flow[Answer]:
    """Returns the answer, whatever its status. A request that may be repeated is, if no answer came or one that asks
    for it."""
    number, since, remarks = 0, 0.0, Remarks()
    while True:
        begun = since
        answer = yield Send(request, seconds)
        number, since = number + 1, since + answer.took
        is_clear = answer.is_settled or (is_wait and is_refused(answer.code, answer.foreign))
        is_last = number >= patience.attempts and begun >= patience.seconds
        if is_clear or not request.may_repeat or is_last:
            return answer._replace(since=since)
        pause = patience.pause(number - 1, answer.retry_after, patience.seconds - since)
        paused = yield Pause(pause, remarks.about(answer, since))
        since += paused.took


def call(request: Request[T], patience: Patience, seconds: float = TIMEOUT_SECONDS) -> Flow[T]:
    """Returns the answer's body. Raises ``Refused``, ``NoAnswer`` and ``Unreadable``."""
    body: T = body_of((yield from exchange(request, patience, seconds)))
    return body


def timed_call(request: Request[T], patience: Patience) -> Flow[tuple[T, float]]:
    """Returns the answer's body, and the seconds since the first attempt began. Raises as ``call`` does."""
    answer = yield from exchange(request, patience)
    return body_of(answer), answer.since


def body_of(answer: Answer) -> Any:
    if answer.status == 0:
        step = "check the address and the proxies on the way: baton doctor" if answer.foreign else "baton doctor"
        what = f"{answer.url or 'Baton'} doesn't answer"
        raise NoAnswer(what, answer.why, step, foreign=answer.foreign, retry_after=answer.retry_after)
    if answer.status in {202, 204} and answer.json is None:
        return None
    if answer.status >= 400:
        raise refusal(answer.status, answer.object or {}, answer.retry_after)
    if answer.status < 300 and answer.object is not None:
        return answer.object
    raise Unreadable("the answer isn't one that this client understands", f"status {answer.status}")


def decoded(content: bytes) -> Any:
    """Returns the value of JSON (``numbers.py``); a text if it isn't JSON."""
    if not content:
        return None
    try:
        return numbers.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def is_printable(text: str) -> bool:
    return text.isascii() and text.isprintable()


def sound(token: str) -> str:
    """Returns the token. Raises ``Misused`` for one that no header may hold, which a wire would show in its error."""
    if " " in token or not is_printable(token):
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
