"""The gateway of template.yaml, in this process. It makes events of requests, and checks every answer against
docs/openapi.json."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import Any

from api import handler as api
from baton.adapters.dynamodb.store import DynamoStore
from baton.domain import numbers
from baton.domain.access.principal import Principal
from baton.ports.deps import Deps
from create_handoff_marker import handler as create_handoff_marker
from mcp_door import handler as mcp_door
from notion_webhook import handler as notion_webhook
from rest.app import App
from rest.routing import Endpoint, Routes
from support.fakes.fake_dynamo import FakeDynamo
from support.http_server import Received, Sent
from support.values.schema import DOCUMENT, resolved, violations
from support.values.tokens import bearer, give_token
from wait import handler as wait

FUNCTIONS: list[Routes] = [each.routes for each in (create_handoff_marker, wait, notion_webhook, mcp_door, api)]
ROUTES: list[Endpoint] = [route for routes in FUNCTIONS for route in routes]


def gateway_event(
    by: Principal | None,
    method: str,
    path: str,
    body: Any = None,
    *,
    query: str = "",
    headers: dict[str, str] | None = None,
) -> dict[str, Any]:
    """API Gateway's payload format 2.0, with the caller's token. ``body``: bytes travel in base 64, texts as they are,
    the rest as JSON."""
    text = body if isinstance(body, str | bytes | None) else numbers.dumps(body)
    is_encoded = isinstance(text, bytes)
    context: dict[str, Any] = {"http": {"method": method, "path": path}, "requestId": "gateway-1", "stage": "$default"}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {**(headers or {}), **({} if by is None else {"authorization": bearer(by)})},
        "requestContext": context,
        "isBase64Encoded": is_encoded,
        **({} if text is None else {"body": base64.b64encode(text).decode() if isinstance(text, bytes) else text}),
    }


def event_of(request: Received) -> dict[str, Any]:
    """Returns the event that the gateway makes of a request over HTTP."""
    path, _, query = request.path.partition("?")
    text = request.content.decode() or None
    return gateway_event(None, request.method, path, text, query=query, headers=request.headers)


def sent(answer: dict[str, Any]) -> Sent:
    """A function's answer, as the gateway sends it."""
    text = answer.get("body", "")
    content = base64.b64decode(text) if answer.get("isBase64Encoded") else text.encode()
    cookies = [("Set-Cookie", each) for each in answer.get("cookies", ())]
    return Sent(answer["statusCode"], [*answer["headers"].items(), *cookies], content)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def problem(self) -> Any:
        """Where the answer is an error of JSON-RPC, it is in its data."""
        return self.json["error"]["data"] if "jsonrpc" in self.json else self.json

    @property
    def code(self) -> str:
        """Of a problem."""
        return str(self.problem["code"])

    @property
    def fields(self) -> list[str]:
        """That a problem names."""
        return [error["field"] for error in self.problem["errors"]]


@dataclass
class Gateway:
    deps: Deps
    replies: list[Reply] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._marker = App(create_handoff_marker.routes, self._wire, refused=create_handoff_marker.refused)
        self._wait = App(wait.routes, self._wire)
        self._webhook = App(notion_webhook.routes, self._wire)
        self._door = mcp_door.McpApp(mcp_door.routes, self._wire, refused=mcp_door.refused)
        self._api = App(api.routes, self._wire, elsewhere=api.ELSEWHERE)

    def _wire(self) -> Deps:
        return self.deps

    def send(self, by: Principal | None, method: str, path: str, body: Any = None, **options: Any) -> Reply:
        self.admit(by)
        event = gateway_event(by, method, path, body, **options)
        route = route_of(method, path)
        answer = self.handle(route, event)
        reply = Reply(answer["statusCode"], answer["headers"], answer.get("body", ""))
        self.replies.append(reply)
        if route is not None:
            assert list(undocumented(route, reply)) == []
        return reply

    def admit(self, by: Principal | None) -> None:
        """Gives the caller its token, if the store has a table."""
        dynamo = _dynamo(self.deps.store)
        if by is not None and dynamo is not None:
            give_token(dynamo, by)

    def handle(self, route: Endpoint | None, event: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer of the route's function, as it is."""
        return self._app(route)(event)

    def get(self, by: Principal, path: str, **options: Any) -> Reply:
        return self.send(by, "GET", path, **options)

    def post(self, by: Principal, path: str, body: Any = None, **options: Any) -> Reply:
        return self.send(by, "POST", path, body, **options)

    def put(self, by: Principal, path: str, body: Any = None, **options: Any) -> Reply:
        return self.send(by, "PUT", path, body, **options)

    def delete(self, by: Principal, path: str, **options: Any) -> Reply:
        return self.send(by, "DELETE", path, **options)

    def _app(self, route: Endpoint | None) -> App:
        if route in create_handoff_marker.routes.all:
            return self._marker
        if route in notion_webhook.routes.all:
            return self._webhook
        if route in mcp_door.routes.all:
            return self._door
        return self._wait if route in wait.routes.all else self._api


def _dynamo(store: Any) -> FakeDynamo | None:
    """Returns the table behind a store, through any wrappers."""
    while not isinstance(store, DynamoStore):
        store = vars(store).get("_store") or vars(store).get("inner")
        if store is None:
            return None
    client: Any = store._table._client
    while not isinstance(client, FakeDynamo):
        client = vars(client).get("client", vars(client).get("inner"))
        if client is None:
            return None
    found: FakeDynamo = client
    return found


def route_of(method: str, path: str) -> Endpoint | None:
    found = filter(None, (routes.find(method, path) for routes in FUNCTIONS))
    return next((route for route, _ in found), None)


def undocumented(route: Endpoint, reply: Reply) -> list[str]:
    """How a reply differs from what docs/openapi.json says of its route."""
    operation = DOCUMENT["paths"].get(route.shown_path, {}).get(route.method.lower())
    if operation is None:
        return [f"{route.method} {route.path} isn't in docs/openapi.json: run `make openapi`"]
    responses = operation["responses"]
    if str(reply.status) not in responses:
        return [f"{route.method} {route.path}: {reply.status} isn't documented: {reply.text}"]
    content = resolved(responses[str(reply.status)]).get("content")
    if content is None:
        return [f"{route.path}: a body"] if reply.text else []
    content_type = reply.headers["Content-Type"].partition(";")[0]
    if content_type not in content:
        return [f"{route.path}: {content_type} isn't documented"]
    if content_type == "text/plain":
        return []
    return list(violations(reply.json, content[content_type]["schema"], route.path))
