"""An API over HTTP, in this process, that gives the answers of a test."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

from support.http_server import Received, Sent, served
from support.values.genuine_answers import completed, usual_status

JSON_TYPE = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Answer:
    """``status`` 0 closes the connection without an answer. ``is_foreign``: sent unchanged, unlike Baton's answers,
    which get all fields of their operation."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    is_foreign: bool = False
    after: Event | None = None  # the answer is held back until it is set

    @property
    def content(self) -> bytes:
        if self.body is None:
            return b""
        return json.dumps(self.body, ensure_ascii=False).encode("utf-8", "surrogatepass")


@dataclass
class ScriptedApi:
    """Gives ``answers`` in turn, then the operation's usual one. Each answer has all fields of its operation. ``bell``:
    the bell's address, or None for none; requests for it aren't counted."""

    url: str = ""
    answers: deque[Answer] = field(default_factory=deque)
    asked: list[Received] = field(default_factory=list)
    bell: str | None = None
    bell_headers: dict[str, str] = field(default_factory=dict)
    heard: Event = field(default_factory=Event)  # set by each request

    def will(self, *answers: Answer) -> None:
        self.answers.extend(answers)

    @property
    def keys(self) -> list[str | None]:
        return [each.headers.get("idempotency-key") for each in self.asked]

    def answer(self, request: Received) -> Sent | None:
        if request.path == "/bell":
            bell = json.dumps({"url": self.bell, "look_seconds": 540}).encode()
            return Sent(200, (JSON_TYPE | self.bell_headers).items(), bell)
        self.asked.append(request)
        self.heard.set()
        answer = self.answers.popleft() if self.answers else Answer(usual_status(request.method, request.path), {})
        if answer.after is not None:
            answer.after.wait(30)
        if isinstance(answer.body, dict) and not answer.is_foreign:
            answer = replace(answer, body=_whole(request, answer.status, answer.body))
        headers = ({} if answer.body is None else JSON_TYPE) | answer.headers
        return Sent(answer.status, headers.items(), answer.content) if answer.status else None


def _whole(request: Received, status: int, body: dict[str, Any]) -> dict[str, Any]:
    if status >= 400:
        return {"status": status, **body} if "code" in body else body  # as each problem of Baton's
    return completed(request.method, request.path, status, body)  # type: ignore[no-any-return]


@contextmanager
def scripted_api() -> Iterator[ScriptedApi]:
    api = ScriptedApi()
    with served(api.answer) as api.url:
        yield api
