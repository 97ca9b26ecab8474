"""The door for clients of the Model Context Protocol: one message per request, no session (docs/spec/mcp.md)."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from baton.bootstrap import begin, wire
from baton.domain import errors
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from mcp_door.eras import speaks_modern, version_of
from mcp_door.messages import JsonRpcMessage, message_from
from mcp_door.methods import MethodCall, refused_call, result_of, stamped
from mcp_door.origins import must_not_be_foreign
from mcp_door.protocol import INTERNAL_ERROR, INVALID_REQUEST, RpcError, error_body
from mcp_door.shapes import McpAnswer, McpError, McpMessage, ToolsQuery
from mcp_door.tools.catalogue import SETS, USUAL
from mcp_door.tools.inner_call import Caller
from rest import answers, models, routing
from rest.app import App
from rest.errors import UnknownRoute
from rest.request import Request

routes = routing.Routes()


def _request(request: Request) -> Request:
    return request


def _whatever(_pairs: list[tuple[str, str]]) -> None:
    return None


@routes.post(
    "/mcp",
    body=routing.InputReader(McpMessage, _request, is_raw=True),
    query=models.query(ToolsQuery),
    answers={200: McpAnswer, 202: None},
    problem=McpError,
    refuses=(400, 401, 403, 404, 413, 422, 429, 500, 503),
    is_idempotent=False,
    while_off=True,
    deed=Deed.READ,
)
def answer_a_message(deps: Deps, call: routing.Call[Request, ToolsQuery]) -> answers.Answer:
    """Answer one message of the Model Context Protocol: the API as tools for models.

    One message per request: no session, no stream, and 405 for `GET` and `DELETE`. 202 for a notification. After a
    handshake an error of a method is 200. What an agent that is switched off may do is decided per tool.
    """
    must_not_be_foreign(deps, call.body)
    try:
        message = message_from(call.body)
    except RpcError as exc:
        return _error(exc, None, is_modern=False)
    try:
        version = version_of(message, call.body)
        if message.is_notification:
            return answers.Answer(HTTPStatus.ACCEPTED)
        result = result_of(
            MethodCall(Caller(deps, call.by, call.body, call.query.worker), message, call.query.tools), version
        )
    except RpcError as exc:
        return _error(exc, message, is_modern=speaks_modern(message, call.body))
    return answers.ok({"jsonrpc": "2.0", "id": message.id, "result": result})


def _error(exc: RpcError, message: JsonRpcMessage | None, *, is_modern: bool) -> answers.Answer:
    body = error_body(message.id if message else None, exc.code, exc.message, exc.data)
    return answers.Answer(exc.status(is_modern=is_modern), body)


NOTHING: dict[str, Any] = {
    "query": routing.InputReader(object, _whatever),
    "answers": {404: answers.Problem},
    "problem": McpError,
    "refuses": (500,),
    "needs_token": False,
}


@routes.get("/.well-known/{proxy+}", **NOTHING)
def find_nothing_well_known(_deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """Find nothing: there is no authorization server.

    Clients ask, slashes and all, before they use the token that they were given.
    """
    return answers.problem(UnknownRoute(), call.request_id)


@routes.get("/mcp/.well-known/{proxy+}", **NOTHING)
def find_nothing_well_known_of_mcp(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """Find nothing: there is no authorization server.

    Some clients ask below the path of `POST /mcp`.
    """
    nothing: answers.Answer = find_nothing_well_known(deps, call)
    return nothing


def refused(answer: answers.Answer) -> answers.Answer:
    """Returns a refusal of the request itself as an error of JSON-RPC, under its HTTP status. A token that isn't good
    is 401 here, as clients expect; the problem is in ``data``, and with it the challenge: AWS's front doors rename the
    header."""
    problem = dict(answer.body or {})
    status, headers = answer.status, dict(answer.headers)
    challenge = {"token_refused": 'Bearer error="invalid_token"', "not_authenticated": "Bearer"}.get(problem["code"])
    if challenge:
        status = problem["status"] = int(HTTPStatus.UNAUTHORIZED)
        headers["WWW-Authenticate"] = problem["www_authenticate"] = challenge
    code = INTERNAL_ERROR if status >= HTTPStatus.INTERNAL_SERVER_ERROR else INVALID_REQUEST
    body = error_body(None, code, problem["detail"], problem)
    return replace(answer, status=status, headers=headers, body=body, content_type=answers.JSON)


class McpApp(App):
    """Whether an agent is switched off is known with its token, and that is judged while its tool is played, for the
    whole request. Its model is told as of any other refusal. Models have tokens: a person's cookie plays no tool."""

    takes_cookies = False

    def _answer(self, request: Request) -> answers.Answer:
        try:
            return super()._answer(request)
        except errors.InactiveAgent as exc:
            message = message_from(request)
            if message.method != "tools/call":
                raise
            who = dict(request.query).get("tools", USUAL)
            result = stamped(refused_call(exc, who if who in SETS else USUAL), version_of(message, request))
            return answers.ok({"jsonrpc": "2.0", "id": message.id, "result": result})


app = McpApp(routes, wire, refused=refused)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    begin(context)
    return app(event)
