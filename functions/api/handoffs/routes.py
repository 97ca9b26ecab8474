"""Making, finding and retrying handoffs."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from api.handoffs.requests import MAX_NAME, HandoffRequest
from api.handoffs.views import (
    HandedOff,
    HandoffPage,
    HandoffView,
    ListedHandoff,
    handed_off,
    handoff_view,
    listed_handoff,
)
from baton.domain.tasks.task import Kind, State, Task
from baton.ports.deps import Deps
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.find_handoff import find_handoff, task_of
from baton.services.handoffs.list_handoffs import Filter, list_handoffs
from baton.services.handoffs.retry_handoff import retry_handoff
from rest.answers import Answer, created, ok
from rest.models import Id, NoFields, PageQuery, QueryInstant, Slug, query, strict
from rest.pages import cursor_of, listing
from rest.routing import Call, Routes

routes = Routes()


class HandoffListQuery(PageQuery):
    """``target``, ``source``: slugs; ``source`` may also be a principal that is no agent (``human:alice``). ``state``:
    of the task. ``since``: created then or later; without ``target`` and ``workflow`` at most 366 days back, by default
    7."""

    target: Slug | None = None
    source: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)] | None = None
    state: frozenset[State] = frozenset()
    workflow: Id | None = None
    since: QueryInstant | None = None


@routes.post("/handoffs", body=strict(HandoffRequest), answers={201: HandedOff})
def create_a_handoff(deps: Deps, call: Call[HandoffRequest, None]) -> Answer:
    """Hand work to an agent, to the agent that the routes name, or to any agent that is able.

    Refused with 422 if no agent would take it (`unknown_agent`, `inactive_agent`, `capability_mismatch` with the
    `missing` types and the `able` agents), and with 409 `loop_guard` if it goes round in circles: a human may release
    the manual review `review_id`.
    """
    body = call.body
    request = CreateHandoff(
        message=body.message(), kind=Kind(body.kind), claim_id=body.claim_id, work_type=body.work_type
    )
    made = create_handoff(deps, call.by, request, call.idempotency_key)
    return created(handed_off(deps, made), f"/handoffs/{made.task.handoff_id}")


@routes.get("/handoffs", query=query(HandoffListQuery, "state"), answers={200: HandoffPage})
def list_all_handoffs(deps: Deps, call: Call[None, HandoffListQuery]) -> Answer:
    """Handoffs of a workflow, to an agent, or of the last days, newest first; the filters may be combined.

    A page may hold fewer than `limit` items, even none, and still have a `next_cursor`: continue until it is null.
    """
    options = call.query
    filters = Filter(
        target=options.target,
        source=options.source,
        states=options.state,
        workflow_id=options.workflow,
        since=options.since,
    )
    page = list_handoffs(deps, call.by, filters, options.limit, cursor_of(call))

    def view(task: Task) -> ListedHandoff:
        return listed_handoff(deps, task)

    return ok(listing(call, page, view))


@routes.get("/handoffs/{handoff_id}", answers={200: HandoffView})
def get_handoff(deps: Deps, call: Call[None, None]) -> Answer:
    """One handoff: its message and its outcome."""
    return ok(handoff_view(deps, find_handoff(deps, call.by, call.params["handoff_id"])))


@routes.post("/handoffs/{handoff_id}/retry", body=strict(NoFields), answers={201: HandedOff})
def retry_a_handoff(deps: Deps, call: Call[NoFields, None]) -> Answer:
    """Retry a handoff that failed, was rejected or cancelled: a new handoff, with the context and the last checkpoint.

    By a human, or by the agent that handed it off; one retry at a time. Only a human may retry an escalation, a task
    below a cancelled one, or a task that was split.
    """
    made = retry_handoff(deps, call.by, task_of(call.params["handoff_id"]), call.idempotency_key)
    return created(handed_off(deps, made), f"/handoffs/{made.task.handoff_id}")
