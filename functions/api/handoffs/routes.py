"""Making, finding and retrying handoffs."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import StringConstraints

from api.handoffs import requests, views
from baton.domain.access.rights import Deed
from baton.domain.task_state import State
from baton.domain.tasks.task import Kind
from baton.ports.deps import Deps
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.find_handoff import find_handoff, task_of
from baton.services.handoffs.list_handoffs import Filter, list_handoffs
from baton.services.handoffs.retry_handoff import retry_handoff
from rest import answers, models, pages, routing

routes = routing.Routes()


class HandoffListQuery(models.PageQuery):
    """``target``, ``source``: slugs; ``source`` may also be a principal that is no agent (``human:alice``). ``state``:
    of the task. ``since``: created then or later; without ``target`` and ``workflow`` at most 366 days back, by default
    7."""

    target: models.Slug | None = None
    source: Annotated[str, StringConstraints(min_length=1, max_length=requests.MAX_NAME)] | None = None
    state: frozenset[State] = frozenset()
    workflow: models.Id | None = None
    since: models.QueryInstant | None = None


@routes.post(
    "/handoffs", body=models.strict(requests.HandoffRequest), answers={201: views.HandedOff}, deed=Deed.HAND_OFF
)
def create_a_handoff(deps: Deps, call: routing.Call[requests.HandoffRequest, None]) -> answers.Answer:
    """Hand work to an agent, to the agent that the routes name, or to any agent that is able.

    Refused with 422 if no agent would take it (`unknown_agent`, `inactive_agent`, `capability_mismatch` with the
    `missing` types and the `able` agents), and with 409 `loop_guard` if it goes round in circles: a human may release
    the manual review `review_id`.
    """
    body = call.body
    request = CreateHandoff(
        message=body.message(),
        kind=Kind(body.kind),
        claim_id=body.claim_id,
        worker=body.worker,
        work_type=body.work_type,
    )
    made = create_handoff(deps, call.by, request, call.idempotency_key)
    return answers.created(views.handed_off(deps, call.by, made), f"/handoffs/{made.task.handoff_id}")


@routes.get(
    "/handoffs", query=models.query(HandoffListQuery, "state"), answers={200: views.HandoffPage}, made_of_tasks=True
)
def list_all_handoffs(deps: Deps, call: routing.Call[None, HandoffListQuery]) -> answers.Answer:
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
    page = list_handoffs(deps, call.by, filters, options.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, partial(views.listed_handoff, deps)))


@routes.get(
    "/handoffs/{handoff_id}", answers={200: views.HandoffView}, made_of_tasks=True, page="/handoffs/{handoff_id}"
)
def get_handoff(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """One handoff: its message and its outcome."""
    return answers.ok(views.handoff_view(deps, call.by, find_handoff(deps, call.by, call.params["handoff_id"])))


@routes.post(
    "/handoffs/{handoff_id}/retry",
    body=models.strict(requests.HandoffRetry),
    answers={201: views.HandedOff},
    deed=Deed.HAND_OFF,
)
def retry_a_handoff(deps: Deps, call: routing.Call[requests.HandoffRetry, None]) -> answers.Answer:
    """Retry a handoff that failed, was rejected or cancelled: a new handoff, with the context and the last checkpoint.

    By a human, or by the agent that handed it off; one retry at a time. Only a human may retry an escalation, a task
    below a cancelled one, or a task that was split. A human who may approve also approves the retry: 409
    `agent_changed` if a service or a member has changed its agent since the first was approved.
    """
    handoff_id, looked_at = call.params["handoff_id"], call.body.looked_at
    made = retry_handoff(deps, call.by, task_of(handoff_id), call.idempotency_key, looked_at)
    return answers.created(views.handed_off(deps, call.by, made), f"/handoffs/{made.task.handoff_id}")
