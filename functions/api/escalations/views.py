"""Manual reviews as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from baton.domain.access.principal import Principal
from baton.domain.escalations.review import Review
from baton.ports.deps import Deps
from baton.services.escalations.list_reviews import ReviewDetails
from baton.steps.memory.shown_message import shown_message
from rest import pages
from rest.shape import ViewShape
from rest.tasks import trail_views
from rest.tasks import views as task_views


class ReviewView(TypedDict):
    """A direction that reached its cap, or a chain that the loop guard stopped: by which ``rule``, after which
    ``chain`` of agents. ``request`` is the latest one, which a release creates; ``count``, how many there were.
    ``target_agent``: null for open work."""

    id: str
    state: Literal["open", "released", "closed"]
    reason: Literal["escalation_cap", "loop_guard"]
    rule: str | None
    chain: list[str]
    source_agent: str
    target_agent: str | None
    request: dict[str, Any]
    requested_by: str
    count: int
    opened_at: str
    last_at: str
    released_at: str | None
    released_by: str | None
    task_id: str | None
    task_url: str | None
    closed_at: str | None
    closed_by: str | None
    closed_reason: str | None
    version: int


class WholeReview(ReviewView):
    """The review with the notes of its requests, newest first; ``next_cursor``: for more notes. ``handoff``: the whole
    message that a release hands off, for a chain that the loop guard stopped; null for an escalation, where ``request``
    is complete."""

    notes: list[trail_views.NoteView]
    next_cursor: str | None
    handoff: dict[str, Any] | None


class ReleasedReview(ReviewView):
    task: task_views.ChangedTask


ReviewPage = pages.of("ReviewPage", ReviewView)
_REVIEW = ViewShape(ReviewView, Review, "state reason task_url")


def review_view(deps: Deps, review: Review) -> ReviewView:
    task_url = deps.task_url(review.task_id) if review.task_id else None
    return _REVIEW(review, state=str(review.state), reason=review.reason, task_url=task_url)


def whole_review(deps: Deps, by: Principal, details: ReviewDetails, notes: pages.Listing) -> WholeReview:
    handoff = None if details.draft is None else shown_message(deps, by, details.draft["message"])
    noted = {"notes": notes["items"], "next_cursor": notes["next_cursor"]}
    return {**review_view(deps, details.review), **noted, "handoff": handoff}  # type: ignore[typeddict-item]
