"""Alerts: raised by Baton or by any caller, handled by humans."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from pydantic import StringConstraints

from api.alerts import views
from baton.domain.access.rights import Deed
from baton.domain.alerts.alert import MAX_MESSAGE, AlertState, Severity
from baton.ports.deps import Deps
from baton.services.alerts.handle_alert import acknowledge_alert, resolve_alert, snooze_alert
from baton.services.alerts.list_alerts import AlertFilter, find_alert, list_alerts
from baton.services.alerts.raise_alert import AlertRequest, raise_alert
from rest import answers, models, pages, routing

routes = routing.Routes()


class NewAlert(models.Body):
    """``kind``: the caller's own name for it, none of the flags that Baton raises itself."""

    kind: models.Slug
    severity: Severity
    message: Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE)]
    task_id: models.Id | None = None


class AlertNote(models.Body):
    note: models.Reason | None = None


class Snooze(models.Body):
    """``until``: null ends it."""

    until: models.Instant | None


class AlertQuery(models.PageQuery):
    """``snoozed``: only those that are put off now, or only the others."""

    state: Literal["open", "acknowledged", "resolved"] | None = None
    task_id: models.Id | None = None
    snoozed: Literal["true", "false"] | None = None


@routes.post(
    "/alerts", body=models.strict(NewAlert), answers={201: views.AlertView}, refusals=(404,), deed=Deed.RAISE_ALERT
)
def create_alert(deps: Deps, call: routing.Call[NewAlert, None]) -> answers.Answer:
    """Alert humans to a problem, about a task or not.

    At most 60 from one caller in each hour of the clock (UTC): more are refused with 409 `too_many_alerts`, and
    `Retry-After` says when the next hour begins. Alerts that Baton raises itself aren't counted.
    """
    body = call.body
    request = AlertRequest(kind=body.kind, severity=body.severity, message=body.message, task_id=body.task_id)
    alert = raise_alert(deps, call.by, request, call.idempotency_key)
    return answers.created(views.alert_view(deps, alert), f"/alerts/{alert.id}")


@routes.get("/alerts", query=models.query(AlertQuery), answers={200: views.AlertPage})
def list_all_alerts(deps: Deps, call: routing.Call[None, AlertQuery]) -> answers.Answer:
    """Alerts, newest first. A page may be shorter than `limit` and still have a next one."""
    state = None if call.query.state is None else AlertState(call.query.state)
    snoozed = None if call.query.snoozed is None else call.query.snoozed == "true"
    filters = AlertFilter(state, call.query.task_id, snoozed)
    page = list_alerts(deps, call.by, filters, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, partial(views.alert_view, deps)))


@routes.get("/alerts/{alert_id}", answers={200: views.AlertView}, page="/alerts?alert={alert_id}")
def get_alert(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """One alert."""
    return answers.ok(views.alert_view(deps, find_alert(deps, call.by, call.params["alert_id"])))


@routes.post(
    "/alerts/{alert_id}/acknowledge",
    body=models.strict(AlertNote),
    answers={200: views.AlertView},
    only=routing.human(Deed.ACKNOWLEDGE_ALERT),
)
def acknowledge_an_alert(deps: Deps, call: routing.Call[AlertNote, None]) -> answers.Answer:
    """Acknowledge an alert: a human is working on it.

    An alert that was handled before is returned unchanged; the first human stays. An alert about a change of rules or
    rights needs a person who has no part in the change and could approve before it: 403 `not_asked` names them.
    """
    alert = acknowledge_alert(deps, call.by, call.params["alert_id"], call.body.note, call.idempotency_key)
    return answers.ok(views.alert_view(deps, alert))


@routes.post(
    "/alerts/{alert_id}/resolve",
    body=models.strict(AlertNote),
    answers={200: views.AlertView},
    only=routing.human(Deed.RESOLVE_ALERT),
)
def resolve_an_alert(deps: Deps, call: routing.Call[AlertNote, None]) -> answers.Answer:
    """Resolve an alert, acknowledged or not. An alert that was resolved before is returned unchanged. An alert about a
    change of rules or rights needs another person, as for `acknowledge`."""
    alert = resolve_alert(deps, call.by, call.params["alert_id"], call.body.note, call.idempotency_key)
    return answers.ok(views.alert_view(deps, alert))


@routes.post(
    "/alerts/{alert_id}/snooze",
    body=models.strict(Snooze),
    answers={200: views.AlertView},
    only=routing.human(Deed.SNOOZE_ALERT),
)
def snooze_an_alert(deps: Deps, call: routing.Call[Snooze, None]) -> answers.Answer:
    """Put an alert off until a time, at most 30 days ahead.

    It keeps its state, and is there again by itself; `until: null` brings it back at once. One that was resolved is
    answered unchanged. An alert about a change of rules or rights needs another person, as for `acknowledge`.
    """
    alert = snooze_alert(deps, call.by, call.params["alert_id"], call.body.until, call.idempotency_key)
    return answers.ok(views.alert_view(deps, alert))
