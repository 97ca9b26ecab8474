"""The tracker: its token, health, retries, import and webhook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import StringConstraints

from api.access.change_views import ChangeView, done_or_pending
from api.tracker import requests, views
from baton.domain import times
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from baton.services.tracker.import_tracker import import_tracker
from baton.services.tracker.open_webhook import open_webhook, remove_webhook, webhook_of
from baton.services.tracker.retry_tracker import retry_tracker
from baton.services.tracker.set_tracker_token import MAX_TOKEN, set_tracker_token
from baton.services.tracker.tracker_health import check_tracker, tracker_health
from rest import answers, models, routing

routes = routing.Routes()

# The function is stopped after 25 s: a page that was begun by then must be finished.
IMPORT_SECONDS = 18


class TrackerToken(models.Body):
    token: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TOKEN)]


class CheckRequest(models.Body):
    """``tracker``: settings to try, as PUT /workspace/settings takes them; left out, the present ones."""

    tracker: requests.TrackerRequest | None = None


class RetryRequest(models.Body):
    """``task_id``: left out, all pages that were given up."""

    task_id: models.Id | None = None


@routes.put(
    "/tracker/token",
    body=models.strict(TrackerToken),
    answers={204: None},
    only=routing.human(Deed.SET_TRACKER_TOKEN),
)
def put_tracker_token(deps: Deps, call: routing.Call[TrackerToken, None]) -> answers.Answer:
    """Give Baton its Notion token. It is never shown again."""
    set_tracker_token(deps, call.by, call.body.token)
    return answers.nothing()


@routes.get("/tracker/health", answers={200: views.TrackerHealth})
def get_tracker_health(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """The tracker's health, as far as Baton knows it: the tracker isn't contacted."""
    return answers.ok(views.health_view(tracker_health(deps, call.by), deps.clock.now()))


@routes.post(
    "/tracker/check",
    body=models.strict(CheckRequest),
    answers={200: views.TrackerCheck},
    only=routing.not_agent("check the tracker"),
    is_idempotent=False,
    deed=Deed.RETRY_PAGES,
)
def check_the_tracker(deps: Deps, call: routing.Call[CheckRequest, None]) -> answers.Answer:
    """All problems of the tracker's database, with a remedy each. Changes nothing."""
    values = call.body.tracker.given() if call.body.tracker else None
    return answers.ok(views.check_view(check_tracker(deps, call.by.workspace, values)))


@routes.post(
    "/tracker/retry",
    body=models.strict(RetryRequest),
    answers={200: views.RetriedView},
    only=routing.not_agent("retry the tracker"),
    refusals=(404,),
    deed=Deed.RETRY_PAGES,
)
def retry_the_tracker(deps: Deps, call: routing.Call[RetryRequest, None]) -> answers.Answer:
    """Retry now: all pages that were given up, or one task's page."""
    return answers.ok(views.retried_view(retry_tracker(deps, call.by, call.body.task_id, call.idempotency_key)))


@routes.post(
    "/tracker/import",
    body=models.strict(models.NoFields),
    answers={200: views.ImportedView},
    only=routing.human(Deed.IMPORT_TRACKER),
)
def import_from_the_tracker(deps: Deps, call: routing.Call[models.NoFields, None]) -> answers.Answer:
    """Create tasks for the window's handoffs that exist only in the tracker.

    May take 20 seconds. Imported handoffs stay, and aren't imported again, if the tracker fails in the middle: repeat
    it until it is `complete`.
    """
    return answers.ok(views.imported_view(import_tracker(deps, call.by, _has_time(deps), call.idempotency_key)))


def _has_time(deps: Deps) -> Callable[[], bool]:
    until = deps.clock.now() + times.seconds(IMPORT_SECONDS)
    return lambda: deps.clock.now() < until


@routes.post(
    "/tracker/webhook",
    body=models.strict(models.NoFields),
    answers={201: views.OpenedWebhook},
    only=routing.human(Deed.OPEN_WEBHOOK),
    is_idempotent=False,
)
def open_a_webhook(deps: Deps, call: routing.Call[models.NoFields, None]) -> answers.Answer:
    """Open an address for Notion's webhook, for ten minutes.

    The address is shown once, so this takes no Idempotency-Key: repeated, it opens another one, and the one before is
    unknown from then on. If `tracker.rights` gives some people a lower right, everybody gets the alert `rules_changed`.
    """
    return answers.created(views.opened_webhook(deps, *open_webhook(deps, call.by)))


@routes.get(
    "/tracker/webhook", answers={200: views.WebhookView}, only=routing.human(Deed.LOOK_AT_WEBHOOK), refusals=(404,)
)
def get_webhook(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """The progress of the webhook's installation, and for administrators the `verification_token` that Notion needs."""
    return answers.ok(views.webhook_view(webhook_of(deps, call.by), call.by, deps.clock.now()))


@routes.delete(
    "/tracker/webhook",
    answers={202: ChangeView, 204: None},
    only=routing.human(Deed.REMOVE_WEBHOOK),
    refusals=(404,),
)
def delete_webhook(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """Take the webhook down: its address is unknown from the next delivery on.

    If `tracker.rights` gives some people a lower right, and the webhook has had a signed delivery, the removal waits
    for a second administrator: 202 with the pending change. The same holds while the tracker is off.
    """
    return done_or_pending(deps, lambda: remove_webhook(deps, call.by), lambda _: answers.nothing())
