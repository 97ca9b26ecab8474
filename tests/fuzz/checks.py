"""What has to hold of an answer beside what schemathesis looks at."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlsplit

from schemathesis.checks import CheckContext
from schemathesis.core.failures import Failure
from schemathesis.core.transport import Response

from baton.domain.access.principal import PrincipalKind
from baton.domain.errors import BatonError
from fuzz.cases import Case, is_allowed
from fuzz.premises import WHO
from rest.request import Request
from rest.routing import Endpoint
from support.clock import NOON
from support.gateway import Reply, gateway_event, route_of, undocumented


class TooStrict(Failure):
    """A route doesn't read what the document allows."""


class Undeclared(Failure):
    """An answer isn't what the document knows. JSON Schema alone would let it have any further property."""


def is_read_as_documented(_context: CheckContext, response: Response, case: Case) -> None:
    """A route refuses what the document allows only for what it means here, such as an agent that isn't there: its
    readers take it. Raises ``TooStrict``."""
    route, path = _asked(response)
    if response.status_code != HTTPStatus.UNPROCESSABLE_ENTITY or not is_allowed(case) or route is None:
        return
    sent: Any = response.request
    headers = {name.lower(): str(value) for name, value in sent.headers.items()}
    query = urlsplit(sent.url).query
    event = gateway_event(WHO[PrincipalKind.HUMAN], route.method, path, sent.body or None, query=query, headers=headers)
    match = route.pattern.match(path)
    try:
        route.call(Request(event), WHO[PrincipalKind.HUMAN], match.groupdict() if match else {}, NOON)
    except BatonError as exc:
        raise TooStrict(operation=case.operation.label, title="Stricter than documented", message=str(exc)) from exc


def is_declared(_context: CheckContext, response: Response, case: Case) -> None:
    """Raises ``Undeclared``."""
    route, _ = _asked(response)
    if route is None or f"{route.method} {route.path}" != case.operation.label:
        return
    headers = {name.title(): value[0] for name, value in response.headers.items()}
    for difference in undocumented(route, Reply(response.status_code, headers, response.text)):
        raise Undeclared(operation=case.operation.label, title="Not in the document", message=difference)


CHECKS: list[Any] = [is_read_as_documented, is_declared]


def _asked(response: Response) -> tuple[Endpoint | None, str]:
    request: Any = response.request
    path = unquote(urlsplit(request.url).path)
    return route_of(request.method, path), path
