"""An address of this machine before the deployed API, for programs that can't send its name or a token; it can be
shut."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from stack import Stack

# Of one connection, not of the message; and what this server says itself.
_HOPS = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}
_OWN = {"date", "server"}


@dataclass(frozen=True)
class Doorway:
    url: str
    closed: Event = field(default_factory=Event, repr=False)

    @contextmanager
    def shut(self) -> Iterator[None]:
        """Nobody gets an answer meanwhile."""
        self.closed.set()
        try:
            yield
        finally:
            self.closed.clear()


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """Clients drop connections that they need no longer."""


@contextmanager
def doorway(stack: Stack, token: str | None = None) -> Iterator[Doorway]:
    """``token``: for requests that bring none."""
    server = _Server(("127.0.0.1", 0), BaseHTTPRequestHandler)
    made = Doorway(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = _passing(made, stack.api_url, token)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


def _passing(door: Doorway, api_url: str, token: str | None) -> type[BaseHTTPRequestHandler]:
    """Passes requests and answers on as they are. Pages of this address are the API's own: their origin is told as
    its."""
    api = urlsplit(api_url)
    own_pages = dict.fromkeys((door.url, door.url.replace("127.0.0.1", "localhost")), f"http://{api.netloc}")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if door.closed.is_set():
                self.close_connection = True
                return
            with closing(HTTPConnection("127.0.0.1", api.port or 80, timeout=60)) as connection:
                connection.request(self.command, self.path, body, self._sent())
                told = connection.getresponse()
                content = told.read()
            self.send_response(told.status)
            for name, value in told.getheaders():
                if name.lower() not in _HOPS | _OWN:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _sent(self) -> dict[str, str]:
            given = {name.lower(): value for name, value in self.headers.items() if name.lower() not in _HOPS}
            if given.get("origin") in own_pages:
                given["origin"] = own_pages[given["origin"]]
            if token:
                given.setdefault("authorization", f"Bearer {token}")
            return {**given, "Host": api.netloc}

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the server's own names

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    return Handler
