"""Synchronises the due pages of one workspace, while there is time and the tracker answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from baton.domain import errors, times
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.tracker.page_sync import Sync
from baton.domain.tracker.tracker_circuit import BACKLOG_SECONDS, RECONCILE_SECONDS, TrackerCircuit
from baton.ports.deps import Deps
from baton.ports.writes import Save
from baton.services.tracker.reconcile_tracker import BUDGET_SECONDS as RECONCILE_BUDGET_SECONDS
from baton.services.tracker.reconcile_tracker import reconcile
from baton.steps.tracker.change_tracker_circuit import change_tracker_circuit
from baton.steps.tracker.send_page import SEND_SECONDS, put_back, send_page

MARGIN_SECONDS = 10.0


@dataclass
class SyncReport:
    """The outcome of one notice."""

    sent: int = 0  # pages handled
    failed: int = 0  # of the pages handled: those without a page in the task's state
    looked: int = 0  # pages whose changes the reconciliation found
    reconciled: int = 0
    circuit_open: bool = False
    complete: bool = True  # False if time ran out


def sync_tracker(deps: Deps, workspace: str, task_id: str | None, time_left: Callable[[], float]) -> SyncReport:
    """Handles one notice. ``task_id``: its task, which no index may show; without one, the pages of all open tasks are
    looked at. Safe to run twice at once, and to stop anywhere. Raises ``Busy``."""
    synced = SyncReport()
    settings, now = deps.store.settings.of(workspace).tracker, deps.clock.now()
    circuit = deps.store.tracker.circuit(workspace)
    if settings is None:
        if circuit.wake_at is not None:
            change_tracker_circuit(
                deps, workspace, lambda circuit: None if _has_tracker(deps, workspace) else circuit.waking(None)
            )
        return synced
    if circuit.is_open(now):
        if task_id:
            put_back(deps, workspace, task_id)
        synced.circuit_open = True
        return synced
    try:
        others = [] if task_id else _overtaken(deps, workspace, now)
        task_ids = chain([task_id] if task_id else [], deps.store.tracker.page_syncs_due(workspace, now), others)
        _send(deps, (settings, circuit), task_ids, synced, time_left)
        if (
            synced.complete
            and circuit.is_reconcile_due(now)
            and time_left() > RECONCILE_BUDGET_SECONDS + MARGIN_SECONDS
        ):
            synced.looked = reconcile(deps, settings, workspace, circuit)
            synced.reconciled = 1
    except errors.TrackerTrouble:
        synced.failed += 1
        synced.circuit_open = True
        return synced
    _schedule_next(deps, workspace, circuit, now)
    return synced


def _has_tracker(deps: Deps, workspace: str) -> bool:
    return deps.store.settings.of(workspace).tracker is not None


def _overtaken(deps: Deps, workspace: str, now: datetime) -> Iterator[str]:
    """Yields tasks that have changed without a notice that arrived, and tasks whose sender died: a change writes
    nothing of its page, so the open ones are compared. The page of a task that rests is put off for its next look."""
    for page in deps.store.tracker.open_pages(workspace, now):
        for task, sync in page:
            if sync.is_due(task, now):
                yield task.id
            elif (rested := sync.rested(task, now)) is not None:
                with suppress(errors.Conflict):
                    deps.store.commit(workspace, Save(replace(rested, version=sync.version + 1)))


def _send(
    deps: Deps,
    tracker: tuple[TrackerSettings, TrackerCircuit],
    task_ids: Iterable[str],
    synced: SyncReport,
    time_left: Callable[[], float],
) -> None:
    settings, circuit = tracker
    workspace, done = circuit.workspace, set[str]()
    for task_id in task_ids:
        if task_id in done:
            continue
        done.add(task_id)
        if time_left() < SEND_SECONDS + MARGIN_SECONDS:
            synced.complete = False
            deps.tracker_queue.notify(workspace, task_id)
            return
        try:
            sent = send_page(deps, settings, workspace, task_id)
        except errors.WrittenByNewer:  # one page that can't be read doesn't hold up the others
            synced.failed += 1
            deps.log("a newer version has written a page", action="page_unreadable", task_id=task_id)
            continue
        if sent is None:
            continue
        synced.sent += 1
        synced.failed += sent.status is not Sync.OK
        if circuit.failures and synced.sent == 1:  # it answers: the next trouble is a new one
            change_tracker_circuit(deps, workspace, lambda circuit: circuit.answered() if circuit.failures else None)


def _schedule_next(deps: Deps, workspace: str, circuit: TrackerCircuit, now: datetime) -> None:
    """Sets when the sweeper sends the next notice: soon if pages wait, else for the next reconciliation."""
    if circuit.wake_at is not None and circuit.wake_at > now:
        return
    waiting = deps.store.tracker.count_waiting_page_syncs(workspace, 1)
    wake_at = deps.clock.now() + times.seconds(BACKLOG_SECONDS if waiting else RECONCILE_SECONDS)
    # Unless another process met trouble meanwhile.
    change_tracker_circuit(
        deps, workspace, lambda circuit: None if circuit.is_open(deps.clock.now()) else circuit.waking(wake_at)
    )
