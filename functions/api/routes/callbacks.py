"""The outside answers a task that waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.callback_views import AcceptedView
from baton.services.wait_for_callback import answer_callback
from rest.answers import Answer, ok
from rest.routing import Call, Reader, Routes, whole

if TYPE_CHECKING:
    from baton.ports import Baton

routes = Routes()


@routes.post(
    "/callbacks/{token}",
    body=Reader(object, whole),
    answers={200: AcceptedView},
    is_idempotent=False,
    needs_token=False,
    any_value=True,
)
def answer_a_callback(baton: Baton, call: Call[Any, None]) -> Answer:
    """Answer a task that waits for this callback, once, with any JSON value; an empty body is null.

    Takes no token: the address is a secret. The same answer may be repeated; another one, or one after the wait, is
    refused with 409 `callback_used`.
    """
    answer_callback(baton, call.params["token"], call.body)
    return ok({"accepted": True})
