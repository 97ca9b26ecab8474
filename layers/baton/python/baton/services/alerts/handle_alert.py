"""A human acknowledges, snoozes or resolves an alert."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.alerts.alert import Alert, from_snapshot, snapshot
from baton.domain.idempotency import IdempotencyKey
from baton.ports.deps import Deps
from baton.ports.writes import Save, Write
from baton.steps import idempotency
from baton.steps.guardrails.apply_guardrails import apply_guardrails

# The most people that a refusal names.
MAX_NAMED = 10


def acknowledge_alert(
    deps: Deps, by: Principal, alert_id: str, note: str | None = None, idempotency_key: IdempotencyKey | None = None
) -> Alert:
    """Acknowledges the alert. An earlier acknowledgement or resolution stays. Raises ``Unknown`` and ``NotAsked``."""
    by.must_have(Deed.ACKNOWLEDGE_ALERT)
    return _changed(
        deps, by, alert_id, lambda alert, now: alert.acknowledged(by, now, _note(deps, by, note)), idempotency_key
    )


def resolve_alert(
    deps: Deps, by: Principal, alert_id: str, note: str | None = None, idempotency_key: IdempotencyKey | None = None
) -> Alert:
    """Resolves the alert, acknowledged or not. An earlier resolution stays. Raises ``Unknown`` and ``NotAsked``."""
    by.must_have(Deed.RESOLVE_ALERT)
    return _changed(
        deps, by, alert_id, lambda alert, now: alert.resolved(by, now, _note(deps, by, note)), idempotency_key
    )


def snooze_alert(
    deps: Deps, by: Principal, alert_id: str, until: datetime | None, idempotency_key: IdempotencyKey | None = None
) -> Alert:
    """Puts the alert off until a time, or with None no longer. Raises ``Unknown``, ``NotAsked``, ``InvalidInput``."""
    by.must_have(Deed.SNOOZE_ALERT)
    return _changed(deps, by, alert_id, lambda alert, now: alert.snoozed(by, now, until), idempotency_key)


def _note(deps: Deps, by: Principal, note: str | None) -> str | None:
    text: str | None = apply_guardrails(deps, by.workspace, {"note": note})["note"]
    return text


def _by_another_person(deps: Deps, by: Principal, alert: Alert, now: datetime) -> tuple[Save, ...]:
    """Requires another person for an alert about a change of the workspace: its author can't hide it. The other person
    has been an approver since before the alert, as an administrator can make up approvers afterwards. Without such a
    person any other approver handles the alert, and without another approver everybody. Raises ``NotAsked``."""
    if alert.change_id is None:
        return ()
    people = deps.store.tokens.people(by.workspace)
    parties = deps.store.changes.change(by.workspace, alert.change_id).parties
    approvers = (people.approvers_since(alert.raised_at, now), people.approvers(now))
    others = next((sorted(left) for each in approvers if (left := each - parties)), [])
    if others and by.id not in others:
        topic = "This alert is about a change of rules or rights, which its author can't hide"
        named = ", ".join(others[:MAX_NAMED])
        raise errors.NotAsked(alert.id, f"{topic}. These people may acknowledge, snooze or resolve it: {named}.")
    return (Save(people.checked_again()),)


def _changed(
    deps: Deps,
    by: Principal,
    alert_id: str,
    change: Callable[[Alert, datetime], Alert],
    idempotency_key: IdempotencyKey | None,
) -> Alert:
    def decide() -> Alert:
        before, now = deps.store.alerts.alert(by.workspace, alert_id), deps.clock.now()
        after = change(before, now)
        writes: list[Write] = [*idempotency.save_response(idempotency_key, snapshot(after))]
        if after is not before:
            writes += [Save(after), *_by_another_person(deps, by, before, now)]
        if writes:
            deps.store.commit(by.workspace, *writes)
        return after

    return idempotency.run_once(deps, idempotency_key, decide, from_snapshot)
