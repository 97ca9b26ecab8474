"""Routes: what each takes, demands and answers, declared once for the dispatcher and the OpenAPI page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from baton.domain.errors import InvalidInput, Unknown
from baton.domain.ids import ID_PATTERN, SLUG_PATTERN
from baton.domain.numbers import fingerprint
from baton.domain.principal import Principal
from baton.domain.tool import NAME_PATTERN
from rest.errors import InvalidFields, MethodNotAllowed, UnknownRoute
from rest.request import request_id
from rest.strict_json import EMPTY, JsonBody, read_json, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from baton.domain.idempotency import Once
    from baton.ports import Baton
    from rest.answers import Answer
    from rest.request import Request

BodyT = TypeVar("BodyT")
QueryT = TypeVar("QueryT")

YAML_TYPES = ("application/yaml", "application/x-yaml", "text/yaml")

# What a path's parameter names; an id that can't be one is unknown like any other.
THINGS = {
    "task_id": "task",
    "slug": "agent",
    "review_id": "manual review",
    "token_id": "token",
    "alert_id": "alert",
    "work_type": "route for this type of work",
    "handoff_id": "handoff",
    "workflow_id": "workflow",
    "conversation_id": "conversation",
    "name": "tool",
}
# The same where it is a secret: never logged, and in no answer but the first.
SECRETS = {"secret": "webhook", "token": "callback"}
PATTERNS = dict.fromkeys(THINGS, ID_PATTERN) | {
    "slug": SLUG_PATTERN,
    "work_type": SLUG_PATTERN,
    "name": NAME_PATTERN,
    "secret": SLUG_PATTERN.removesuffix("$") + r"\.[0-9a-f]{64}$",
    "token": r"^[A-Za-z0-9_-]{1,300}\.[0-9a-f]{64}$",
}

# What is said of one that can't be what a PUT names.
MUST_BE = dict.fromkeys(THINGS, "must be 1 to 63 of a-z, 0-9 and hyphens, not beginning or ending with one") | {
    "name": "must be 1 to 64 of a-z, 0-9 and underscores, beginning with a letter",
}


@dataclass(frozen=True, slots=True)
class Reader(Generic[BodyT]):
    """How a body or a query becomes a value. ``schema``: the type that OpenAPI shows."""

    schema: type
    read: Callable[[Any], BodyT]


@dataclass(frozen=True, slots=True)
class Only:
    """Who may call. Asked before anything else of the request is looked at."""

    who: str
    check: Callable[[Principal], None]


def human(action: str) -> Only:
    return Only("humans", lambda by: by.must_be_human(action))


def not_agent(action: str) -> Only:
    return Only("humans and services", lambda by: by.must_not_be_agent(action))


CONVERSERS = Only("humans, services, and agents with the scope `converse`", Principal.must_be_let_converse)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[BodyT, QueryT]):
    """A request as a route gets it. ``body_hash``: SHA-256 of the body's canonical JSON. ``request_id``: for refusals
    of a part of it."""

    by: Principal
    path: str
    params: Mapping[str, str]
    query: QueryT
    body: BodyT
    body_hash: str
    once: Once | None
    request_id: str

    @property
    def task_id(self) -> str:
        return self.params["task_id"]

    @property
    def slug(self) -> str:
        return self.params["slug"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """``answers``: status → shape, None for an empty body. ``refusals``: statuses beside those that all routes of its
    kind have. ``needs_token``: False where nobody has one. ``raw``: ``body`` reads the request itself, whose very bytes
    and headers count. ``takes_yaml``: a body may be YAML as well, by its Content-Type.
    ``any_value``: it needn't be an object, and none is null. ``may_be_text``: the answer is plain text where the query
    asks for it. ``while_off``: an agent that is switched off may call it, and nothing else. ``waits``: it may be
    switched off meanwhile."""

    method: str
    path: str
    handler: Callable[[Baton, Call[Any, Any]], Answer]
    answers: Mapping[int, type | None]
    body: Reader[Any] | None = None
    query: Reader[Any] | None = None
    only: Only | None = None
    refusals: tuple[int, ...] = ()
    is_idempotent: bool = False
    needs_token: bool = True
    raw: bool = False
    takes_yaml: bool = False
    any_value: bool = False
    may_be_text: bool = False
    while_off: bool = False
    waits: bool = False
    pattern: re.Pattern[str] = field(repr=False)

    @property
    def name(self) -> str:
        return self.handler.__name__

    def call(self, request: Request, by: Principal, params: Mapping[str, str], now: datetime) -> Call[Any, Any]:
        """Reads the request; raises for whatever is wrong with it. Who may call comes first, and tells nothing."""
        if self.only is not None:
            self.only.check(by)
        self._check_ids(params)
        query = self._query(request)
        body = EMPTY if self.body is None or self.raw else self._body(request)
        body_hash = fingerprint(body.value)
        return Call(
            by=by,
            path=request.path,
            params=params,
            query=query,
            body=None if self.body is None else self.body.read(request if self.raw else body),
            body_hash=body_hash,
            once=request.once(by, body_hash, now) if self.is_idempotent else None,
            request_id=request_id(request.event),
        )

    def _body(self, request: Request) -> JsonBody:
        said = (request.header("content-type") or "").partition(";")[0].strip().lower()
        if not (self.takes_yaml and said in YAML_TYPES):
            return read_json(request.body, any_value=self.any_value)
        from rest.strict_yaml import read_yaml  # few bodies are YAML

        return read_yaml(request.body)

    def _query(self, request: Request) -> Any:
        pairs = request.query
        if self.query is not None:
            return self.query.read(pairs)
        if pairs:
            raise InvalidFields((shown(name), "is not a known field") for name, _ in pairs)
        return None

    def _check_ids(self, params: Mapping[str, str]) -> None:
        for name, value in params.items():
            if re.fullmatch(PATTERNS[name], value):
                continue
            if self.method == "PUT":
                raise InvalidInput(name, MUST_BE[name])
            raise Unknown((THINGS | SECRETS)[name])


class Routes:
    """A list of routes that fills itself by decorators."""

    def __init__(self) -> None:
        self.all: list[Route] = []

    def __iter__(self) -> Iterator[Route]:
        return iter(self.all)

    def include(self, others: Iterable[Route]) -> Routes:
        self.all.extend(others)
        return self

    def get(self, path: str, **options: Any) -> Callable[[Any], Any]:
        return self._add("GET", path, options)

    def put(self, path: str, **options: Any) -> Callable[[Any], Any]:
        return self._add("PUT", path, options)

    def delete(self, path: str, **options: Any) -> Callable[[Any], Any]:
        return self._add("DELETE", path, options)

    def post(self, path: str, *, is_idempotent: bool = True, **options: Any) -> Callable[[Any], Any]:
        return self._add("POST", path, {"is_idempotent": is_idempotent, **options})

    def _add(self, method: str, path: str, options: dict[str, Any]) -> Callable[[Any], Any]:
        def add(handler: Any) -> Any:
            self.all.append(Route(method=method, path=path, handler=handler, pattern=_pattern(path), **options))
            return handler

        return add

    def match(self, method: str, path: str, elsewhere: Mapping[str, str]) -> tuple[Route, dict[str, str]]:
        """Raises ``UnknownRoute``, or ``MethodNotAllowed`` with what the path takes, in other functions too."""
        found = [(route, match) for route in self.all if (match := route.pattern.match(path))]
        for route, match in found:
            if route.method == method:
                return route, match.groupdict()
        allowed = {route.method for route, _ in found}
        allowed |= {taken for template, taken in elsewhere.items() if _pattern(template).match(path)}
        raise MethodNotAllowed(allowed) if allowed else UnknownRoute


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path) + r"\Z")


def whole(body: JsonBody) -> Any:
    """For a body that its use case reads by itself."""
    return body.value
