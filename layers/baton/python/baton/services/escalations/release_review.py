"""A human releases a request that the cap or the loop guard had stopped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Never

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.agents.agent import Agent
from baton.domain.escalations.marker import parse_marker
from baton.domain.escalations.review import LOOP_GUARD, Review, ReviewRequest, SeenReview
from baton.domain.escalations.review import from_snapshot as review_from_snapshot
from baton.domain.escalations.review import snapshot as review_snapshot
from baton.domain.handoffs.handoff_draft import HandoffDraft, draft_from, unbranched
from baton.domain.idempotency import IdempotencyKey
from baton.domain.runs import history
from baton.domain.settings.settings import Settings
from baton.domain.stats.decision import DecisionVerb
from baton.domain.tasks import trail
from baton.domain.tasks.calls import Seen
from baton.domain.tasks.task import Task
from baton.domain.tasks.transitions import agent_as_seen
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.escalations import MarkerInputs
from baton.ports.writes import Put, Save, Write
from baton.services.conversations.converse import as_said_now, asked_in, going_on
from baton.services.handoffs.retry_handoff import retry_opened
from baton.steps import idempotency
from baton.steps.agents import resolve_agents
from baton.steps.conversations.find_conversation import FoundConversation, find_conversation
from baton.steps.escalations.open_escalation import open_escalation
from baton.steps.escalations.review_inputs import decided, with_direction
from baton.steps.handoffs.begin_handoff import (
    PlannedHandoff,
    Terms,
    begin_handoffs,
    begun_or_refused,
    commit_handoff,
    handoffs_so_far,
)
from baton.steps.questions.handoff_rules import changed_for
from baton.steps.tasks.change_task import commit, page_sync_of

UNREAD = SeenReview()


def release_review(
    deps: Deps,
    by: Principal,
    review_id: str,
    idempotency_key: IdempotencyKey | None = None,
    seen: SeenReview = UNREAD,
) -> tuple[Review, TaskDetails]:
    """Returns the review, and the task of its latest request. The task is exempt from breaker and cap, and counts in
    them (invariant 6). The release is its approval. ``seen``: the versions that the human has read.

    Raises:
        ReviewClosed, Unknown:
        InvalidMarker: one of its agents has gone.
        VersionConflict: an agent has changed the request meanwhile, its conversation has moved on, or the name of its
            target belongs to another agent now. The review then shows the draft that a release hands off.
        AgentChanged: a service or a member has changed the target since the review named it.
        ReviewsAgentAway: the target is switched off, or isn't registered.
    """
    by.must_have(Deed.RELEASE_REVIEW)

    def replay(saved: dict[str, Any]) -> tuple[Review, TaskDetails]:
        first = trail.from_snapshot(saved["task"])
        return review_from_snapshot(by.workspace, saved["review"]), TaskDetails(
            task=first, page_sync=page_sync_of(deps, first)
        )

    def decide(read: tuple[Review, MarkerInputs]) -> tuple[Review, TaskDetails]:
        review, inputs = read
        review.must_be_as_seen(seen.version)
        asked = _Asked(by, seen, idempotency_key)
        if review.reason == LOOP_GUARD:
            return _release_handoff(deps, asked, review, inputs.settings)
        return _release(deps, asked, review, inputs)

    return idempotency.run_idempotently(
        deps, idempotency_key, lambda: with_direction(deps, by.workspace, review_id, idempotency_key), decide, replay
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A human's request to release."""

    by: Principal
    seen: SeenReview
    idempotency_key: IdempotencyKey | None


def _release(deps: Deps, asked: _Asked, review: Review, inputs: MarkerInputs) -> tuple[Review, TaskDetails]:
    now, by = deps.clock.now(), asked.by
    request = {**review.request, "source_agent": review.source_agent, "target_agent": review.target_agent}
    marker = parse_marker(request, deps.store.agents.roster(by.workspace))
    # The text has the source's name of the review, as people read it. The target's version is compared.
    marker = replace(marker, source=replace(marker.source, name=str(review.request["source_agent"])))
    review.must_be_for(marker.target, asked.seen)
    escalation = open_escalation(deps, by, marker, inputs.settings, released=review)
    task = escalation.change.task
    released = review.released(by, now, task.id)
    saved = idempotency.save_response(asked.idempotency_key, _response(released, task))
    record = decided(released, DecisionVerb.RELEASE_REVIEW, by, now)
    commit(deps, *escalation.writes(inputs.direction, ends_review=True), Save(released), record, *saved)
    return released, TaskDetails(task=task, page_sync=escalation.page_sync)


