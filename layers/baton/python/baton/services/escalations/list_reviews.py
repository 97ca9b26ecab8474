"""Manual reviews: one, or all of them, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.escalations.review import LOOP_GUARD, Review, ReviewState
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.services.tasks.list_notes import list_notes
from baton.steps.access.read_rights import ReadRights
from baton.steps.filtering import filtered


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDetails:
    """A review with its items."""

    review: Review
    draft: dict[str, Any] | None  # the handoff that the loop guard stopped; None for an escalation
    notes: Page  # of its requests, newest first


def find_review(deps: Deps, by: Principal, review_id: str, limit: int, cursor: str | None) -> ReviewDetails:
    """Returns the review with a page of its notes. Raises ``Unknown``."""
    review = deps.store.escalations.review(by.workspace, review_id)
    if not ReadRights(deps, by).may_read_review(review):
        raise errors.Unknown("manual review")
    draft = deps.store.escalations.review_request(by.workspace, review.id) if review.reason == LOOP_GUARD else None
    notes = list_notes(deps, by.workspace, review.id, limit, cursor)
    return ReviewDetails(review=review, draft=draft, notes=notes)


def list_reviews(deps: Deps, by: Principal, state: ReviewState | None, limit: int, cursor: str | None) -> Page:
    """Returns the reviews that the caller may read. ``state``: only those in it; None for all. A page may be shorter
    than ``limit``."""
    rights = ReadRights(deps, by)
    return filtered(
        lambda size, at: deps.store.escalations.reviews(by.workspace, size, at),
        lambda review: state in {None, review.state} and rights.may_read_review(review),
        limit,
        cursor,
    )
