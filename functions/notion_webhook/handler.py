"""Receives Notion's webhook deliveries."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from baton.bootstrap import begin, logger, wire
from baton.ports.deps import Deps
from baton.services.tracker.receive_webhook import receive_webhook
from notion_webhook.delivery import NotionEvent
from notion_webhook.shapes import NotionDelivery, ReceivedView
from rest import answers, routing
from rest.app import App
from rest.request import Request
from rest.strict_json import Unread

routes = routing.Routes()


def delivery_of(request: Request) -> NotionEvent:
    """Returns the delivery, checked for its size and not parsed yet. Raises ``MalformedJson``, ``TooLarge``."""
    raw = request.strangers_body
    return NotionEvent(raw=raw, content=Unread(raw), signature=request.header("x-notion-signature"))


@routes.post(
    "/notion/webhook/{secret}",
    body=routing.InputReader(NotionDelivery, delivery_of, is_raw=True),
    answers={200: ReceivedView},
    refusals=(401,),
    is_idempotent=False,
    needs_token=False,
)
def receive_delivery(deps: Deps, call: routing.Call[NotionEvent, None]) -> answers.Answer:
    """For Notion: make the handshake while the address is open, and report changes afterwards.

    Takes no token: the address is a secret, and every delivery after the handshake is signed. The changes are then read
    from Notion itself. A repeated delivery changes nothing.
    """
    address = call.params["secret"]
    logger().append_keys(workspace=address.partition(".")[0])
    received = receive_webhook(deps, address, call.body)
    logger().info("delivery received", action="webhook_received", received=received.value)
    return answers.ok({"received": received.value})


app = App(routes, wire)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    begin(context)
    return app(event)
