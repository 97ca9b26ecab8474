"""Plays a route of the API in this process, as a request over HTTP would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from api.agents import routes as agent_routes
from api.claims import ending_routes
from api.claims import routes as claim_routes
from api.handoffs import routes as handoff_routes
from api.handoffs import twining_routes, workflow_routes
from api.memory import recall_routes
from api.memory import routes as memory_routes
from api.questions import routes as question_routes
from api.tasks import command_routes
from api.tasks import routes as task_routes
from baton.domain.access.principal import Principal
from baton.domain.numbers import dumps
from baton.ports.deps import Deps
from create_handoff_marker.handler import routes as marker_routes
from mcp_door.tools.tool_call_keys import key_of
from rest.app import answered
from rest.request import Request
from rest.routing import Endpoint
from wait.handler import routes as wait_routes

_PLAYABLE = (
    *agent_routes.routes,
    *claim_routes.routes,
    *ending_routes.routes,
    *handoff_routes.routes,
    *twining_routes.routes,
    *workflow_routes.routes,
    *task_routes.routes,
    *(each for each in command_routes.routes if each.name == "cancel"),  # the others are humans'
    *(
        each
        for each in question_routes.routes
        if each.name in {"ask_people", "get_question", "use_an_approval", "wait_answers"}
    ),
    *memory_routes.routes,
    *recall_routes.routes,
    *marker_routes,
    *wait_routes,
)
ROUTES: dict[str, Endpoint] = {route.name: route for route in _PLAYABLE}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool, and by which request. ``worker``: the session's name, if its address gives one."""

    deps: Deps
    by: Principal
    request: Request
    worker: str | None = None

    def play(
        self,
        route: str,
        body: Any = None,
        *,
        params: dict[str, str] | None = None,
        query: dict[str, Any] | None = None,
        key: str | None = None,
    ) -> Any:
        """Plays a route as this caller. ``params``, ``query`` and ``key`` are its path parameters, its query and its
        idempotency key. Returns the answer's body: an object, a text, or None. Raises what the route raises.

        The route is named, not looked up by a path: no argument can lead to another one. A call without a key of its
        own has the key of its request. So a program that repeats its request, as baton-mcp does, repeats the call.
        """
        endpoint, named = ROUTES[route], params or {}
        if key is None and endpoint.is_idempotent:
            key = key_of(route, self.request.header("idempotency-key"))
        request = Request(
            {
                "rawPath": endpoint.path.format(**named),
                "rawQueryString": urlencode(query or {}),
                "headers": {"content-type": "application/json", **({"idempotency-key": key} if key else {})},
                "requestContext": {**self.request.event["requestContext"], "http": {"method": endpoint.method}},
                "body": None if body is None else dumps(body, ensure_ascii=False),
            },
            # A client that began anew, after it lost the first answer, is another session.
            unasked=frozenset({"worker"}) if key and body else frozenset(),
        )
        answer = answered(endpoint, named, self.deps, self.by, request)
        return answer.body if answer.text is None else answer.text
