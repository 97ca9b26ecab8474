"""Verbs as a function gets them: a gateway's event with a token, through routes and checks to the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from api import handler as api
from baton.domain.access.principal import Principal
from create_handoff_marker import handler as create_handoff_marker
from rest.app import App
from support.values.tokens import bearer, token_of, who
from tools.bench.office import Office, Verb

MARKER_PATH = "/handoff-markers"
# A process knows a token, and what its workspace is set to, from earlier requests.
EARLIER_REQUESTS = 3


def at_the_edge(verb: Verb, office: Office, key: str | None = None) -> Callable[[], object]:
    """Returns what sends the verb's request once, by a caller that this process knows."""
    if verb.request is None:
        raise ValueError(f"{verb.name} isn't sent over HTTP")
    by, method, path, body = verb.request(office)
    event = _event(by, method, path, body, key)
    routes = create_handoff_marker.routes if path == MARKER_PATH else api.routes
    app = App(routes, lambda: office.deps)
    office.store.tokens.add_token(token_of(by))
    for _ in range(EARLIER_REQUESTS):
        who(office.deps, bearer(by))

    def answer() -> None:
        answered = app(event)
        if answered["statusCode"] >= 400:
            raise RuntimeError(f"{verb.name} was answered with {answered}")

    return answer


def _event(by: Principal, method: str, path: str, body: Any, key: str | None) -> dict[str, Any]:
    """API Gateway's payload format 2.0, with what a request usually brings."""
    headers = {"content-type": "application/json", "authorization": bearer(by), "user-agent": "bench"}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": headers if key is None else {**headers, "idempotency-key": key},
        "requestContext": {
            "http": {"method": method, "path": path},
            "requestId": "JKJaXmPLvHcESHA=",
            "stage": "$default",
        },
        "isBase64Encoded": False,
        **({} if body is None else {"body": json.dumps(body)}),
    }
