"""The routes that wait for something to happen before they answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import Field

from baton.bootstrap import begin, wire
from baton.domain.rights.read_rights import may_see_rules
from baton.ports.deps import Deps
from baton.services.claims.claim_task import claim_next_waiting
from baton.services.tasks.await_task import EventRange, await_task, wait_for_events
from rest import answers, models, routing
from rest.app import App
from rest.claims import views as claim_views
from rest.claims.requests import WaitingClaimRequest, waiting_claimer
from rest.tasks import trail_views
from rest.tasks import views as task_views

routes = routing.Routes()

Seconds = Annotated[float, Field(ge=0, le=25), models.from_seconds]


class AwaitQuery(models.Query):
    """``timeout``: seconds after which the answer comes in any case."""

    state: Literal["ended", task_views.StateName] = "ended"
    timeout: Seconds = 20


class EventWaitQuery(models.Query):
    after: models.EventNumber = 0
    timeout: Seconds = 20
    limit: models.Limit = 25


class ClaimWaitQuery(models.Query):
    timeout: Annotated[float, Field(ge=0, le=20), models.from_seconds] = 20


@routes.get("/tasks/{task_id}/await", query=models.query(AwaitQuery), answers={200: task_views.AwaitedTask}, waits=True)
def await_a_task(deps: Deps, call: routing.Call[None, AwaitQuery]) -> answers.Answer:
    """The task once it is in a state, or has ended; `timed_out` if that didn't happen in the given time."""
    waited = await_task(deps, call.by, call.task_id, call.query.state, call.query.timeout)
    return answers.ok({**task_views.task_view(deps, call.by, waited.details), "timed_out": waited.timed_out})


@routes.get(
    "/tasks/{task_id}/events/wait", query=models.query(EventWaitQuery), answers={200: trail_views.Trail}, waits=True
)
def wait_for_more_events(deps: Deps, call: routing.Call[None, EventWaitQuery]) -> answers.Answer:
    """The trail's entries after one, as soon as there are any; none if there weren't any in the given time."""
    options = call.query
    events = wait_for_events(deps, call.by, call.task_id, EventRange(options.after, options.limit), options.timeout)
    return answers.ok(trail_views.trail_view(events, options.after, with_rules=may_see_rules(call.by)))


@routes.post(
    "/agents/{slug}/claims/wait",
    body=models.strict(WaitingClaimRequest),
    query=models.query(ClaimWaitQuery),
    answers={200: claim_views.ClaimAnswer, 204: None},
)
def wait_for_a_claim(deps: Deps, call: routing.Call[WaitingClaimRequest, ClaimWaitQuery]) -> answers.Answer:
    """Claim the agent's best ready task as soon as there is one; 204 if there was none in the given time."""
    claimed = claim_next_waiting(deps, waiting_claimer(call), call.query.timeout, call.idempotency_key)
    return answers.ok(claim_views.claim_answer(deps, call.by, claimed)) if claimed else answers.nothing()


app = App(routes, wire)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    begin(context)
    return app(event)
