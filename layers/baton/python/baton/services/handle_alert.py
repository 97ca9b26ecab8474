"""A human acknowledges or resolves an alert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.alert import from_snapshot, snapshot
from baton.ports import AlertSaved, Extra, Remember
from baton.services.guarded import guarded
from baton.services.retrying import decided_once

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from baton.domain.alert import Alert
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton


def acknowledge_alert(
    baton: Baton, by: Principal, alert_id: str, note: str | None = None, once: Once | None = None
) -> Alert:
    """Acknowledges the alert. An earlier acknowledgement or resolution stays. Raises ``Unknown``."""
    by.must_be_human("acknowledge an alert")
    return _changed(baton, by, alert_id, lambda alert, now: alert.acknowledged(by, now, _note(baton, by, note)), once)


def resolve_alert(
    baton: Baton, by: Principal, alert_id: str, note: str | None = None, once: Once | None = None
) -> Alert:
    """Resolves the alert, acknowledged or not. An earlier resolution stays. Raises ``Unknown``."""
    by.must_be_human("resolve an alert")
    return _changed(baton, by, alert_id, lambda alert, now: alert.resolved(by, now, _note(baton, by, note)), once)


def _note(baton: Baton, by: Principal, note: str | None) -> str | None:
    text: str | None = guarded(baton, by.workspace, {"note": note})["note"]
    return text


def _changed(
    baton: Baton,
    by: Principal,
    alert_id: str,
    change: Callable[[Alert, datetime], Alert],
    once: Once | None,
) -> Alert:
    def attempt() -> Alert:
        saved = once.recall(baton.store.remembered(once)) if once else None
        if saved is not None:
            return from_snapshot(saved)
        before = baton.store.alert(by.workspace, alert_id)
        after = change(before, baton.clock.now())
        extras: list[Extra] = [Remember(once, snapshot(after))] if once else []
        if after is not before:
            extras.append(AlertSaved(after))
        if extras:
            baton.store.commit(by.workspace, None, extras)
        return after

    return decided_once(baton, once, from_snapshot, attempt)
