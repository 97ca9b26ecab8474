"""Manual reviews: handoffs that the cap or the loop guard stopped, for humans."""

from __future__ import annotations

from typing import Literal

from api.escalations.views import ReleasedReview, ReviewPage, ReviewView, WholeReview, review_view, whole_review
from api.tasks.command_requests import Revision
from baton.domain.escalations.review import Review
from baton.ports.deps import Deps
from baton.services.escalations.list_reviews import find_review, list_reviews
from baton.services.escalations.release_review import release_review
from rest.answers import Answer, ok
from rest.models import Body, PageQuery, query, strict
from rest.pages import cursor_of, fitting, listing
from rest.routing import Call, Routes, human
from rest.tasks.trail_views import note_view
from rest.tasks.views import changed_task

routes = Routes()


class ReviewSeen(Body):
    """``version``: the version that the human has read; requests made since then refuse the release. Left out, the
    current one."""

    version: Revision | None = None


class ReviewQuery(PageQuery):
    state: Literal["open", "released"] | None = None


@routes.get("/manual-reviews", query=query(ReviewQuery), answers={200: ReviewPage})
def list_manual_reviews(deps: Deps, call: Call[None, ReviewQuery]) -> Answer:
    """Manual reviews, newest first."""
    is_open = None if call.query.state is None else call.query.state == "open"
    page = list_reviews(deps, call.by, is_open, call.query.limit, cursor_of(call))

    def view(review: Review) -> ReviewView:
        return review_view(deps, review)

    return ok(listing(call, page, view))


@routes.get("/manual-reviews/{review_id}", query=query(PageQuery), answers={200: WholeReview})
def get_manual_review(deps: Deps, call: Call[None, PageQuery]) -> Answer:
    """One manual review, with the note of each request, and the whole message that a release hands off.

    `limit` and `cursor` are for its notes, which continue with `next_cursor`.
    """
    found = find_review(deps, call.by, call.params["review_id"], call.query.limit, cursor_of(call))
    notes = fitting(call, found.notes, lambda note: note.id, note_view)
    return ok(whole_review(deps, found, notes))


@routes.post(
    "/manual-reviews/{review_id}/release",
    body=strict(ReviewSeen),
    answers={200: ReleasedReview},
    only=human("release a manual review"),
)
def release_manual_review(deps: Deps, call: Call[ReviewSeen, None]) -> Answer:
    """Release its latest request: the task is created, and approved by this."""
    review, details = release_review(deps, call.by, call.params["review_id"], call.idempotency_key, call.body.version)
    return ok({**review_view(deps, review), "task": changed_task(deps, details)})
