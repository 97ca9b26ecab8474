"""Every route over HTTP, in this process. Each answer is checked against docs/openapi.json."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from rest.routing import Endpoint
from support.gateway import Gateway, Reply, event_of, route_of, sent, undocumented
from support.http_server import served


@dataclass
class HttpApi:
    """``served``: the routes that were asked for, in order. ``wrong``: the differences of answers from
    docs/openapi.json."""

    gateway: Gateway
    url: str = ""
    served: list[Endpoint] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def answer(self, event: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            route = route_of(event["requestContext"]["http"]["method"], event["rawPath"])
            answer = self.gateway.handle(route, event)
            if answer["statusCode"] >= 500:  # a 500 would make a client repeat the request
                self.wrong.append(f"{event['rawPath']}: {answer['body']}")
                return {**answer, "statusCode": 400}
            if route is not None:
                self.served.append(route)
                self.wrong += undocumented(
                    route, Reply(answer["statusCode"], answer["headers"], answer.get("body", ""))
                )
        return answer


@contextmanager
def http_api(gateway: Gateway) -> Iterator[HttpApi]:
    api = HttpApi(gateway)
    with served(lambda request: sent(api.answer(event_of(request)))) as api.url:
        yield api
    assert api.wrong == []