def _release_handoff(deps: Deps, asked: _Asked, review: Review, settings: Settings) -> tuple[Review, TaskDetails]:
    """Releases the latest request, in its workflow as it is now, without the loop guard. Raises ``AlreadyRetried`` if
    the handoff is a retry and another retry is still open."""
    by, idempotency_key = asked.by, asked.idempotency_key
    plain_draft = deps.store.escalations.review_request(by.workspace, review.id)
    if plain_draft is None:
        raise errors.Unknown("manual review")
    now = deps.clock.now()
    draft, agent, found = _current_draft(deps, asked.seen, review, draft_from(plain_draft), now)
    review.must_be_for(agent, asked.seen)
    terms = Terms(
        settings=settings,
        now=now,
        handoffs=handoffs_so_far(deps, by.workspace, draft),
        is_released=True,
        created_by=review.requested_by,
        authors=review.authors_for(by),
    )
    came_as = review.roster_version if agent is None else review.first_versions.get(agent.slug, 0)
    begun = begin_handoffs(deps, by, [PlannedHandoff(draft, agent, came_as=came_as)], terms)
    begun = begun_or_refused(deps, by, begun, idempotency_key)
    task = begun.only.task
    if agent is None and asked.seen.version is not None:
        read = Seen(digest=task.digest, agent_versions=asked.seen.agent_versions)
        changed = changed_for(deps, by, task, review.roster_version)
        agent_as_seen(task, read, agent, changed, {"review_id": review.id})
    released = review.released(by, now, task.id)
    extras: list[Write] = [Save(released), decided(released, DecisionVerb.RELEASE_REVIEW, by, now)]
    if found is not None:
        extras += going_on(found, begun.only, review.requested_by)
    elif _is_message(draft):
        extras.append(asked_in(begun.only, review.requested_by))
    if draft.retry_of is not None:
        extras.append(retry_opened(deps, deps.store.tasks.load(by.workspace, draft.retry_of)[0])(task.id))
    extras += idempotency.save_response(idempotency_key, _response(released, task))
    return released, commit_handoff(deps, begun, *extras)


def _current_draft(
    deps: Deps, seen: SeenReview, review: Review, stored: HandoffDraft, now: datetime
) -> tuple[HandoffDraft, Agent | None, FoundConversation | None]:
    """Returns the draft that a release hands off now, with its agent and its conversation. Raises ``VersionConflict``
    if the review shows another draft to a person who names its version."""
    draft = _in_its_workflow(deps, unbranched(stored), now)
    found = _conversation_of(deps, review.workspace, draft)
    if found is not None:
        draft = as_said_now(deps, found, draft)
    agent = _agent_named(deps, review, draft)
    resolve_agents.must_be_able(deps, review.workspace, agent, draft.requires, draft.source)
    # An edit may have given the name that the review shows to another agent.
    is_other = agent is not None and agent.slug != _name_of_target(draft)
    draft = draft if agent is None else draft.to(agent.slug)
    is_other |= found is not None and draft.plain() != stored.plain()
    if is_other and seen.version is not None:
        _show_anew(deps, review.rebuilt(agent), draft)
    return draft, agent, found


def _agent_named(deps: Deps, review: Review, draft: HandoffDraft) -> Agent | None:
    """Returns the agent that the request names, as it is now; None for open work. Raises ``ReviewsAgentAway``."""
    name = _name_of_target(draft)
    try:
        return resolve_agents.active_target(deps, review.workspace, {}, name, "target_agent")
    except (errors.UnknownAgent, errors.TargetInactive) as exc:
        raise errors.ReviewsAgentAway(str(name), review.id) from exc


def _name_of_target(draft: HandoffDraft) -> Any:
    """An earlier release stored a rollback to an unknown agent without a target: its message names the agent."""
    return draft.target or draft.message.target.fields.get("agent")


def _show_anew(deps: Deps, review: Review, draft: HandoffDraft) -> Never:
    """Stores the draft that a release hands off, for the next reading, and raises ``VersionConflict``."""
    deps.store.commit(review.workspace, Save(review), Put(ReviewRequest(review.id, draft.plain())))
    raise errors.VersionConflict("manual review", review.version)


def _response(released: Review, task: Task) -> dict[str, Any]:
    return {"review": review_snapshot(released), "task": trail.snapshot(task)}


def _in_its_workflow(deps: Deps, draft: HandoffDraft, now: datetime) -> HandoffDraft:
    """A draft that would have begun a workflow begins a new one: its planned workflow id has been shown since, and may
    be used by another principal."""
    is_named = draft.message.metadata.workflow_id is not None
    if draft.lineage.master_task_id is not None or is_named:
        return draft
    return replace(draft, lineage=replace(draft.lineage, workflow_id=deps.ids.new("wf", now)))


def _is_message(draft: HandoffDraft) -> bool:
    """True for what a user has said in a conversation."""
    is_a_start = draft.lineage.parent_id is None and draft.retry_of is None
    return is_a_start and history.conversation_in(draft.message) is not None


def _conversation_of(deps: Deps, workspace: str, draft: HandoffDraft) -> FoundConversation | None:
    """Returns the conversation that a user's message goes on with; None for its first message and for other work."""
    if not _is_message(draft) or draft.lineage.master_task_id is None:
        return None
    return find_conversation(deps, workspace, draft.lineage.workflow_id)
