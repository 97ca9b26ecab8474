"""A server on loopback that sends the answers of a test, at the pace that the test wants."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedIOBase
from pathlib import Path
from typing import Any

from support.http_server import Received, served


@dataclass(frozen=True, kw_only=True)
class Canned:
    """``body``: JSON unless it is bytes. ``pause``: before the answer; ``drip``: between the bytes of its body, or of
    its headers; ``breaks_after``: so many bytes of the body come, then the connection is cut."""

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0
    drip: float = 0
    drips_headers: bool = False
    breaks_after: int | None = None

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Loopback:
    """``line``: the answers to come; a 500 once it is empty. ``check``: returns what is wrong with a request, or None;
    a wrong request is answered with a 400, and kept in ``wrong``."""

    line: deque[Canned] = field(default_factory=deque)
    received: list[Received] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    url: str = ""
    is_over: threading.Event = field(default_factory=threading.Event)
    certificate: Path | None = None

    def check(self, request: Received) -> str | None:
        return None

    def then(self, *canned: Canned) -> None:
        self.line.extend(canned)

    def answer(self, request: Received) -> Canned:
        self.received.append(request)
        if problem := self.check(request):
            self.wrong.append(problem)
            return Canned(status=400, body={"error": {"message": problem, "code": "wrong_in_the_test"}})
        return self.line.popleft() if self.line else Canned(status=500, body={"error": {"message": "out of lines"}})

    @contextmanager
    def serving(self) -> Iterator[Loopback]:
        with served(self._sent, self.certificate) as self.url:
            try:
                yield self
            finally:
                self.is_over.set()
        assert self.wrong == []

    def _sent(self, request: Received) -> Callable[[BufferedIOBase], None]:
        canned = self.answer(request)
        return lambda file: self._send(canned, file)

    def _send(self, canned: Canned, file: BufferedIOBase) -> None:
        self._wait(canned.pause)
        size = str(len(canned.content))
        # Without this header a client may send its next request over a connection that is about to be closed.
        headers = {"Content-Type": "application/json", "Content-Length": size, "Connection": "close", **canned.headers}
        lines = [f"HTTP/1.1 {canned.status} Said", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        self._write(file, "\r\n".join(lines).encode(), canned.drip if canned.drips_headers else 0)
        self._write(file, canned.content[: canned.breaks_after], 0 if canned.drips_headers else canned.drip)

    def _write(self, file: BufferedIOBase, content: bytes, drip: float) -> None:
        if not drip:
            file.write(content)
            return
        for byte in content:
            file.write(bytes([byte]))
            self._wait(drip)
            if self.is_over.is_set():
                return

    def _wait(self, seconds: float) -> None:
        if seconds:
            self.is_over.wait(seconds)


def timed(function: Any, *args: Any) -> tuple[Any, float]:
    """Returns what the function returns or raises, and the seconds that it takes."""
    begun = time.monotonic()
    try:
        answer = function(*args)
    except Exception as error:  # noqa: BLE001 - it is what is asked for
        answer = error
    return answer, time.monotonic() - begun
