"""The API and its MCP door over HTTP, in this process. A request without a token is an architect's: the conformance
suite can't send one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from api import handler as api
from mcp_door.handler import Door, refused, routes
from rest.app import App
from support.gateway import Gateway
from support.values.tokens import bearer
from support.worlds.http_agents import HttpAgents
from support.worlds.world import World, agent

CALLER = agent("architect")


class Server(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """The suite drops connections that it needs no longer."""


@contextmanager
def serving() -> Iterator[tuple[str, HttpAgents]]:
    """Yields the API's address, and the agents at work there."""
    gateway = Gateway(World().deps)
    agents, lock = HttpAgents(gateway).hire(), Lock()
    gateway.admit(CALLER)
    door = Door(routes, lambda: gateway.deps, refused=refused)
    rest = App(api.routes, lambda: gateway.deps, elsewhere=api.ELSEWHERE)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            event = _event(self, body)
            with lock:
                answer = (door if event["rawPath"] == "/mcp" else rest)(event)
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
        yield f"http://127.0.0.1:{server.server_port}", agents
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
