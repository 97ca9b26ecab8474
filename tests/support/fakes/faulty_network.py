"""A network of bytes between real programs and an API in this process, with one fault. It stands in for the system's
sockets, and its delays are pauses of virtual time."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from io import RawIOBase
from typing import Any

import anyio
import httpcore
import pytest
from httpcore._backends.auto import AutoBackend

from support.http_server import Received, Sent
from support.virtual_time import NEVER, VirtualTime

TRIP_SECONDS = 0.05
LONGEST_SECONDS = 3_600.0  # a fault without an end is over then, so that each program ends


@dataclass(frozen=True)
class Piece:
    """``content`` comes after so many seconds. None resets the connection, and nothing ends it."""

    content: bytes | None
    seconds: float = 0.0


Pieces = list[Piece]


@dataclass(frozen=True)
class Fault:
    """``pieces``: the answer, made of the bytes of Baton's own; None of these for a request that didn't reach Baton.
    ``is_forwarded``: the request reaches Baton."""

    name: str
    pieces: Callable[[bytes | None], Pieces]
    is_forwarded: bool = False


@dataclass(frozen=True)
class Noted:
    """A request that met the fault, or one of its kind. ``body``: as it was sent."""

    at: float
    is_faulty: bool
    key: str
    body: bytes
    path: str


@dataclass
class FaultyNetwork:
    """``answer``: the API. ``is_hit``: whether the fault is about a request. ``seconds``: how long the fault lasts from
    the first such request on; 0 for that request alone. ``noted``: the requests that the fault is about, in order."""

    time: VirtualTime
    answer: Callable[[Received], Sent]
    is_hit: Callable[[Received], bool] = lambda _request: False
    fault: Fault | None = None
    seconds: float = 0.0
    noted: list[Noted] = field(default_factory=list)
    sent: int = 0

    def answered(self, request: Received) -> Pieces:
        self.sent += 1
        if self.fault is None or not self.is_hit(request):
            return [Piece(_written(self.answer(request)), TRIP_SECONDS)]
        is_faulty = self._is_faulty
        key = request.headers.get("idempotency-key", "")
        self.noted.append(Noted(self.time.seconds, is_faulty, key, request.content, request.path))
        if not is_faulty:
            return [Piece(_written(self.answer(request)), TRIP_SECONDS)]
        genuine = _written(self.answer(request)) if self.fault.is_forwarded else None
        first, *rest = self.fault.pieces(genuine)
        return [Piece(first.content, first.seconds + TRIP_SECONDS), *rest]

    @property
    def _is_faulty(self) -> bool:
        if not self.noted:
            return True
        return self.seconds > 0 and self.time.seconds - self.noted[0].at < min(self.seconds, LONGEST_SECONDS)

    def connected(self) -> Connection:
        return Connection(self)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Puts itself in the place of the sockets of ``http.client`` and of httpx."""

        def connect(*_: Any, **__: Any) -> Any:
            return _Socket(self.connected())

        async def connect_tcp(*_: Any, **__: Any) -> Any:
            return _Stream(self.connected())

        patch.setattr(socket, "create_connection", connect)
        patch.setattr(AutoBackend, "connect_tcp", connect_tcp)


class Connection:
    """One connection. A whole request is answered; what follows the end of its answers is nothing."""

    def __init__(self, network: FaultyNetwork) -> None:
        self.time, self._network = network.time, network
        self._heard, self._pieces, self._is_closed = b"", deque[Piece](), False

    def send(self, data: bytes) -> None:
        if self._is_closed:
            raise BrokenPipeError("Broken pipe")
        self._heard += data
        head, end, content = self._heard.partition(b"\r\n\r\n")
        if not end:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
        length = int(headers.get("content-length", "0"))
        if len(content) < length:
            return
        method, path, _ = first.split(" ")
        self._heard = content[length:]
        self._pieces += self._network.answered(Received(method, path, headers, content[:length]))

    def next(self) -> Piece:
        """Returns the next piece, which the caller waits for."""
        if self._is_closed:
            return Piece(b"")
        return self._pieces.popleft() if self._pieces else Piece(b"", NEVER)

    def put_back(self, piece: Piece) -> None:
        self._pieces.appendleft(piece)

    def taken(self, piece: Piece, most: int) -> bytes:
        """Returns the bytes of a piece that has come. Raises ``ConnectionResetError``."""
        if piece.content is None:
            self._is_closed = True
            raise ConnectionResetError("Connection reset by peer")
        self._is_closed = self._is_closed or not piece.content
        if len(piece.content) > most:
            self.put_back(Piece(piece.content[most:]))
        return piece.content[:most]


class _Socket:
    """A socket of threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._timeout = connection, NEVER

    def settimeout(self, seconds: float) -> None:
        self._timeout = seconds

    def setsockopt(self, *_: Any) -> None:
        """Does nothing."""

    def sendall(self, data: bytes) -> None:
        self._connection.send(bytes(data))

    def makefile(self, *_: Any, **__: Any) -> RawIOBase:
        return _File(self)

    def close(self) -> None:
        """Does nothing: whoever connects again gets another one."""

    def read(self, most: int) -> bytes:
        piece = self._connection.next()
        if piece.seconds > self._timeout:
            self._connection.put_back(Piece(piece.content, piece.seconds - self._timeout))
            self._connection.time.sleep(self._timeout)
            raise TimeoutError
        self._connection.time.sleep(piece.seconds)
        return self._connection.taken(piece, most)


class _File(RawIOBase):
    def __init__(self, wire: _Socket) -> None:
        super().__init__()
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._wire.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)


class _Stream(httpcore.AsyncNetworkStream):
    """A socket of tasks."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's name
        piece = self._connection.next()
        await (anyio.sleep(piece.seconds) if piece.seconds < NEVER else anyio.sleep_forever())
        try:
            return self._connection.taken(piece, max_bytes)
        except OSError as exc:
            raise httpcore.ReadError(str(exc)) from exc

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore's name
        try:
            self._connection.send(buffer)
        except OSError as exc:
            raise httpcore.WriteError(str(exc)) from exc

    async def aclose(self) -> None:
        """Does nothing."""

    def get_extra_info(self, info: str) -> Any:
        return False if info == "is_readable" else None


def _written(answer: Sent) -> bytes:
    headers = [*answer.headers]
    if answer.status != 204 and "content-length" not in {name.lower() for name, _ in headers}:
        headers.append(("Content-Length", str(len(answer.content))))
    lines = [f"HTTP/1.1 {answer.status} Status", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + answer.content
