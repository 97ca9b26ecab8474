"""An HTTP server on loopback, in this process. A function answers its requests."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from pathlib import Path
from threading import Thread
from typing import Any


@dataclass(frozen=True)
class Received:
    """``path``: with its query. ``headers``: their names in lower case. ``port``: the client's, one per connection."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes
    port: int = 0

    @property
    def body(self) -> Any:
        """The JSON that came, None if nothing did."""
        return json.loads(self.content) if self.content else None


@dataclass(frozen=True)
class Sent:
    """``headers``: a name may be there several times. Its content's length is told unless they do."""

    status: int
    headers: Iterable[tuple[str, str]]
    content: bytes


# None hangs up; a function writes the whole answer itself, and then hangs up.
Answer = Sent | Callable[[BufferedIOBase], None] | None


@contextmanager
def served(answer: Callable[[Received], Answer], certificate: Path | None = None) -> Iterator[str]:
    """Yields the server's address. ``answer`` is called by many threads at once."""
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"answered": staticmethod(answer)}))
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: Any) -> None:
        """Ignores errors: clients hang up, and some are killed."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer's headers and its content are two writes: the second would wait for the client's word on the first.
    disable_nagle_algorithm = True
    answered: Callable[[Received], Answer]

    def answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.answered(Received(self.command, self.path, headers, content, self.client_address[1]))
        if isinstance(answer, Sent):
            self._send(answer)
            return
        self.close_connection = True
        if answer is not None:
            answer(self.wfile)

    do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the server's own names

    def _send(self, sent: Sent) -> None:
        headers = list(sent.headers)
        if "content-length" not in {name.lower() for name, _ in headers}:
            headers.append(("Content-Length", str(len(sent.content))))
        self.send_response(sent.status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent.content)

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""
