"""What a scenario does: requests through the gateway, schedules, messages and the stream, one after the other. All
of it is kept, with what came of it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from golden.environment import ENVIRONMENT, Environment
from golden.readable import readable_item, readable_message
from support.published import bell_records, stream_records
from support.sqs import sqs_batch

DOCUMENT = Path(__file__).parents[2] / "docs/openapi.json"
# What the gateway sends elsewhere than to the API's function.
ELSEWHERE = (
    ("create_handoff_marker", r"POST /handoff-markers"),
    ("wait", r"GET /tasks/[^/]+/await|GET /tasks/[^/]+/events/wait|POST /agents/[^/]+/claims/wait"),
    ("mcp_door", r".* /mcp|GET /(mcp/)?\.well-known/.*"),
    ("notion_webhook", r"POST /notion/webhook/[^/]+"),
)
WORKSPACE = "acme"
# Texts that are sent are shown in full up to that many characters.
LONG = 2_000
# Of every answer: an answer's own are shown beside it, and what is missing of these.
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Type": "application/json",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": "gateway-1",
}
TAGGED = {("Cache-Control", "private, no-cache"), ("Vary", "Accept, Authorization, Baton-Session")}
SCOPES = {"human": "act_as", "service": "act_as", "agent": ""}

CREW: dict[str, dict[str, Any]] = {
    "scout": {"name": "Scout"},
    "auditor": {"name": "Client Repo Auditor", "aliases": ["Auditor"], "accepts": ["repo"], "produces": ["report"]},
    "fixer": {"name": "Fixer", "accepts": ["report"], "produces": ["fix"], "max_concurrent": 2, "dispatch_rank": 5},
    "runner": {
        "name": "Runner",
        "runtime": "run",
        "approval": "auto",
        "model": "bedrock:golden-model",
        "system_prompt": "You run errands.",
    },
}


class Play:
    """A caller is ``<kind>:<id>``, of another workspace with ``@<workspace>``, and None without a token."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._steps: list[dict[str, Any]] = []
        self._before: dict[tuple[str, str], Any] = {}
        self._is_quiet = False
        self.tag = ""  # of the last answer that had one

    # The doors

    def __call__(
        self,
        by: str | None,
        request: str,
        body: Any = None,
        *,
        key: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """``request``: method and path with its query; ``key``: the Idempotency-Key. The answer's body."""
        sent = {**(headers or {}), **({"idempotency-key": key} if key else {})}
        event = gateway_event(request, body, {**sent, **self._shown(by)})
        answer = self.environment.invoke(function_of(request), event)
        self.tag = answer["headers"].get("ETag", self.tag)
        self._tell(
            request=f"{request} by {by}",
            operation=operation_of(request),
            sent=f"{body[:20]}… ({len(body)} characters)" if isinstance(body, str) and len(body) > LONG else body,
            sent_headers=sent,
            status=answer["statusCode"],
            headers=unusual(answer["headers"]),
            answer=parsed(answer.get("body", "")),
        )
        return parsed(answer.get("body", ""))

    def sweep(self) -> Any:
        return self._invoked("sweep_stale_claims", {})

    def publish(self) -> Any:
        """By the schedule."""
        return self._invoked("publish_events", {})

    def stream(self) -> Any:
        """What the table's stream has brought since."""
        records = stream_records(self.environment.stream)
        self.environment.stream.clear()
        return self._invoked("publish_events", {"Records": records}, shown={"records": len(records)})

    def ring(self, *bodies: str) -> Any:
        """What waits in the queue of notices; or else these messages."""
        return self._received("process_task", "BATON_QUEUE_URL", bodies)

    def ring_until_quiet(self) -> None:
        """Each notice at its time."""
        while waiting := self.environment.queues.waiting:
            self.wait(max(each.get("DelaySeconds", 0) for each in waiting))
            self.ring()

    def sync(self, *bodies: str) -> Any:
        """The same of the tracker's."""
        return self._received("sync_tracker", "BATON_TRACKER_QUEUE_URL", bodies)

    def connect(self, by: str | None, connection: str, topic: str, **headers: str) -> Any:
        """To the bell."""
        event = {"headers": {**headers, **self._shown(by)}, "queryStringParameters": {"listen": topic}}
        return self._listening("$connect", connection, event, f"listen to {topic} by {by}")

    def look(self, connection: str) -> Any:
        return self._listening("$default", connection, {"body": json.dumps({"action": "look"})}, "look")

    def disconnect(self, connection: str) -> Any:
        return self._listening("$disconnect", connection, {}, "leave")

    def _listening(self, route: str, connection: str, event: dict[str, Any], shown: str) -> Any:
        about = {"connectionId": connection, "routeKey": route, "requestId": "gateway-1"}
        return self._invoked("listen", {**event, "requestContext": about}, f"{shown}, as {connection}")

    def ring_the_bell(self, *bodies: str) -> Any:
        """For what the table's stream has brought since, or else for these looks."""
        if bodies:
            return self._invoked("ring", sqs_batch(bodies), shown={"messages": list(bodies)})
        records = bell_records(self.environment.stream)
        self.environment.stream.clear()
        return self._invoked("ring", {"Records": records}, shown={"records": len(records)}) if records else None

    def wait(self, seconds: float) -> None:
        self.environment.clock.advance(seconds)

    # What there is to begin with

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """What is done here is no part of the scenario, and neither is what it stores."""
        self._is_quiet = True
        yield
        self._is_quiet = False
        self._before = self._items()

    def crew(self, *slugs: str, **settings: Any) -> None:
        with self.quietly():
            for slug in slugs:
                self("human:alice", f"PUT /agents/{slug}", CREW[slug])
            if settings:
                self("human:alice", "PUT /workspace/settings", settings)

    # What came of it

    def told(self) -> dict[str, Any]:
        told = {
            "steps": self._steps,
            "stored": self._stored(),
            "messages": self.environment.queues.sent,
            "connections": self.environment.connections.sent,
            "bus": list(map(readable_message, self.environment.events.entries)),
            "model": self.environment.bedrock.asked,
            "notion": [
                {"request": f"{call.method} {call.path}", "body": call.body}
                for call in self.environment.notion.requests
            ],
        }
        return {name: value for name, value in told.items() if value}

    def _shown(self, by: str | None) -> dict[str, str]:
        """The header of the caller's token."""
        if by is None:
            return {}
        kind, _, name = by.partition(":")
        name, _, workspace = name.partition("@")
        scopes = frozenset(filter(None, [SCOPES[kind]]))
        return {"authorization": self.environment.bearer(workspace or WORKSPACE, kind, name, scopes)}

    def _invoked(self, function: str, event: dict[str, Any], shown: Any = None) -> Any:
        answer = self.environment.invoke(function, event)
        self._tell(function=function, event=event if shown is None else shown, answer=answer)
        return answer

    def _received(self, function: str, queue: str, bodies: Sequence[str]) -> Any:
        bodies = bodies or [each["MessageBody"] for each in self.environment.queues.receive(ENVIRONMENT[queue])]
        return self._invoked(function, sqs_batch(bodies), shown={"messages": list(bodies)}) if bodies else None

    def _tell(self, **step: Any) -> None:
        if not self._is_quiet:
            self._steps.append(copy.deepcopy({name: value for name, value in step.items() if value not in (None, {})}))
        self.wait(1)

    def _stored(self) -> dict[str, dict[str, Any]]:
        """By partition and sort key; what the scenario has left as it was isn't there."""
        stored: dict[str, dict[str, Any]] = {}
        now = self._items()
        for key in sorted(self._before.keys() | now.keys()):
            if now.get(key) != self._before.get(key):
                item = readable_item(now[key], self.environment.numbers.tokens) if key in now else "removed"
                stored.setdefault(key[0], {})[key[1]] = item
        return stored

    def _items(self) -> dict[tuple[str, str], Any]:
        found = self.environment.dynamo.items
        return {
            (pk, sk): copy.deepcopy(item)
            for pk, items in found.items()
            for sk, item in items.items()
            if (pk, sk) not in self.environment.given
        }


def gateway_event(request: str, body: Any, headers: dict[str, str]) -> dict[str, Any]:
    """API Gateway's payload format 2.0."""
    method, _, target = request.partition(" ")
    path, _, query = target.partition("?")
    context: dict[str, Any] = {"http": {"method": method, "path": path}, "requestId": "gateway-1", "stage": "$default"}
    text = body if isinstance(body, str | None) else json.dumps(body)
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": context,
        "isBase64Encoded": False,
        **({} if text is None else {"body": text}),
    }


def function_of(request: str) -> str:
    plain = request.partition("?")[0]
    return next((name for name, pattern in ELSEWHERE if re.fullmatch(pattern, plain)), "api")


def operation_of(request: str) -> str | None:
    """As docs/openapi.json names it."""
    plain = request.partition("?")[0]
    return next((name for name, pattern in operations().items() if re.fullmatch(pattern, plain)), None)


@cache
def operations() -> dict[str, str]:
    """With a pattern of its requests; paths without parameters come first."""
    paths = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
    return {
        each["operationId"]: f"{method.upper()} {re.sub(r'{[^}]*}', '[^/]+', path)}"
        for path in sorted(paths, key=lambda path: path.count("{"))
        for method, each in paths[path].items()
        if "operationId" in each
    }


def unusual(headers: dict[str, str]) -> dict[str, str]:
    """What is read has a tag, and is kept as one that has: shown only if it isn't."""
    every = {**dict.fromkeys(HEADERS, "(missing)"), **headers}
    if re.fullmatch(r'W/"[0-9a-f]{32}"', every.get("ETag", "")):
        every = {name: value for name, value in every.items() if (name, value) not in TAGGED and name != "ETag"}
    return {name: value for name, value in every.items() if HEADERS.get(name) != value}


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text or None
