"""Reads a manual review for a human's decision on it."""

from __future__ import annotations

from baton.domain.escalations.review import Review
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.ports.deps import Deps
from baton.ports.escalations import MarkerInputs


def with_direction(
    deps: Deps, workspace: str, review_id: str, idempotency_key: IdempotencyKey | None
) -> tuple[tuple[Review, MarkerInputs], SavedResponse | None]:
    """Returns the review and what is known of its direction, with the response that was saved under the key. Raises
    ``Unknown``."""
    review = deps.store.escalations.review(workspace, review_id)
    pair = (review.source_agent, review.target_agent) if review.target_agent is not None else None
    inputs = deps.store.escalations.marker_inputs(workspace, pair, idempotency_key)
    return (review, inputs), inputs.saved_response
