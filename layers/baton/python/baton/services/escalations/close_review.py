"""A human closes a manual review: nothing comes of the requests that it has stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.escalations.review import Review, from_snapshot, snapshot
from baton.domain.guardrails.guardrails import checked_reason
from baton.domain.idempotency import IdempotencyKey
from baton.domain.stats.decision import DecisionVerb
from baton.ports.deps import Deps
from baton.ports.escalations import MarkerInputs
from baton.ports.writes import EndReview, Save, Write
from baton.steps import idempotency
from baton.steps.escalations.review_inputs import decided, with_direction


@dataclass(frozen=True, slots=True)
class Closing:
    """A human's word on a review."""

    reason: str  # shown to those who may read the review
    seen: int | None = None  # the version of the review that was looked at; None for the current one


def close_review(
    deps: Deps, by: Principal, review_id: str, closing: Closing, idempotency_key: IdempotencyKey | None = None
) -> Review:
    """Returns the review, closed. The next request that its rule stops is a review again. Raises ``HumanNeeded``,
    ``ReviewClosed``, ``Unknown`` and ``VersionConflict`` (a request came since)."""
    by.must_have(Deed.CLOSE_REVIEW)

    def replay(saved: dict[str, Any]) -> Review:
        return from_snapshot(by.workspace, saved["review"])

    def decide(read: tuple[Review, MarkerInputs]) -> Review:
        review, inputs = read
        review.must_be_as_seen(closing.seen)
        reason = checked_reason(closing.reason, inputs.settings.guardrails)
        now = deps.clock.now()
        closed = review.closed(by, now, reason)
        writes: list[Write] = [Save(closed), decided(closed, DecisionVerb.CLOSE_REVIEW, by, now, reason)]
        if inputs.direction.review_id == review.id:
            writes.append(EndReview(inputs.direction))
        writes += idempotency.save_response(idempotency_key, {"review": snapshot(closed)})
        deps.store.commit(by.workspace, *writes)
        return closed

    return idempotency.run_idempotently(
        deps, idempotency_key, lambda: with_direction(deps, by.workspace, review_id, idempotency_key), decide, replay
    )
