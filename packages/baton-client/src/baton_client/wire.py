"""The wire of threads: HTTP by the standard library, as httpx alone takes longer to load than a command may
(decision 103). A request is sent once, follows no redirect, keeps no cookie, and has one deadline for all its bytes."""

from __future__ import annotations

import base64
import http.client
import io
import os
import socket
import ssl
import threading
import time
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from baton_client.core import MOST_BYTES, Answer, Request, answer_of, sound

LOOPBACK = "127.0.0.1"
MOST_HINTS = 20
_IDLE_CLOSED = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)


class Wires:
    """The connections to one API, kept open between requests. For any number of threads: each request has a connection
    of its own."""

    def __init__(self, url: str, token: str, agent: str) -> None:
        """``agent``: the program, as its ``User-Agent`` says it."""
        self._url, self._token, self._agent = urlsplit(url), sound(token), agent
        self._idle: list[_Connection] = []
        self._is_closed = False
        self._lock = threading.Lock()

    def send(self, request: Request[Any], seconds: float) -> Answer:
        """Returns the answer, or one of status 0: then it isn't known whether the request took effect."""
        begun_at = time.monotonic()
        while True:
            # One that was idle may be closed by now, and nobody would know whether the request has arrived.
            with self._lock:
                idle = self._idle.pop() if self._idle and request.may_repeat else None
            connection = idle or _Connection(self._url)
            try:
                return self._exchanged(connection, request, begun_at, seconds)
            except (OSError, http.client.HTTPException, ValueError) as exc:
                if idle is not None and isinstance(exc, _IDLE_CLOSED) and time.monotonic() < begun_at + seconds:
                    continue
                said = "it didn't answer in time" if isinstance(exc, TimeoutError) else str(exc) or type(exc).__name__
                return Answer(why=said, took=time.monotonic() - begun_at, url=self._url.geturl())

    def close(self) -> None:
        with self._lock:
            idle, self._idle, self._is_closed = self._idle, [], True
        for each in idle:
            each.close()

    def _exchanged(self, connection: _Connection, request: Request[Any], begun_at: float, seconds: float) -> Answer:
        headers = {"Host": self._url.netloc} | request.headers_for(self._token, self._agent)
        answer, is_whole = Answer(why="the answer was cut short", url=self._url.geturl()), False
        try:
            connection.until = begun_at + seconds
            connection.request(request.method, self._url.path + request.path, request.content, headers)
            response = connection.getresponse()
            content = response.read(MOST_BYTES + 1)
            is_whole = response.isclosed() and not response.will_close
            if len(content) > MOST_BYTES or not response.length:
                found = {name.lower(): value for name, value in response.getheaders()}
                answer = answer_of(request, self._url.geturl(), response.status, found, content)
        finally:
            # An interrupt leaves half an answer on the connection, and another program's answer may be of any length.
            self._keep(connection) if is_whole and answer.status else connection.close()
        return answer._replace(took=time.monotonic() - begun_at)

    def _keep(self, connection: _Connection) -> None:
        with self._lock:
            if not self._is_closed:
                self._idle.append(connection)
                return
        connection.close()


class _Response(http.client.HTTPResponse):
    def _read_status(self) -> tuple[str, int, str]:
        """Passes over answers before the answer, as 103 Early Hints. The library does so for 100 alone."""
        for _ in range(MOST_HINTS):
            found = super()._read_status()  # type: ignore[misc]
            if not 102 <= found[1] < 200:
                return found  # type: ignore[no-any-return]
            http.client.parse_headers(self.fp)
        raise http.client.HTTPException("only answers before the answer came")


class _Connection(http.client.HTTPConnection):
    """``until``: when all of the exchange has to be over, by the monotonic clock."""

    response_class = _Response
    until = 0.0

    def __init__(self, url: SplitResult) -> None:
        host = url.hostname or ""
        # Not every resolver knows *.localhost, which is this machine.
        here = LOOPBACK if host.endswith(".localhost") else host
        self._tls = url.scheme == "https"
        port, proxy = url.port or (443 if self._tls else 80), _proxy(here) if self._tls else None
        super().__init__(proxy.hostname or "" if proxy else here, proxy.port or 80 if proxy else port)
        self._named = here
        if proxy is not None:
            self.set_tunnel(here, port, headers=_proxy_headers(proxy))

    def connect(self) -> None:
        self.timeout = self.left()
        super().connect()
        if self._tls:
            self.sock.settimeout(self.left())
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self._named)
        self.sock = _DeadlineSocket(self.sock, self)

    def left(self) -> float:
        """Returns the seconds until the deadline. Raises ``TimeoutError``."""
        if (left := self.until - time.monotonic()) <= 0:
            raise TimeoutError
        return left


class _DeadlineSocket:
    """What ``http.client`` uses of a socket. Each read and write has only what is left of the deadline."""

    def __init__(self, wire: socket.socket, connection: _Connection) -> None:
        self._wire, self._connection = wire, connection

    def sendall(self, data: Any) -> None:
        self._wire.settimeout(self._connection.left())
        self._wire.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self._wire, self._connection))

    def close(self) -> None:
        self._wire.close()


class _Reader(io.RawIOBase):
    def __init__(self, wire: socket.socket, connection: _Connection) -> None:
        super().__init__()
        self._wire, self._connection = wire, connection
        self._file = wire.makefile("rb", buffering=0)  # the wire stays open until this is closed, too

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._wire.settimeout(self._connection.left())
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


def _proxy(host: str) -> SplitResult | None:
    """What HTTPS_PROXY names, unless NO_PROXY names the host."""
    if not (os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy")):
        return None
    from urllib.request import getproxies, proxy_bypass  # takes long to load

    found = getproxies().get("https", "")
    if not found or proxy_bypass(host):
        return None
    return urlsplit(found if "//" in found else f"//{found}")


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    said = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(said.encode()).decode()}"}
