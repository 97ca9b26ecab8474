"""Handoffs that follow from a task's end: a continuation, a rollback. The loop guard never refuses an end: an entry for
a human takes the place of the stopped child (docs/spec/protocol.md §3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Agent
from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.handoff_draft import HandoffDraft, lineage_under
from baton.domain.memory.taken_along import kept_in
from baton.domain.tasks.task import Kind, Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.ports.writes import Write
from baton.steps.agents import resolve_agents
from baton.steps.handoffs.begin_handoff import (
    NewHandoff,
    PlannedHandoff,
    StoppedHandoff,
    Terms,
    begin_handoffs,
    stopped_handoff,
)

CREATED = "created"  # the status of an outcome that has led to a task
NOBODY = "nobody_to_roll_back_to"
TO_ITS_SOURCE = "rollback_to_its_source"


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A handoff that follows, and its record."""

    outcome: dict[str, Any] = field(default_factory=dict)  # saved, and part of the answer
    child: NewHandoff | None = None
    extras: tuple[Write, ...] = ()

    @property
    def children(self) -> tuple[NewHandoff, ...]:
        return (self.child,) if self.child else ()


def continue_with(deps: Deps, by: Principal, ended: TaskDetails, completion: dict[str, Any], now: datetime) -> FollowUp:
    """Returns the handoff to the agent that a completion suggests. ``completion``: its record. An unknown agent is
    recorded, not an error (docs/spec/protocol.md §4)."""
    task, record, continuation = ended.task, ended.message, completion["continuation"]
    if task.claim is None:
        return FollowUp()
    source, name = task.claim.agent, continuation["suggested_next"]
    inputs = _facts(deps, task, name)
    try:
        agent = resolve_agents.active_agent(deps, task.workspace, inputs.agents, name, "continuation.suggested_next")
    except errors.InvalidInput as refusal:
        return FollowUp({"status": refusal.code})
    reason = continuation.get("reason") or f"Go on after: {task.title}"
    draft = HandoffDraft(
        kind=Kind.CONTINUATION,
        source=source,
        target=agent.slug,
        message=handoff_message.HandoffMessage(
            source=handoff_message.SourcePart({"agent": source}),
            target=handoff_message.TargetPart({"agent": agent.slug, "reason": reason}),
            context=record.context.merged_with(handoff_message.ContextPart(continuation.get("context_for_next"))),
            metadata=handoff_message.MetadataPart({"priority": str(task.priority)}),
            more={
                "continues": {"handoff_id": task.handoff_id, "completion_id": completion["completion_id"]},
                **kept_in(record.more),
            },
        ),
        lineage=lineage_under(task, record),
    )
    return _begin(deps, by, PlannedHandoff(draft, agent), inputs, now)


def roll_back(deps: Deps, by: Principal, ended: TaskDetails, failure: dict[str, Any], now: datetime) -> FollowUp:
    """Returns the rollback to an agent that can act on the failure (docs/spec/protocol.md §5). ``failure``: its
    record."""
    task, record = ended.task, ended.message
    request = failure.get("rollback_request") or {}
    back_to = request.get("target_agent") or record.rollback.on_failure
    if back_to is None or task.claim is None:
        return FollowUp()  # an escalation names no agent to roll back to
    is_its_own = task.join_parent is not None and task.join_parent == task.parent_id  # else it was transferred since
    names_it = request.get("target_agent") is not None
    if is_its_own and back_to == task.source_agent and not names_it:
        return FollowUp({"status": "told_to_waiting_task", "task_id": task.join_parent})
    source = task.claim.agent
    inputs = _facts(deps, task, back_to, *([source] if names_it else []))
    if names_it and source in inputs.agents:  # while it is off, the handoff names the next agent, not the agent itself
        inputs.agents[source].must_be_active()
    agent, trip = _taker_back(deps, ended, inputs.agents, source, back_to)
    draft = HandoffDraft(
        kind=Kind.ROLLBACK,
        source=source,
        target=agent.slug if agent else back_to,  # a release looks for the agent again
        message=_with_context(record, _rollback_message(ended, failure, source, back_to)),
        lineage=lineage_under(task, record),
        join_parent=task.join_parent,
        call_id=task.call_id,
    )
    planned = PlannedHandoff(draft, agent)
    if trip is not None:
        return _stopped(stopped_handoff(deps, by, planned, trip, now))
    return _begin(deps, by, planned, inputs, now)


