"""Synchronises the due pages of one workspace, while there is time and the tracker answers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from baton.domain.errors import TrackerTrouble
from baton.domain.gate import BACKLOG_SECONDS, RECONCILE_SECONDS, Gate
from baton.domain.mirror import Sync
from baton.domain.times import seconds
from baton.services.reconcile_tracker import BUDGET_SECONDS as RECONCILE_BUDGET_SECONDS
from baton.services.reconcile_tracker import reconcile
from baton.services.send_page import SEND_SECONDS, send_page
from baton.services.tracker_gate import change_gate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from baton.domain.tracker import TrackerSettings
    from baton.ports import Baton

MARGIN_SECONDS = 10.0


@dataclass
class Synced:
    """The outcome of one notice."""

    sent: int = 0  # pages handled
    failed: int = 0  # of the pages handled: those without a page in the task's state
    looked: int = 0  # pages whose changes the reconciliation found
    reconciled: int = 0
    gate_open: bool = True
    complete: bool = True  # False if time ran out


def sync_tracker(baton: Baton, workspace: str, task_id: str | None, time_left: Callable[[], float]) -> Synced:
    """Handles one notice. ``task_id``: its task, which the index may not show yet. Safe to run twice at once, and to
    stop anywhere. Raises ``Busy``."""
    synced = Synced()
    settings, circuit, now = baton.store.settings(workspace).tracker, baton.store.gate(workspace), baton.clock.now()
    if settings is None:
        if circuit.wake_at is not None:
            change_gate(
                baton, workspace, lambda circuit: None if _has_tracker(baton, workspace) else circuit.waking(None)
            )
        return synced
    if not circuit.is_open(now):
        synced.gate_open = False
        return synced
    try:
        task_ids = chain([task_id] if task_id else [], baton.store.mirrors_due(workspace, now))
        _send(baton, settings, circuit, task_ids, synced, time_left)
        if (
            synced.complete
            and circuit.is_reconcile_due(now)
            and time_left() > RECONCILE_BUDGET_SECONDS + MARGIN_SECONDS
        ):
            synced.looked = reconcile(baton, settings, workspace, circuit)
            synced.reconciled = 1
    except TrackerTrouble:
        synced.failed += 1
        synced.gate_open = False
        return synced
    _schedule_next(baton, workspace, circuit, now)
    return synced


def _has_tracker(baton: Baton, workspace: str) -> bool:
    return baton.store.settings(workspace).tracker is not None


def _send(
    baton: Baton,
    settings: TrackerSettings,
    circuit: Gate,
    task_ids: Iterable[str],
    synced: Synced,
    time_left: Callable[[], float],
) -> None:
    workspace, done = circuit.workspace, set[str]()
    for task_id in task_ids:
        if task_id in done:
            continue
        done.add(task_id)
        if time_left() < SEND_SECONDS + MARGIN_SECONDS:
            synced.complete = False
            baton.tracker_bell.ring(workspace)
            return
        sent = send_page(baton, settings, workspace, task_id)
        if sent is None:
            continue
        synced.sent += 1
        synced.failed += sent.status is not Sync.OK
        if circuit.failures and synced.sent == 1:  # it answers: the next trouble is a new one
            change_gate(baton, workspace, lambda circuit: circuit.answered() if circuit.failures else None)


def _schedule_next(baton: Baton, workspace: str, circuit: Gate, now: datetime) -> None:
    """Sets when the sweeper sends the next notice: soon if pages wait, else for the next reconciliation."""
    if circuit.wake_at is not None and circuit.wake_at > now:
        return
    waiting = baton.store.mirrors_waiting(workspace, 1)
    wake_at = baton.clock.now() + seconds(BACKLOG_SECONDS if waiting else RECONCILE_SECONDS)
    # Unless another process met trouble meanwhile.
    change_gate(
        baton, workspace, lambda circuit: circuit.waking(wake_at) if circuit.is_open(baton.clock.now()) else None
    )
