"""A human acknowledges or resolves an alert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.alerts.alert import from_snapshot, snapshot
from baton.ports import AlertSaved, ExtraWrite, SaveResponse
from baton.steps.guardrails.apply_guardrails import apply_guardrails
from baton.steps.retrying import run_idempotently

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from baton.domain.access.principal import Principal
    from baton.domain.alerts.alert import Alert
    from baton.domain.idempotency import IdempotencyKey
    from baton.ports import Deps


def acknowledge_alert(
    deps: Deps, by: Principal, alert_id: str, note: str | None = None, idempotency_key: IdempotencyKey | None = None
) -> Alert:
    """Acknowledges the alert. An earlier acknowledgement or resolution stays. Raises ``Unknown``."""
    by.must_be_human("acknowledge an alert")
    return _changed(
        deps, by, alert_id, lambda alert, now: alert.acknowledged(by, now, _note(deps, by, note)), idempotency_key
    )


def resolve_alert(
    deps: Deps, by: Principal, alert_id: str, note: str | None = None, idempotency_key: IdempotencyKey | None = None
) -> Alert:
    """Resolves the alert, acknowledged or not. An earlier resolution stays. Raises ``Unknown``."""
    by.must_be_human("resolve an alert")
    return _changed(
        deps, by, alert_id, lambda alert, now: alert.resolved(by, now, _note(deps, by, note)), idempotency_key
    )


def _note(deps: Deps, by: Principal, note: str | None) -> str | None:
    text: str | None = apply_guardrails(deps, by.workspace, {"note": note})["note"]
    return text


def _changed(
    deps: Deps,
    by: Principal,
    alert_id: str,
    change: Callable[[Alert, datetime], Alert],
    idempotency_key: IdempotencyKey | None,
) -> Alert:
    def attempt() -> Alert:
        saved = idempotency_key.replay(deps.store.saved_response(idempotency_key)) if idempotency_key else None
        if saved is not None:
            return from_snapshot(saved)
        before = deps.store.alert(by.workspace, alert_id)
        after = change(before, deps.clock.now())
        extras: list[ExtraWrite] = [SaveResponse(idempotency_key, snapshot(after))] if idempotency_key else []
        if after is not before:
            extras.append(AlertSaved(after))
        if extras:
            deps.store.commit(by.workspace, *extras)
        return after

    return run_idempotently(deps, idempotency_key, from_snapshot, attempt)
