"""A caller raises an alert for humans (docs/spec/lifecycle.md §7)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.alerts.alert import MAX_PER_HOUR, Alert, AlertCount, Severity, check_kind, from_snapshot, snapshot
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.ports.deps import Deps
from baton.ports.writes import Add, Save
from baton.steps import idempotency
from baton.steps.access.read_rights import ReadRights
from baton.steps.guardrails.apply_guardrails import apply_guardrails


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRequest:
    kind: str
    severity: Severity
    message: str
    task_id: str | None = None


def raise_alert(
    deps: Deps, by: Principal, request: AlertRequest, idempotency_key: IdempotencyKey | None = None
) -> Alert:
    """Raises an alert in the caller's own name. For any principal. Raises ``InvalidInput``, ``GuardrailRefused``,
    ``Unknown`` (the task) and, once the caller has raised ``MAX_PER_HOUR`` alerts in an hour of the clock,
    ``TooManyAlerts``; nothing was written then."""
    by.must_have(Deed.RAISE_ALERT)
    check_kind(request.kind)

    def read() -> tuple[None, SavedResponse | None]:
        return None, _saved_response(deps, by, request, idempotency_key)

    def decide(_: None) -> Alert:
        alert = _new_alert(deps, by, request)
        alert = replace(alert, **apply_guardrails(deps, by.workspace, {"message": alert.message}))
        saved = idempotency.save_response(idempotency_key, snapshot(alert))
        deps.store.commit(by.workspace, *saved, Add(AlertCount(by.key, alert.raised_at), 1, MAX_PER_HOUR), Save(alert))
        deps.log("alert raised", action="alert_raised", alert_id=alert.id, task_id=alert.task_id)
        return alert

    return idempotency.run_idempotently(deps, idempotency_key, read, decide, from_snapshot)


def _saved_response(
    deps: Deps, by: Principal, request: AlertRequest, idempotency_key: IdempotencyKey | None
) -> SavedResponse | None:
    """The response saved under the key. Raises ``Unknown`` for a task that doesn't exist or that the caller may not
    read."""
    if request.task_id is not None:
        task, saved_response = deps.store.tasks.load(by.workspace, request.task_id, idempotency_key)
        ReadRights(deps, by).must_read(task)
        return saved_response
    return deps.store.saved_response(idempotency_key) if idempotency_key else None


def _new_alert(deps: Deps, by: Principal, request: AlertRequest) -> Alert:
    now = deps.clock.now()
    return Alert(
        workspace=by.workspace,
        id=deps.ids.new("alert", now),
        kind=request.kind,
        severity=request.severity,
        message=request.message,
        task_id=request.task_id,
        raised_by=by.key,
        raised_at=now,
    )
