"""Where the bell is, and tickets for who can't show a token there (docs/spec/bell.md)."""

from __future__ import annotations

from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.access.rights import Deed
from baton.domain.bell.listener import LOOK_SECONDS
from baton.ports.deps import Deps
from baton.services.bell.listen import make_ticket
from rest import answers, models, routing

routes = routing.Routes()


class BellView(TypedDict):
    """``url``: of the WebSocket API, null where there is none: then ask again and again. ``look_seconds``: how often a
    connection sends `{"action": "look"}`."""

    url: str | None
    look_seconds: int


class NewTicket(TypedDict):
    """``ticket`` is never shown again."""

    url: str
    ticket: str
    expires_at: str


@routes.get("/bell", answers={200: BellView})
def find_the_bell(deps: Deps, _call: routing.Call[None, None]) -> answers.Answer:
    """Where to listen, in place of asking again and again; `url` is null where there is no bell.

    Connect to `url` with `?listen=` and one of `work:<agent>`, `inbox:<agent>`, `task:<task_id>` and `lists`, and with
    the token in `Authorization`: docs/spec/bell.md.
    """
    return answers.ok({"url": deps.bell_url or None, "look_seconds": LOOK_SECONDS})


@routes.post(
    "/bell/tickets", body=models.strict(models.NoFields), answers={201: NewTicket}, is_idempotent=False, deed=Deed.READ
)
def make_a_ticket(deps: Deps, call: routing.Call[models.NoFields, None]) -> answers.Answer:
    """Make a ticket that opens one connection to the bell within 30 seconds.

    For a browser, which can't send `Authorization` there: it offers the protocols `baton` and `baton.ticket.<ticket>`.
    The ticket is shown once.
    """
    ticket, text = make_ticket(deps, call.by)
    return answers.created({"url": deps.bell_url, "ticket": text, "expires_at": times.rfc3339(ticket.expires_at)})
