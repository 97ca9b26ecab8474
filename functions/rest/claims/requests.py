"""The request for a claim, immediate or waiting."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, TypeVar

from pydantic import Field

from baton.domain import errors
from baton.domain.memory.taken_along import MAX_MEMORIES
from baton.domain.tasks.task import DEFAULT_LEASE_SECONDS
from baton.ports.deps import Deps
from baton.services.claims.claim_task import agent_to_claim_for
from baton.steps.claims.take_task import Claimer
from rest import models, routing


class ClaimRequest(models.Body):
    """``agent``: whom a service or human with the scope ``act_as`` claims for. ``worker``: a name for logs and
    recoveries, by default the caller's. ``lease_seconds``: until the claim ends without a heartbeat.
    ``auto_memories``: so many entries of the blackboard that fit the work come with the claim."""

    agent: models.Slug | None = None
    worker: models.Worker | None = None
    lease_seconds: models.LeaseSeconds = DEFAULT_LEASE_SECONDS
    auto_memories: Annotated[int, Field(ge=0, le=MAX_MEMORIES)] = 0


class WaitingClaimRequest(ClaimRequest):
    """``first_lease_seconds``: of a claim that is made after a wait, until its first verb; then ``lease_seconds``, the
    most that it is. For a caller that may be gone by then: a claim that nobody takes up costs no attempt."""

    first_lease_seconds: models.LeaseSeconds | None = None


class NamedClaimRequest(ClaimRequest):
    """``resume_fence``: goes on with the caller's own claim of this fence, as the task shows it, under a new
    ``claim_id``; the old one is stale from then on."""

    resume_fence: Annotated[int, Field(ge=1, lt=2**53)] | None = None


RequestT = TypeVar("RequestT", bound=ClaimRequest)


def next_claimer(call: routing.Call[RequestT, Any]) -> Claimer:
    """Returns the claimer for the agent in the path. Raises ``InvalidInput`` if the body names another one."""
    if call.body.agent not in {None, call.slug}:
        raise errors.InvalidInput("agent", "must be the agent that the path names")
    return _claimer(call, call.slug)


def waiting_claimer(call: routing.Call[WaitingClaimRequest, Any]) -> Claimer:
    """Returns the claimer for the agent in the path, for a claim that is waited for. Raises as ``next_claimer``."""
    return replace(next_claimer(call), first_lease_seconds=call.body.first_lease_seconds)


def claimer_of(deps: Deps, call: routing.Call[NamedClaimRequest, Any]) -> Claimer:
    """Returns the claimer for the named agent. Without one, an agent claims as itself, and any other principal for the
    task's target. Raises ``InvalidInput`` if no agent is named for open work."""
    agent = call.body.agent or agent_to_claim_for(deps, call.by, call.task_id)
    return replace(_claimer(call, agent), resumes=call.body.resume_fence)


def _claimer(call: routing.Call[RequestT, Any], agent: str) -> Claimer:
    return Claimer(
        by=call.by,
        agent=agent,
        worker=call.body.worker or call.by.id,
        lease_seconds=call.body.lease_seconds,
        memories=call.body.auto_memories,
    )
