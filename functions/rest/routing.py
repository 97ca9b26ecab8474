"""Routes: each one's input, demands and answers, declared once for the dispatcher and the OpenAPI page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, NoReturn, TypeVar

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed, Right
from baton.domain.agents.tool import NAME_PATTERN
from baton.domain.idempotency import IdempotencyKey
from baton.domain.ids import ID_PATTERN, SLUG_PATTERN
from baton.domain.numbers import fingerprint
from baton.domain.tasks.calls import HumanCall, Seen, WorkerCall
from baton.ports.deps import Deps
from rest import answers, session_cookie
from rest.errors import InvalidFields, MethodNotAllowed, UnknownRoute
from rest.request import Request, request_id
from rest.strict_json import EMPTY, JsonBody, read_json, shown

BodyT = TypeVar("BodyT")
QueryT = TypeVar("QueryT")

YAML_TYPES = ("application/yaml", "application/x-yaml", "text/yaml")

# The objects that path parameters name. A malformed id gets the same answer as an unknown one.
THINGS = {
    "task_id": "task",
    "slug": "agent",
    "review_id": "manual review",
    "question_id": "question",
    "standing_id": "standing answer",
    "token_id": "token",
    "alert_id": "alert",
    "work_type": "route for this type of work",
    "handoff_id": "handoff",
    "workflow_id": "workflow",
    "conversation_id": "conversation",
    "name": "tool",
    "entry_id": "entry",
    "view": "view",
    "change_id": "change",
    "person": "person",
    "version": "version of the settings",
}
# The same for secrets: they are never logged, and only the first answer shows them.
SECRETS = {"secret": "webhook", "token": "callback"}
PATTERNS = dict.fromkeys(THINGS, ID_PATTERN) | {
    "slug": SLUG_PATTERN,
    "work_type": SLUG_PATTERN,
    "name": NAME_PATTERN,
    "view": SLUG_PATTERN,
    "person": f"{SLUG_PATTERN}|^notion:[a-z0-9_]{{1,64}}$",
    "version": r"^[0-9]{1,9}$",
    "secret": SLUG_PATTERN.removesuffix("$") + r"\.[0-9a-f]{64}$",
    "token": r"^[A-Za-z0-9_-]{1,300}\.[0-9a-f]{64}$",
    "proxy": r"(?s)^.+$",  # whatever follows, slashes too
}

# The message for a malformed name in a path that may name what doesn't exist yet.
MUST_BE = dict.fromkeys(THINGS, "must be 1 to 63 of a-z, 0-9 and hyphens, not beginning or ending with one") | {
    "name": "must be 1 to 64 of a-z, 0-9 and underscores, beginning with a letter",
}


@dataclass(frozen=True, slots=True)
class InputReader(Generic[BodyT]):
    """Turns a body or a query into a value."""

    schema: type  # the type that OpenAPI shows
    read: Callable[[Any], BodyT]
    is_raw: bool = False  # it reads the request itself, with its exact bytes and headers


@dataclass(frozen=True, slots=True)
class Only:
    """The principals that may call. Checked before anything else of the request."""

    who: str
    check: Callable[[Principal], None]
    needs_right: bool = False  # ``check`` includes a person's right


def human(deed: Deed) -> Only:
    return Only(f"humans with the right `{deed.least}`", lambda by: by.must_have(deed), needs_right=True)


def not_agent(action: str) -> Only:
    return Only("humans and services", lambda by: by.must_not_be_agent(action))


def with_act_as(action: str) -> Only:
    return Only("humans, and services with the scope `act_as`", lambda by: by.must_have_act_as(action))


CONVERSERS = Only("humans, services, and agents with the scope `converse`", Principal.must_be_let_converse)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[BodyT, QueryT]):
    """A parsed request, as a route's handler gets it."""

    by: Principal
    path: str
    params: Mapping[str, str]
    query: QueryT
    body: BodyT
    body_hash: str  # SHA-256 of the body's canonical JSON
    idempotency_key: IdempotencyKey | None
    request_id: str  # for the refusals of single items in a batch
    wants_cookie: bool = False  # the session that it opens is kept by the browser

    @property
    def task_id(self) -> str:
        return self.params["task_id"]

    @property
    def slug(self) -> str:
        return self.params["slug"]

    def under(self, claim_id: str) -> WorkerCall:
        """Returns the worker's call about the path's task, under its claim."""
        return WorkerCall(self.by, self.task_id, claim_id, self.body_hash, self.idempotency_key)

    def about(self, seen: Seen | None = None) -> HumanCall:
        """Returns the human's call about the path's task. ``seen``: the content that the human has read."""
        return HumanCall(self.by, self.task_id, seen, self.idempotency_key)


Handler = Callable[[Deps, Call[Any, Any]], answers.Answer]


Form = Callable[[answers.Answer], answers.Answer]
USUAL_PROBLEM = answers.Problem


