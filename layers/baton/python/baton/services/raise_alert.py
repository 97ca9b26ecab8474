"""Somebody who works here wants a human to see something (docs/spec/lifecycle.md §7)."""

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
    """By any principal, in its own name. Raises ``InvalidInput``, ``GuardrailRefused``,
    ``Unknown`` (the task) and, once the caller has
    raised ``MAX_PER_HOUR`` in an hour of the clock, ``TooManyAlerts``; nothing was written then."""
    check_kind(request.kind)

    def attempt() -> Alert:
        remembered = _facts(baton, by, request, once)
        first_answer = once.recall(remembered) if once else None
        if first_answer is not None:
            return from_snapshot(first_answer)
        alert = _new_alert(baton, by, request)
        alert = replace(alert, **guarded(baton, by.workspace, {"message": alert.message}))
        extras: list[Extra] = [Remember(once, snapshot(alert))] if once else []
        baton.store.commit(by.workspace, None, [*extras, AlertCounted(by.key, alert.raised_at), AlertRaised(alert)])
        baton.log("alert raised", action="alert_raised", alert_id=alert.id, kind=alert.kind, task_id=alert.task_id)
        return alert

    return decided_once(baton, once, from_snapshot, attempt)


def _facts(baton: Baton, by: Principal, request: AlertRequest, once: Once | None) -> Remembered | None:
    """What was answered before. Raises ``Unknown`` for a task that isn't there."""
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
