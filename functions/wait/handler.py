"""The routes that wait for something to happen before they answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from baton.bootstrap import wire
from baton.ports.deps import Deps
from baton.services.claims.claim_task import claim_next_waiting
from baton.services.tasks.await_task import ENDED, EventRange, await_task, wait_for_events
from rest.answers import Answer, nothing, ok
from rest.app import App
from rest.claims.requests import ClaimRequest, next_claimer
from rest.claims.views import ClaimAnswer, claim_answer
from rest.models import EventNumber, Limit, Query, from_seconds, query, strict
from rest.routing import Call, Routes
from rest.tasks.trail_views import Trail, trail
from rest.tasks.views import AwaitedTask, StateName, task_view

routes = Routes()

Seconds = Annotated[float, Field(ge=0, le=25), from_seconds]


class AwaitQuery(Query):
    """``timeout``: seconds after which the answer comes in any case."""

    state: Literal["ended"] | StateName = ENDED  # type: ignore[assignment]
    timeout: Seconds = 20


class EventWaitQuery(Query):
    after: EventNumber = 0
    timeout: Seconds = 20
    limit: Limit = 25


class ClaimWaitQuery(Query):
    timeout: Annotated[float, Field(ge=0, le=20), from_seconds] = 20


@routes.get("/tasks/{task_id}/await", query=query(AwaitQuery), answers={200: AwaitedTask}, waits=True)
def await_a_task(deps: Deps, call: Call[None, AwaitQuery]) -> Answer:
    """The task once it is in a state, or has ended; `timed_out` if that didn't happen in the given time."""
    waited = await_task(deps, call.by, call.task_id, call.query.state, call.query.timeout)
    return ok({**task_view(deps, waited.details), "timed_out": waited.timed_out})


@routes.get("/tasks/{task_id}/events/wait", query=query(EventWaitQuery), answers={200: Trail}, waits=True)
def wait_for_more_events(deps: Deps, call: Call[None, EventWaitQuery]) -> Answer:
    """The trail's entries after one, as soon as there are any; none if there weren't any in the given time."""
    options = call.query
    events = wait_for_events(deps, call.by, call.task_id, EventRange(options.after, options.limit), options.timeout)
    return ok(trail(events, options.after))


@routes.post(
    "/agents/{slug}/claims/wait",
    body=strict(ClaimRequest),
    query=query(ClaimWaitQuery),
    answers={200: ClaimAnswer, 204: None},
)
def wait_for_a_claim(deps: Deps, call: Call[ClaimRequest, ClaimWaitQuery]) -> Answer:
    """Claim the agent's best ready task as soon as there is one; 204 if there was none in the given time."""
    claimed = claim_next_waiting(deps, next_claimer(call), call.query.timeout, call.idempotency_key)
    return ok(claim_answer(deps, claimed)) if claimed else nothing()


app = App(routes, wire)


def lambda_handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    return app(event)
