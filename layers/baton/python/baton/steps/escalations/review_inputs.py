"""A human's decision on a manual review: what it is made on, and its entry in the record of decisions."""

from __future__ import annotations

from datetime import datetime

from baton.domain.access.principal import Principal
from baton.domain.escalations.review import Review
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.stats.decision import Decision, DecisionVerb, cut
from baton.ports.deps import Deps
from baton.ports.escalations import MarkerInputs
from baton.ports.writes import Put


def with_direction(
    deps: Deps, workspace: str, review_id: str, idempotency_key: IdempotencyKey | None
) -> tuple[tuple[Review, MarkerInputs], SavedResponse | None]:
    """Returns the review and what is known of its direction, with the response that was saved under the key. Raises
    ``Unknown``."""
    review = deps.store.escalations.review(workspace, review_id)
    pair = (review.source_agent, review.target_agent) if review.target_agent is not None else None
    inputs = deps.store.escalations.marker_inputs(workspace, pair, idempotency_key)
    return (review, inputs), inputs.saved_response


def decided(review: Review, verb: DecisionVerb, by: Principal, at: datetime, reason: str | None = None) -> Put:
    """``review``: after the decision."""
    said = review.request
    decision = Decision(
        workspace=review.workspace,
        at=at,
        about=review.id,
        seq=review.version,
        by=by.id,
        verb=str(verb),
        detail=None,
        reason=None if reason is None else cut(reason),
        title=cut(str(said.get("escalation_reason") or said.get("reason") or "")),
        source_agent=review.source_agent,
        target_agent=review.target_agent,
        priority=str(said.get("task_priority") or ""),
    )
    return Put(decision)
