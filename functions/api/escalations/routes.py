"""Manual reviews: handoffs that the cap or the loop guard stopped, for humans."""

from __future__ import annotations

from functools import partial
from typing import Literal

from api.escalations import views
from api.handoffs import requests
from api.tasks.command_requests import Revision
from baton.domain.access.rights import Deed
from baton.domain.escalations.review import ReviewState, SeenReview
from baton.ports.deps import Deps
from baton.services.escalations.close_review import Closing, close_review
from baton.services.escalations.list_reviews import find_review, list_reviews
from baton.services.escalations.release_review import release_review
from rest import answers, models, pages, routing
from rest.tasks import trail_views
from rest.tasks import views as task_views

routes = routing.Routes()


class ReviewSeen(models.Body):
    """``version``: the version that the human has read. Left out, the current one. Requests made since then refuse the
    release. So does a conversation that has moved on: the review then shows the new handoff, in its next version.
    ``agent_version``: the target's ``version``, once they have looked at it. Needed beside a ``version`` if a service
    or a member has changed the agent since the latest request. ``agent_versions``: for open work, the versions of the
    agents that rules hold back from it, by slug."""

    version: Revision | None = None
    agent_version: Revision | None = None
    agent_versions: requests.AgentVersions | None = None


class ReviewClosing(models.Body):
    """``version``: the version that the human has read; requests made since then refuse the closing. Left out, the
    current one. ``reason``: shown to whoever may read the review, those who asked among them."""

    version: Revision | None = None
    reason: requests.Line


class ReviewQuery(models.PageQuery):
    state: Literal["open", "released", "closed"] | None = None


@routes.get("/manual-reviews", query=models.query(ReviewQuery), answers={200: views.ReviewPage})
def list_manual_reviews(deps: Deps, call: routing.Call[None, ReviewQuery]) -> answers.Answer:
    """Manual reviews, newest first."""
    state = None if call.query.state is None else ReviewState(call.query.state)
    page = list_reviews(deps, call.by, state, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, partial(views.review_view, deps)))


@routes.get(
    "/manual-reviews/{review_id}",
    query=models.query(models.PageQuery),
    answers={200: views.WholeReview},
    page="/reviews/{review_id}",
)
def get_manual_review(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """One manual review, with the note of each request, and the whole message that a release hands off.

    `limit` and `cursor` are for its notes, which continue with `next_cursor`.
    """
    found = find_review(deps, call.by, call.params["review_id"], call.query.limit, pages.cursor_of(call))
    notes = pages.fitting(call, found.notes, lambda note: note.id, trail_views.note_view)
    return answers.ok(views.whole_review(deps, call.by, found, notes))


@routes.post(
    "/manual-reviews/{review_id}/release",
    body=models.strict(ReviewSeen),
    answers={200: views.ReleasedReview},
    only=routing.human(Deed.RELEASE_REVIEW),
)
def release_manual_review(deps: Deps, call: routing.Call[ReviewSeen, None]) -> answers.Answer:
    """Release its latest request: the task is created, and approved by this."""
    seen = SeenReview(call.body.version, call.body.agent_version, call.body.agent_versions or {})
    review, details = release_review(deps, call.by, call.params["review_id"], call.idempotency_key, seen)
    return answers.ok({**views.review_view(deps, review), "task": task_views.changed_task(deps, call.by, details)})


@routes.post(
    "/manual-reviews/{review_id}/close",
    body=models.strict(ReviewClosing),
    answers={200: views.ReviewView},
    only=routing.human(Deed.CLOSE_REVIEW),
)
def close_manual_review(deps: Deps, call: routing.Call[ReviewClosing, None]) -> answers.Answer:
    """Close it without a release: nothing comes of its requests. The next one that the rule stops is a review again."""
    closing = Closing(call.body.reason, call.body.version)
    closed = close_review(deps, call.by, call.params["review_id"], closing, call.idempotency_key)
    return answers.ok(views.review_view(deps, closed))
