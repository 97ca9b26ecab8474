"""A bell that rings what a test says: a real WebSocket server on this machine."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Condition, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

PATIENCE_SECONDS = 30.0


@dataclass
class FakeBell:
    """``refused``: the status of the next handshakes, 0 for none. ``retry_after``: the seconds that a refusal names, at
    the handshake or, with ``is_over_rate``, as the answer to a poll. ``is_silent``: no look is answered. ``due_at``:
    the answer to a look. ``looks``: how many were sent. ``handshakes``: the requests that wanted to listen."""

    url: str = ""
    refused: int = 0
    retry_after: int = 0
    is_over_rate: bool = False
    is_silent: bool = False
    due_at: str = ""
    looks: int = 0
    handshakes: list[Request] = field(default_factory=list)
    listening: list[ServerConnection] = field(default_factory=list)
    _changed: Condition = field(default_factory=Condition)

    def ring(self, topic: str, **fields: Any) -> None:
        self.say(json.dumps({"ring": topic, "id": "0123456789abcdef", **fields}))

    def say(self, text: str | bytes) -> None:
        for each in list(self.listening):
            with contextlib.suppress(ConnectionClosed):
                each.send(text)

    def drop(self) -> None:
        """Every connection is lost, without a word."""
        for each in list(self.listening):
            with contextlib.suppress(OSError):
                each.socket.shutdown(socket.SHUT_RDWR)
        self.until(lambda: not self.listening)

    def until(self, condition: Any) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, PATIENCE_SECONDS), "it hasn't happened"

    def answer_handshake(self, connection: ServerConnection, request: Request) -> Response | None:
        with self._changed:
            self.handshakes.append(request)
            self._changed.notify_all()
        if not self.refused:
            return None
        response = connection.respond(HTTPStatus(self.refused), "")
        if self.retry_after:
            response.headers["Retry-After"] = str(self.retry_after)
        return response

    def serve(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        (topic,) = parse_qs(urlsplit(connection.request.path).query)["listen"]
        with self._changed:
            self.listening.append(connection)
            self._changed.notify_all()
        try:
            with contextlib.suppress(ConnectionClosed):
                while True:
                    self._look(connection, topic, json.loads(connection.recv()))
        finally:
            with self._changed:
                self.listening.remove(connection)
                self._changed.notify_all()

    def _look(self, connection: ServerConnection, topic: str, message: Any) -> None:
        assert message == {"action": "look"}
        if self.is_over_rate:
            connection.send(json.dumps({"refused": "rate_limited", "retry_after_seconds": self.retry_after}))
            connection.close()
        elif not self.is_silent:
            connection.send(json.dumps({"looked": topic, **({"due_at": self.due_at} if self.due_at else {})}))
        with self._changed:
            self.looks += 1
            self._changed.notify_all()


@contextmanager
def fake_bell() -> Iterator[FakeBell]:
    bell = FakeBell()
    with serve(bell.serve, "127.0.0.1", 0, process_request=bell.answer_handshake, compression=None) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        bell.url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}/live"
        try:
            yield bell
        finally:
            bell.say("")
            for each in list(bell.listening):
                each.close_timeout = 0.1
                each.close()
            server.shutdown()
            thread.join()
