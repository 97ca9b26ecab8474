"""The gateway of template.yaml as a WSGI application: a request becomes an event, and the function's answer comes back,
all in this process and without any time passing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from support.gateway import Gateway, gateway_event, route_of

StartResponse = Callable[[str, list[tuple[str, str]]], object]
Application = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


@dataclass
class Door:
    gateway: Gateway

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        answer = self.answer(environ)
        status = HTTPStatus(answer["statusCode"])
        start_response(f"{status.value} {status.phrase}", list(answer["headers"].items()))
        return [answer.get("body", "").encode()]

    def answer(self, environ: dict[str, Any]) -> dict[str, Any]:
        """In API Gateway's payload format 2.0."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"].encode("latin-1").decode(errors="replace")
        headers, route = dict(_headers(environ)), route_of(method, path)
        body = environ["wsgi.input"].read() or None
        return self.gateway.handle(
            route, gateway_event(None, method, path, body, query=environ["QUERY_STRING"], headers=headers)
        )


def _headers(environ: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for name, value in environ.items():
        if name.startswith("HTTP_") or name == "CONTENT_TYPE":
            yield name.removeprefix("HTTP_").replace("_", "-").lower(), value
