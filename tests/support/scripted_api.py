"""An API that answers what a test says, over HTTP, in this process."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


@dataclass(frozen=True)
class Answer:
    """``status`` 0 closes the connection without a word."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    after: Event | None = None  # it isn't given before that


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class ScriptedApi:
    """Gives ``answers`` in turn, then 200 and ``{}``."""

    url: str = ""
    answers: deque[Answer] = field(default_factory=deque)
    asked: list[Asked] = field(default_factory=list)
    heard: Event = field(default_factory=Event)  # something was asked

    def will(self, *answers: Answer) -> None:
        self.answers.extend(answers)

    @property
    def keys(self) -> list[str | None]:
        return [each.headers.get("idempotency-key") for each in self.asked]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that was interrupted leaves its connection."""


@contextmanager
def scripted_api() -> Iterator[ScriptedApi]:
    api = ScriptedApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            api.asked.append(Asked(self.command, self.path, headers, json.loads(content) if content else None))
            api.heard.set()
            answer = api.answers.popleft() if api.answers else Answer(body={})
            if answer.after is not None:
                answer.after.wait(30)
            if answer.status == 0:
                self.close_connection = True
                return
            said = (
                b""
                if answer.body is None
                else json.dumps(answer.body, ensure_ascii=False).encode("utf-8", "surrogatepass")
            )
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(said)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the server's own names

        def log_message(self, *_: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    api.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
