"""An agent's inbox: outcomes of the handoffs it made, and its tasks that weren't claimed yet."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from baton.domain.handoffs.workflow import InboxItem
from baton.domain.times import rfc3339
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.handoffs.read_inbox import acknowledge, read_inbox
from baton.services.tasks.list_tasks import list_pending_tasks
from rest.answers import Answer, ok
from rest.models import MAX_PAGE, Body, Id, PageQuery, few, query, strict
from rest.pages import cursor_of, fitting, listing
from rest.routing import Call, Routes
from rest.tasks.trail_views import PrincipalView
from rest.tasks.views import ListedTask, TaskPage, listed_task

routes = Routes()

_OF_EVERY_ITEM = ("type", "handoff_id", "task_id", "workflow_id", "title", "state", "agent", "by")


class InboxItemView(TypedDict):
    """The end of a task that the agent handed off. ``type``: as in the task's trail; ``agent``: the agent that worked
    on it; ``by``: the principal that ended it; ``content``: the report."""

    id: str
    at: str
    type: str
    handoff_id: str
    task_id: str
    workflow_id: str
    title: str
    state: Literal["done", "failed", "rejected", "cancelled"]
    agent: str | None
    by: PrincipalView
    content: dict[str, Any]


class InboxPage(TypedDict):
    items: list[InboxItemView]
    next_cursor: str | None


class Acknowledgement(Body):
    ids: Annotated[tuple[Id, ...], few(MAX_PAGE, 1)]


class AcknowledgedView(TypedDict):
    acknowledged: int


@routes.get("/agents/{slug}/inbox", query=query(PageQuery), answers={200: InboxPage}, while_off=True)
def list_inbox(deps: Deps, call: Call[None, PageQuery]) -> Answer:
    """The outcomes of the agent's own handoffs, oldest first, until they are acknowledged.

    For the agent itself, for services with the scope `act_as`, and for humans. A page may be shorter than `limit` and
    still have a `next_cursor`.
    """
    page = read_inbox(deps, call.by, call.slug, call.query.limit, cursor_of(call))
    return ok(fitting(call, page, lambda item: str(item.id), _view))


@routes.post(
    "/agents/{slug}/inbox/ack", body=strict(Acknowledgement), answers={200: AcknowledgedView}, is_idempotent=False
)
def acknowledge_inbox(deps: Deps, call: Call[Acknowledgement, None]) -> Answer:
    """Remove items from the inbox. May be repeated freely: items that were removed before, or never existed, count too.

    An agent that is switched off can read its inbox, and finds all items again once it is switched on.
    """
    return ok({"acknowledged": acknowledge(deps, call.by, call.slug, call.body.ids)})


@routes.get("/agents/{slug}/pending", query=query(PageQuery), answers={200: TaskPage})
def list_pending(deps: Deps, call: Call[None, PageQuery]) -> Answer:
    """Tasks for the agent that wait for approval or for a claim, newest first.

    A page may hold fewer than `limit` items, even none, and still have a `next_cursor`: continue until it is null.
    """
    page = list_pending_tasks(deps, call.by, call.slug, call.query.limit, cursor_of(call))

    def view(details: TaskDetails) -> ListedTask:
        return listed_task(deps, details)

    return ok(listing(call, page, view))


def _view(item: InboxItem) -> InboxItemView:
    content = {name: value for name, value in item.content.items() if name not in _OF_EVERY_ITEM}
    known = {name: item.content[name] for name in _OF_EVERY_ITEM}
    shown: Any = {"id": item.id, "at": rfc3339(item.at), **known, "content": content}
    view: InboxItemView = shown
    return view
