"""The console and the API that it asks, over HTTP in this process, by the real clock: what a browser is pointed at."""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from baton.adapters.lexical_search import LexicalSearch
from baton.adapters.system import SystemClock
from baton.domain.access.principal import Principal
from console import handler as console
from support.gateway import Gateway, route_of
from support.values.tokens import bearer
from support.worlds.http_agents import HttpAgents
from support.worlds.world import World


@dataclass
class ConsoleServer:
    """``is_away``: answers nothing while it is set, as a network that is down. ``answered``: each request so far, with
    its status."""

    gateway: Gateway
    agents: HttpAgents
    url: str = ""
    is_away: bool = False
    answered: list[tuple[str, int]] = field(default_factory=list)

    def token(self, by: Principal) -> str:
        self.gateway.admit(by)
        return bearer(by).removeprefix("Bearer ")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A browser drops connections that it needs no longer."""


@contextmanager
def serving(approval: str = "manual") -> Iterator[ConsoleServer]:
    """Yields the console's server with a workspace in which agents are hired."""
    world, clock = World(), SystemClock()
    deps = replace(world.deps, clock=clock, search=LexicalSearch(world.store, clock))
    gateway = Gateway(deps)
    served = ConsoleServer(gateway, HttpAgents(gateway).hire(approval))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            if served.is_away:
                self.close_connection = True
                return
            answer = _answered(gateway, _event(self, body))
            served.answered.append((f"{self.command} {self.path}", answer["statusCode"]))
            _send(self, answer)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the server's own names

        def log_message(self, *_: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    served.url = f"http://127.0.0.1:{server.server_port}/console/"
    logging.getLogger("service_undefined").setLevel(logging.CRITICAL)
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()


def _answered(gateway: Gateway, event: dict[str, Any]) -> dict[str, Any]:
    if console.is_for_console(event):
        return console.lambda_handler(event, None)
    return gateway.handle(route_of(event["requestContext"]["http"]["method"], event["rawPath"]), event)


def _event(request: BaseHTTPRequestHandler, body: str) -> dict[str, Any]:
    path, _, query = request.path.partition("?")
    return {
        "rawPath": path,
        "rawQueryString": query,
        "headers": {name.lower(): value for name, value in request.headers.items()},
        "requestContext": {"http": {"method": request.command, "path": path}, "requestId": "console"},
        "isBase64Encoded": False,
        "body": body,
    }


def _send(request: BaseHTTPRequestHandler, answer: dict[str, Any]) -> None:
    text = answer.get("body", "")
    content = base64.b64decode(text) if answer.get("isBase64Encoded") else text.encode()
    request.send_response(answer["statusCode"])
    for name, value in answer["headers"].items():
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)
