"""The MCP door over HTTP, in this process. The suite can't send a token, so that this adds one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from mcp_door.handler import Door, refused, routes
from support.gateway import Gateway
from support.values.tokens import bearer
from support.worlds.http_agents import HttpAgents
from support.worlds.world import World, agent

CALLER = agent("architect")


class Server(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """The suite drops connections that it needs no longer."""


@contextmanager
def serving() -> Iterator[str]:
    """Yields the door's address."""
    gateway = Gateway(World().deps)
    HttpAgents(gateway).hire()
    gateway.admit(CALLER)
    door, lock = Door(routes, lambda: gateway.deps, refused=refused), Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            with lock:
                answer = door(_event(self, body))
            content = answer.get("body", "").encode()
            self.send_response(answer["statusCode"])
            for name, value in {**answer["headers"], "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815 - the server's own names

        def log_message(self, *_: Any) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()


def _event(request: BaseHTTPRequestHandler, body: str) -> dict[str, Any]:
    path, _, query = request.path.partition("?")
    headers = {name.lower(): value for name, value in request.headers.items()}
    return {
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"authorization": bearer(CALLER), **headers},
        "requestContext": {"http": {"method": request.command}, "requestId": "conformance"},
        "body": body,
    }
