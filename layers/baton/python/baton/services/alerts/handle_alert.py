"""A human acknowledges, snoozes or resolves an alert."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from baton.domain.access.principal import Principal
from baton.domain.alerts.alert import Alert, from_snapshot, snapshot
from baton.domain.idempotency import IdempotencyKey
from baton.ports.deps import Deps
from baton.ports.writes import Save, Write
from baton.steps import idempotency
from baton.steps.guardrails.apply_guardrails import apply_guardrails


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


def snooze_alert(
    deps: Deps, by: Principal, alert_id: str, until: datetime | None, idempotency_key: IdempotencyKey | None = None
) -> Alert:
    """Puts the alert off until a time, or with None no longer. Raises ``Unknown`` and ``InvalidInput``."""
    by.must_be_human("snooze an alert")
    return _changed(deps, by, alert_id, lambda alert, now: alert.snoozed(by, now, until), idempotency_key)


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
    def decide() -> Alert:
        before = deps.store.alerts.alert(by.workspace, alert_id)
        after = change(before, deps.clock.now())
        writes: list[Write] = [*idempotency.save_response(idempotency_key, snapshot(after))]
        if after is not before:
            writes.append(Save(after))
        if writes:
            deps.store.commit(by.workspace, *writes)
        return after

    return idempotency.run_once(deps, idempotency_key, decide, from_snapshot)
