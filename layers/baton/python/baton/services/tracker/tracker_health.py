"""The state of a workspace's tracker, and the problems of its database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.tracker.page_sync import PageSync
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.domain.tracker.webhook import Webhook
from baton.ports.deps import Deps
from baton.ports.tracker import TrackerProblem
from baton.steps.access.read_rights import ReadRights

CHECK_SECONDS = 20.0
MOST_WAITING = 1_000
MOST_DEAD = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerReport:
    """The state of a workspace's tracker."""

    is_configured: bool
    circuit: TrackerCircuit
    is_open: bool
    waiting: int  # pages to be sent, counted up to 1,000
    dead: tuple[PageSync, ...]  # the first that were given up
    webhook: Webhook | None


def tracker_health(deps: Deps, by: Principal) -> TrackerReport:
    """Returns what Baton knows; the tracker isn't asked. Pages that were given up are listed only for tasks that the
    caller may read."""
    workspace = by.workspace
    dead = deps.store.tracker.dead_page_syncs(workspace, MOST_DEAD, None).items
    readable = ReadRights(deps, by).readable_among([sync.task_id for sync in dead])
    circuit, webhook = deps.store.tracker.circuit(workspace), deps.store.tracker.webhook(workspace)
    return TrackerReport(
        is_configured=deps.store.settings.of(workspace).tracker is not None,
        circuit=circuit,
        is_open=circuit.is_open(deps.clock.now()),
        waiting=deps.store.tracker.count_waiting_page_syncs(workspace, MOST_WAITING),
        dead=tuple(sync for sync in dead if sync.task_id in readable),
        webhook=None if webhook is None or webhook.removed else webhook,
    )


def check_tracker(deps: Deps, workspace: str, values: Mapping[str, Any] | None) -> tuple[TrackerProblem, ...]:
    """Returns every problem of the configured database, or of a possible one: ``values`` are settings as ``PUT`` takes
    them. Raises ``NoTracker`` and ``InvalidInput``."""
    settings = deps.store.settings.of(workspace)
    if values is not None:
        settings = settings.changed(tracker=values)
    if settings.tracker is None:
        raise errors.NoTracker
    return deps.trackers.of(workspace, settings.tracker, CHECK_SECONDS).problems()
