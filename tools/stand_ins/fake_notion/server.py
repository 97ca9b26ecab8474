"""The fake as an HTTP server on this machine: the API under /v1, `/control`, and a web page at `/`."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qsl, urlsplit

from tools.stack.front_door import refusal
from tools.stand_ins.fake_notion import control, web
from tools.stand_ins.fake_notion.errors import NotionError, Reply
from tools.stand_ins.fake_notion.fake import FakeNotion
from tools.stand_ins.fake_notion.faults import Refused, ReplyLost

MAX_BODY = 1_000_000
IDLE_SECONDS = 60
DRIPS = 20


class Server:
    """Serves from a thread of its own until it is stopped."""

    def __init__(self, fake: FakeNotion, port: int = 0) -> None:
        handler = type("Handler", (_Handler,), {"fake": fake})
        self._fake = fake
        self._http = _Listener(("127.0.0.1", port), handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="fake-notion", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        self._fake.postman.stop()


@contextmanager
def serve(fake: FakeNotion, port: int = 0) -> Iterator[Server]:
    """On 127.0.0.1 only. Raises OSError if the port is taken."""
    server = Server(fake, port)
    try:
        yield server
    finally:
        server.stop()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Without a traceback where a client has only hung up."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    fake: ClassVar[FakeNotion]
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "FakeNotion", ""
    disable_nagle_algorithm = True
    wbufsize = 65536
    timeout = IDLE_SECONDS

    def _respond(self) -> None:
        body = self._body()
        if body is None:
            return
        try:
            self._send(self._reply(body))
        except (Refused, ReplyLost):
            self.close_connection = True

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _respond  # noqa: N815 (names that http.server looks for)

    def _reply(self, body: bytes) -> Reply:
        refused = refusal(self.command, self.headers.items())
        if refused is not None:
            return NotionError(403, refused).reply()
        url = urlsplit(self.path)
        parts = url.path.removeprefix("/").split("/")
        asked = dict(parse_qsl(url.query, keep_blank_values=True))
        if parts[0] == "v1":
            return self.fake.handle(self.command, url.path, asked, dict(self.headers.items()), body)
        if parts[0] == "control":
            return control.respond(self.fake, self.command, parts[1:], asked, body)
        return web.respond(self.fake, self.command, parts, body)

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            self._send(NotionError(413, f"A body has a Content-Length of at most {MAX_BODY}.").reply())
            return None
        return self.rfile.read(int(length))

    def _send(self, reply: Reply) -> None:
        time.sleep(reply.delay)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        step = -(-len(reply.body) // DRIPS) if reply.drip else len(reply.body)
        for start in range(0, len(reply.body), step or 1):
            self.wfile.write(reply.body[start : start + step])
            self.wfile.flush()
            time.sleep(reply.drip / DRIPS)

    def log_message(self, *_: object) -> None:
        """Say nothing: requests carry tokens, and the page shows what happened."""
