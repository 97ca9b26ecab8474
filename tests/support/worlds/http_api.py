"""Every route over HTTP, in this process; each answer is checked against docs/openapi.json on its way back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from rest.routing import Endpoint
from support.gateway import Gateway, Reply, route_of, undocumented


@dataclass
class HttpApi:
    """``served``: the routes that were asked for, in order. ``wrong``: how answers differ from the document."""

    gateway: Gateway
    url: str = ""
    served: list[Endpoint] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def answer(self, event: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            route = route_of(event["requestContext"]["http"]["method"], event["rawPath"])
            answer = self.gateway.handle(route, event)
            if answer["statusCode"] >= 500:  # a client would try again and again
                self.wrong.append(f"{event['rawPath']}: {answer['body']}")
                return {**answer, "statusCode": 400}
            if route is not None:
                self.served.append(route)
                self.wrong += undocumented(
                    route, Reply(answer["statusCode"], answer["headers"], answer.get("body", ""))
                )
        return answer


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that was interrupted leaves its connection."""


@contextmanager
def http_api(gateway: Gateway) -> Iterator[HttpApi]:
    api = HttpApi(gateway)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = api.answer(_event(self, body.decode()))
            content = answer.get("body", "").encode()
            self.send_response(answer["statusCode"])
            for name, value in {**answer["headers"], "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the server's own names

        def log_message(self, *_: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    api.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        assert api.wrong == []


def _event(request: BaseHTTPRequestHandler, body: str) -> dict[str, Any]:
    path, _, query = request.path.partition("?")
    http = {"method": request.command, "path": path}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {name.lower(): value for name, value in request.headers.items()},
        "requestContext": {"http": http, "requestId": "gateway-1", "stage": "$default"},
        "isBase64Encoded": False,
        **({"body": body} if body else {}),
    }