def _taker_back(
    deps: Deps, ended: TaskDetails, known: Mapping[str, Agent], source: str, name: str
) -> tuple[Agent | None, errors.LoopTripped | None]:
    """Returns the active agent of that name, if there is one, and what keeps the rollback from it."""
    task = ended.task
    try:
        agent = resolve_agents.active_agent(deps, task.workspace, known, name, "rollback_request.target_agent")
    except errors.InvalidInput as refusal:
        message = f"It can't be rolled back to {name!r}: {refusal.message}"
        return None, errors.LoopTripped(NOBODY, message, (source, name))
    if ended.message.is_rollback and agent.slug == task.source_agent:
        message = "A rollback isn't rolled back to where it came from."
        return agent, errors.LoopTripped(TO_ITS_SOURCE, message, (source, name))
    return agent, None


def _rollback_message(
    ended: TaskDetails, failure: dict[str, Any], source: str, back_to: str
) -> handoff_message.HandoffMessage:
    """Returns what the rollback says, without the context of what failed."""
    task, request = ended.task, failure.get("rollback_request") or {}
    reason = request.get("reason")
    return handoff_message.HandoffMessage(
        source=handoff_message.SourcePart({"agent": source}),
        target=handoff_message.TargetPart({"agent": back_to, "reason": reason or failure["failure"]["description"]}),
        summary=reason or f"Rollback: {task.title}",
        metadata=handoff_message.MetadataPart({"priority": str(task.priority)}),
        more={
            "failure": failure["failure"],
            "failure_id": failure["failure_id"],
            "rollback_request": request,
            "rolls_back": {
                "handoff_id": task.handoff_id,
                "task_id": task.id,
                "checkpoint_id": failure["checkpoint_id"] or task.last_checkpoint_id,
            },
            **kept_in(ended.message.more),
        },
    )


def _with_context(
    record: handoff_message.HandoffMessage, message: handoff_message.HandoffMessage
) -> handoff_message.HandoffMessage:
    """A failure is reported whatever its size: if both are too large to store, the earlier context stays with the
    failed handoff."""
    whole = replace(message, context=handoff_message.ContextPart(record.context.fields))
    return whole if whole.fits else message.having(left_out=["context"])


def _facts(deps: Deps, task: Task, *agents: str) -> HandoffInputs:
    names = resolve_agents.slugs_among(*agents)
    return deps.store.handoffs.handoff_inputs(task.workspace, HandoffQuery(agents=names, workflow_id=task.workflow_id))


def _begin(deps: Deps, by: Principal, planned: PlannedHandoff, inputs: HandoffInputs, now: datetime) -> FollowUp:
    terms = Terms(settings=inputs.settings, now=now, handoffs=inputs.handoffs, asked_directly=False)
    begun = begin_handoffs(deps, by, [planned], terms)
    if isinstance(begun, StoppedHandoff):
        return _stopped(begun)
    task = begun.only.task
    outcome = {
        "status": CREATED,
        "handoff_id": task.handoff_id,
        "task_id": task.id,
        "target_agent": task.target_agent,
    }
    return FollowUp(outcome, begun.only, begun.extras)


def _stopped(stopped: StoppedHandoff) -> FollowUp:
    outcome = {"status": "manual_review", "rule": stopped.trip.rule, "review_id": stopped.review.id}
    return FollowUp(outcome, None, stopped.extras)
