"""The answer from outside to a task that waits for a callback."""

from __future__ import annotations

from api.claims.callback_views import AcceptedView
from baton.ports.deps import Deps
from baton.services.claims.wait_for_callback import answer_unread
from rest import answers, routing
from rest.request import Request
from rest.strict_json import read_json

routes = routing.Routes()


def bytes_of(request: Request) -> bytes:
    """Returns the body, checked for its size and not parsed: only a caller who knows the address gets that far. Raises
    ``MalformedJson``, ``TooLarge``."""
    return request.strangers_body


@routes.post(
    "/callbacks/{token}",
    body=routing.InputReader(object, bytes_of, is_raw=True),
    answers={200: AcceptedView},
    is_idempotent=False,
    needs_token=False,
    any_value=True,
)
def answer_a_callback(deps: Deps, call: routing.Call[bytes, None]) -> answers.Answer:
    """Answer a task that waits for this callback, once, with any JSON value; an empty body is null.

    Takes no token: the address is a secret. The same answer may be repeated; another one, or one after the wait, is
    refused with 409 `callback_used`.
    """
    answer_unread(deps, call.params["token"], lambda: read_json(call.body, any_value=True).value)
    return answers.ok({"accepted": True})
