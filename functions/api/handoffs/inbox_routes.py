"""An agent's inbox: outcomes of the handoffs it made, and its tasks that weren't claimed yet."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal, cast

from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.access.rights import Deed
from baton.domain.handoffs.workflow import InboxItem
from baton.ports.deps import Deps
from baton.services.handoffs.read_inbox import acknowledge, read_inbox
from baton.services.tasks.list_tasks import list_pending_tasks
from rest import answers, models, pages, routing
from rest.tasks import trail_views
from rest.tasks import views as task_views

routes = routing.Routes()

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
    by: trail_views.PrincipalView
    content: dict[str, Any]


InboxPage = pages.of("InboxPage", InboxItemView)


class Acknowledgement(models.Body):
    ids: Annotated[tuple[models.Id, ...], models.few(models.MAX_PAGE, 1)]


class AcknowledgedView(TypedDict):
    acknowledged: int


@routes.get("/agents/{slug}/inbox", query=models.query(models.PageQuery), answers={200: InboxPage}, while_off=True)
def list_inbox(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """The outcomes of the agent's own handoffs, oldest first, until they are acknowledged.

    For the agent itself, for services with the scope `act_as`, and for humans. A page may be shorter than `limit` and
    still have a `next_cursor`.
    """
    page = read_inbox(deps, call.by, call.slug, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.fitting(call, page, lambda item: str(item.id), _view))


@routes.post(
    "/agents/{slug}/inbox/ack",
    body=models.strict(Acknowledgement),
    answers={200: AcknowledgedView},
    is_idempotent=False,
    deed=Deed.READ_INBOX,
)
def acknowledge_inbox(deps: Deps, call: routing.Call[Acknowledgement, None]) -> answers.Answer:
    """Remove items from the inbox. May be repeated freely: items that were removed before, or never existed, count too.

    An agent that is switched off can read its inbox, and finds all items again once it is switched on.
    """
    return answers.ok({"acknowledged": acknowledge(deps, call.by, call.slug, call.body.ids)})


@routes.get("/agents/{slug}/pending", query=models.query(models.PageQuery), answers={200: task_views.TaskPage})
def list_pending(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """Tasks for the agent that wait for approval or for a claim, newest first.

    A page may hold fewer than `limit` items, even none, and still have a `next_cursor`: continue until it is null.
    """
    page = list_pending_tasks(deps, call.by, call.slug, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, partial(task_views.listed_task, deps, call.by)))


def _view(item: InboxItem) -> InboxItemView:
    content = {name: value for name, value in item.content.items() if name not in _OF_EVERY_ITEM}
    known = {name: item.content[name] for name in _OF_EVERY_ITEM}
    return cast(InboxItemView, {"id": item.id, "at": times.rfc3339(item.at), **known, "content": content})
