"""A connection that listens: it opens, looks and ends (docs/spec/bell.md)."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from baton.bootstrap import begin, logger, wire, wire_connections
from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.access.token import credentials_from
from baton.domain.bell.listener import topic_of
from baton.ports.bell import Connections
from baton.ports.deps import Deps
from baton.services.access.authenticate import admit
from baton.services.access.limit_caller import bell_must_have_room
from baton.services.bell.listen import begin_listening, stop_listening, use_ticket, what_is_due
from rest import answers
from rest.app import problem_of
from rest.errors import NotAuthenticated, WrongAddress
from rest.request import request_id

# What a browser offers beside its ticket, and what the answer names: the ticket is in no answer.
PROTOCOL, TICKET = "baton", "baton.ticket."


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    begin(context)
    return answered(wire(), wire_connections, event)


def answered(deps: Deps, wired: Callable[[], Connections], event: dict[str, Any]) -> dict[str, Any]:
    """Returns the answer to one event of the WebSocket API. Never raises. ``wired``: who opens or leaves needs none of
    the connections."""
    about = event["requestContext"]
    connection_id, route = about["connectionId"], about["routeKey"]
    try:
        match route:
            case "$connect":
                return _opened(deps, event, connection_id)
            case "$disconnect":
                stop_listening(deps, connection_id)
            case _:
                _look(deps, wired(), connection_id)
    except Exception as exc:  # noqa: BLE001 - the edge of the process
        problem = problem_of(exc, request_id(event))
        is_poll = route not in {"$connect", "$disconnect"}
        if is_poll and isinstance(exc, errors.BatonError) and not isinstance(exc, errors.Busy):
            _close(wired(), connection_id, exc)
        told = {"body": answers.text_of(problem)} if route == "$connect" else {}
        return {"statusCode": int(problem.status), **told}
    return {"statusCode": HTTPStatus.OK}


def _opened(deps: Deps, event: dict[str, Any], connection_id: str) -> dict[str, Any]:
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    if headers.get("origin", deps.public_url) != deps.public_url:
        raise WrongAddress  # a page of another origin, whatever it shows
    deps, by, protocol = _caller(deps, headers, connection_id)
    bell_must_have_room(deps, by, connection_id)
    query = event.get("queryStringParameters") or {}
    begin_listening(deps, by, topic_of(by.workspace, query.get("listen", "")), connection_id)
    fields = {"action": "listening", "workspace": by.workspace, "principal": by.key}
    logger().info("a connection listens", extra=fields)
    return {"statusCode": HTTPStatus.OK, **({"headers": {"Sec-WebSocket-Protocol": protocol}} if protocol else {})}


def _caller(deps: Deps, headers: dict[str, str], connection_id: str) -> tuple[Deps, Principal, str | None]:
    """The token goes before a ticket."""
    if "authorization" in headers:
        return *admit(deps, credentials_from(headers["authorization"])), None
    offered = [each.strip() for each in headers.get("sec-websocket-protocol", "").split(",")]
    ticket = next((each.removeprefix(TICKET) for each in offered if each.startswith(TICKET)), None)
    if ticket is None:
        raise NotAuthenticated
    deps = deps.at_one_version()
    return deps, use_ticket(deps, ticket, connection_id), PROTOCOL


def _look(deps: Deps, connections: Connections, connection_id: str) -> None:
    """The answer is sent as a ring is: one way of the gateway's to a connection is enough."""
    missed = what_is_due(deps.at_one_version(), connection_id)
    due = {} if missed.due_at is None else {"due_at": times.rfc3339(missed.due_at)}
    connections.send(connection_id, {"looked": str(missed.topic), **due})


def _close(connections: Connections, connection_id: str, why: errors.BatonError) -> None:
    """Sends the time to wait before it closes: the gateway gives every close the same code."""
    if isinstance(why, errors.TooMany):
        connections.send(connection_id, {"refused": why.code, "retry_after_seconds": why.fields["retry_after"]})
    connections.close(connection_id)