def as_it_is(answer: answers.Answer) -> answers.Answer:
    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One route of the API."""

    method: str
    path: str
    handler: Handler
    answers: Mapping[int, type | None]  # status → shape; None for an empty body
    body: InputReader[Any] | None = None
    query: InputReader[Any] | None = None
    only: Only | None = None
    deed: Deed = Deed.READ  # a person's deed, unless ``only`` names one. The default of other methods is ``WORK``
    refusals: tuple[int, ...] = ()  # statuses besides those of all routes of this kind
    refuses: tuple[int, ...] | None = None  # all statuses of its refusals, if it isn't of any kind
    is_idempotent: bool = False
    takes_new_names: bool = False  # its path may name what doesn't exist yet
    needs_token: bool = True  # False: callers of this route have no token
    takes_yaml: bool = False  # the body may also be YAML, by its Content-Type
    any_value: bool = False  # the body may be any JSON value; an empty one is null
    may_be_text: bool = False  # the answer is plain text if the query asks for it
    while_off: bool = False  # an agent that is switched off may call this route; it may call no others
    refused: Form = as_it_is  # gives its refusals another form
    problem: type = USUAL_PROBLEM  # the shape of its refusals
    # Returns the tag of what would be answered now, from less than the answer takes. Asked where the caller has a tag.
    tag: Callable[[Deps, Call[Any, Any]], str] | None = None
    made_of_tasks: bool = False  # a caller may take an answer that is 30 s old (``conditional_answers``)
    opens_session: bool = False  # for a page as well, whose browser keeps it in a cookie
    page: str | None = None  # where the console shows what its answer shows (``console_links``)
    waits: bool = False  # the agent may be switched off during the call, so it is checked again afterwards
    pattern: re.Pattern[str] = field(repr=False)

    @property
    def name(self) -> str:
        return self.handler.__name__

    @property
    def shown_path(self) -> str:
        """The path in OpenAPI, which has no word for a parameter with slashes in it."""
        return self.path.replace("+}", "}")

    @property
    def is_tagged(self) -> bool:
        """True if its answers have an ETag: all that is read, but what is waited for."""
        return self.method == "GET" and self.needs_token and not self.waits

    def call(self, request: Request, by: Principal, params: Mapping[str, str], now: datetime) -> Call[Any, Any]:
        """Reads the request, and raises for anything wrong with it. The caller's right comes first, and reveals nothing
        else."""
        self._must_be_for(by)
        self._check_ids(params)
        query = self._query(request)
        body = self._body(request)
        body_hash = fingerprint(request.asked(body.value))
        return Call(
            by=by,
            path=request.path,
            params=params,
            query=query,
            body=None if self.body is None else self.body.read(request if self.body.is_raw else body),
            body_hash=body_hash,
            idempotency_key=request.idempotency_key(by, body_hash, now) if self.is_idempotent else None,
            request_id=request_id(request.event),
            wants_cookie=self.opens_session and session_cookie.is_wanted(request),
        )

    @property
    def least_right(self) -> Right | None:
        """The least right of a person who calls this; None if ``only`` checks it."""
        return None if self.only is not None and self.only.needs_right else self.deed.least

    def _must_be_for(self, by: Principal) -> None:
        if self.only is not None:
            self.only.check(by)
        if self.least_right is not None:
            by.must_have(self.deed)

    def _body(self, request: Request) -> JsonBody:
        if self.body is None or self.body.is_raw:
            return EMPTY
        request.must_be_utf8()
        media_type = (request.header("content-type") or "").partition(";")[0].strip().lower()
        if not (self.takes_yaml and media_type in YAML_TYPES):
            return read_json(request.body, any_value=self.any_value)
        from rest.strict_yaml import read_yaml  # loaded only when needed, as few bodies are YAML

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
            if self.takes_new_names:
                raise errors.InvalidInput(name, MUST_BE[name])
            if name == "slug":
                raise errors.NoSuchAgent(value, ())
            raise errors.Unknown((THINGS | SECRETS)[name])


class Routes:
    """A list of routes, filled by decorators."""

    def __init__(self) -> None:
        self.all: list[Endpoint] = []

    def __iter__(self) -> Iterator[Endpoint]:
        return iter(self.all)

    def include(self, others: Iterable[Endpoint]) -> Routes:
        self.all.extend(others)
        return self

    def get(self, path: str, **options: Any) -> Callable[[Any], Any]:
        return self._add("GET", path, options)

    def put(self, path: str, **options: Any) -> Callable[[Any], Any]:
        return self._add("PUT", path, {"takes_new_names": True, "deed": Deed.WORK, **options})

    def delete(self, path: str, **options: Any) -> Callable[[Any], Any]:
        return self._add("DELETE", path, {"deed": Deed.WORK, **options})

    def post(self, path: str, *, is_idempotent: bool = True, **options: Any) -> Callable[[Any], Any]:
        return self._add("POST", path, {"is_idempotent": is_idempotent, "deed": Deed.WORK, **options})

    def _add(self, method: str, path: str, options: dict[str, Any]) -> Callable[[Any], Any]:
        def add(handler: Any) -> Any:
            self.all.append(Endpoint(method=method, path=path, handler=handler, pattern=_pattern(path), **options))
            return handler

        return add

    def find(self, method: str, path: str) -> tuple[Endpoint, dict[str, str]] | None:
        """Returns the route, and the parameters in its path."""
        for route in self.all:
            if route.method == method and (match := route.pattern.match(path)):
                return route, match.groupdict()
        return None

    def refuse(self, path: str, elsewhere: Mapping[str, str]) -> NoReturn:
        """Raises ``UnknownRoute``, or ``MethodNotAllowed`` with the methods of the path, in other functions too."""
        allowed = {route.method for route in self.all if route.pattern.match(path)}
        allowed |= {other_method for template, other_method in elsewhere.items() if _pattern(template).match(path)}
        allowed |= {"HEAD"} if "GET" in allowed else set()
        raise MethodNotAllowed(allowed) if allowed else UnknownRoute


def _pattern(path: str) -> re.Pattern[str]:
    parts = re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", re.escape(path).replace(r"\{", "{").replace(r"\}", "}"))
    return re.compile(re.sub(r"{(\w+)\\\+}", r"(?P<\1>.+)", parts) + r"\Z", re.DOTALL)


def whole(body: JsonBody) -> Any:
    """Returns the value of a body that its use case checks itself."""
    return body.value
