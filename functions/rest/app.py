"""Turns a gateway event into an answer. No exception escapes: one would end the worker."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from baton.bootstrap import count, logger
from baton.domain import errors
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.access.token import credentials_from
from baton.ports.deps import Deps
from baton.services.access.authenticate import admit
from baton.services.access.limit_caller import caller_must_have_room
from baton.steps.agents.kill_switch import caller_must_be_on
from rest import answers, console_links, edge, etags, routing, session_cookie
from rest.conditional_answers import conditional_answer_of
from rest.errors import NotAuthenticated, WrongAddress
from rest.request import Request, is_head, request_id

NOBODY = Principal("", PrincipalKind.SERVICE, "")
_IDS = ("route", "workspace", "principal", *routing.THINGS)


class App:
    """The app of one function. A console's page may ask it by a session in a cookie. ``elsewhere``: path → method of
    routes that other functions answer. ``refused`` gives refusals another form, for the route whose callers expect
    one."""

    takes_cookies = True

    def __init__(
        self,
        routes: routing.Routes,
        wire: Callable[[], Deps],
        *,
        elsewhere: Mapping[str, str] | None = None,
        refused: Callable[[answers.Answer], answers.Answer] = lambda answer: answer,
    ) -> None:
        self.routes = routes
        self._wire = wire
        self._elsewhere = elsewhere or {}
        self._refused = refused

    def __call__(self, event: Mapping[str, Any]) -> dict[str, Any]:
        started, shown_id = time.monotonic(), request_id(event)
        with logger().append_context_keys(request_id=shown_id):
            try:
                answer = self._answer(Request(event))
            except Exception as exc:  # noqa: BLE001 - the edge of the process
                answer = self._refusal(exc, event, shown_id)
            ms = round((time.monotonic() - started) * 1_000)
            logger().info("request answered", action="request_answered", status=int(answer.status), ms=ms)
            logger().remove_keys(_IDS)
        return answers.to_gateway(answer, shown_id, has_body=not is_head(event))

    def _answer(self, request: Request) -> answers.Answer:
        """The caller comes before everything else but the way here: a stranger isn't even told which routes there
        are."""
        if edge.came_around(request.event):
            raise WrongAddress
        deps, by, found = self._wire(), NOBODY, self.routes.find(request.method, request.path)
        if deps.learns_its_url:
            deps = deps.at(request.url_id)
        if found is not None and found[0].page and (link := console_links.page_asked_for(request, *found)):
            return link
        if found is None or found[0].needs_token:
            has_cookie = self.takes_cookies and request.is_by_cookie
            shown = session_cookie.shown_by(request) if has_cookie else credentials_from(request.authorization)
            deps, by = admit(deps, shown)
        route, params = found or self.routes.refuse(request.path, self._elsewhere)
        logger().append_keys(route=route.name, workspace=by.workspace, principal=by.key)
        if route.needs_token:
            caller_must_have_room(deps, by, request.size)
        answer = answered(route, params, deps, by, request)
        return etags.tagged(answer, by, request) if route.is_tagged else answer

    def has_route_of(self, event: Mapping[str, Any]) -> bool:
        """True if the request is for a route of this app. Never raises: a malformed event is for none."""
        try:
            request = Request(event)
            return self.routes.find(request.method, request.path) is not None
        except (AttributeError, KeyError, TypeError):
            return False

    def _refusal(self, exc: Exception, event: Mapping[str, Any], shown_id: str) -> answers.Answer:
        """In the form of this app and of the route, if there is one."""
        problem = self._refused(problem_of(exc, shown_id))
        try:
            request = Request(event)
            if self.takes_cookies and isinstance(exc, NotAuthenticated | errors.TokenRefused):
                problem = replace(problem, cookies=session_cookie.useless(request))
            found = self.routes.find(request.method, request.path)
        except (AttributeError, KeyError, TypeError):
            return problem
        return problem if found is None else found[0].refused(problem)


def problem_of(exc: Exception, shown_id: str) -> answers.Answer:
    """Returns the problem that a refusal or an error of ours is answered with, and logs it."""
    if isinstance(exc, errors.BatonError):
        logger().info("request refused", action="request_refused", code=exc.code)
        # Another caller's change says nothing about this request: it is answered as busy, and may be sent again.
        return answers.problem(errors.Busy() if isinstance(exc, errors.Conflict) else exc, shown_id)
    # The location only: a message may quote the request.
    frames = [f"{at.filename}:{at.lineno} {at.name}" for at in traceback.extract_tb(exc.__traceback__)]
    logger().error("request failed", action="request_failed", error=type(exc).__name__, frames=frames)
    count("RequestFailed")
    return answers.internal_error(shown_id)


def answered(
    route: routing.Endpoint, params: Mapping[str, str], deps: Deps, by: Principal, request: Request
) -> answers.Answer:
    """Returns the route's answer to a caller who was let in. Raises whatever refuses the request."""
    if not route.while_off:
        caller_must_be_on(deps, by)
    call = route.call(request, by, params, deps.clock.now())
    logger().append_keys(**{name: value for name, value in params.items() if name in routing.THINGS})
    if route.tag is not None and (known := etags.known_to(request)) and (tag := route.tag(deps, call)) in known:
        return etags.unchanged(tag)
    conditional = conditional_answer_of(deps, by, request) if route.made_of_tasks else None
    if conditional is not None:
        return conditional.answer(by, request, lambda: route.handler(deps, call))
    answer = route.handler(deps, call)
    if route.waits:
        caller_must_be_on(deps, by)
    return answer
