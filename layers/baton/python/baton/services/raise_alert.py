"""A caller raises an alert for humans (docs/spec/lifecycle.md §7)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from baton.domain.alert import Alert, check_kind, from_snapshot, snapshot
from baton.ports import AlertCounted, AlertRaised, Extra, Remember
from baton.services.guarded import guarded
from baton.services.reading import Rights
from baton.services.retrying import decided_once

if TYPE_CHECKING:
    from baton.domain.alert import Severity
    from baton.domain.idempotency import Once, Remembered
    from baton.domain.principal import Principal
    from baton.ports import Baton


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRequest:
    kind: str
    severity: Severity
    message: str
    task_id: str | None = None


def raise_alert(baton: Baton, by: Principal, request: AlertRequest, once: Once | None = None) -> Alert:
    """Raises an alert in the caller's own name. For any principal. Raises ``InvalidInput``, ``GuardrailRefused``,
    ``Unknown`` (the task) and, once the caller has raised ``MAX_PER_HOUR`` alerts in an hour of the clock,
    ``TooManyAlerts``; nothing was written then."""
    check_kind(request.kind)

    def attempt() -> Alert:
        remembered = _saved_response(baton, by, request, once)
        saved = once.recall(remembered) if once else None
        if saved is not None:
            return from_snapshot(saved)
        alert = _new_alert(baton, by, request)
        alert = replace(alert, **guarded(baton, by.workspace, {"message": alert.message}))
        extras: list[Extra] = [Remember(once, snapshot(alert))] if once else []
        baton.store.commit(by.workspace, None, [*extras, AlertCounted(by.key, alert.raised_at), AlertRaised(alert)])
        baton.log("alert raised", action="alert_raised", alert_id=alert.id, kind=alert.kind, task_id=alert.task_id)
        return alert

    return decided_once(baton, once, from_snapshot, attempt)


def _saved_response(baton: Baton, by: Principal, request: AlertRequest, once: Once | None) -> Remembered | None:
    """The response saved under the key. Raises ``Unknown`` for a task that doesn't exist or that the caller may not
    read."""
    if request.task_id is not None:
        task, remembered = baton.store.load(by.workspace, request.task_id, once)
        Rights(baton, by).must_read(task)
        return remembered
    return baton.store.remembered(once) if once else None


def _new_alert(baton: Baton, by: Principal, request: AlertRequest) -> Alert:
    now = baton.clock.now()
    return Alert(
        workspace=by.workspace,
        id=baton.ids.new("alert", now),
        kind=request.kind,
        severity=request.severity,
        message=request.message,
        task_id=request.task_id,
        raised_by=by.key,
        raised_at=now,
    )
