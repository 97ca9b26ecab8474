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


@dataclass(frozen=True)
class Answer:
    """``status`` 0 closes the connection without an answer."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    after: Event | None = None  # the answer is held back until it is set

    @property
    def content(self) -> bytes:
        if self.body is None:
            return b""
        return json.dumps(self.body, ensure_ascii=False).encode("utf-8", "surrogatepass")


@dataclass
class ScriptedApi:
    """Gives ``answers`` in turn, then 200 and ``{}``. ``bell``: the bell's address, or None for none; who asks for it
    isn't counted."""

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
            return Sent(200, self.bell_headers.items(), json.dumps({"url": self.bell, "look_seconds": 540}).encode())
        self.asked.append(request)
        self.heard.set()
        answer = self.answers.popleft() if self.answers else Answer(body={})
        if answer.after is not None:
            answer.after.wait(30)
        if answer.status >= 400 and isinstance(answer.body, dict) and "code" in answer.body:
            answer = replace(answer, body={"status": answer.status, **answer.body})  # as each problem of Baton's
        return Sent(answer.status, answer.headers.items(), answer.content) if answer.status else None


@contextmanager
def scripted_api() -> Iterator[ScriptedApi]:
    api = ScriptedApi()
    with served(api.answer) as api.url:
        yield api
