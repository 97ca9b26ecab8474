"""The state of a workspace's tracker, and the problems of its database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from baton.domain.errors import NoTracker, TrackerAway
from baton.ports import Problem
from baton.services.reading import Rights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from baton.domain.gate import Gate
    from baton.domain.mirror import Mirror
    from baton.domain.principal import Principal
    from baton.domain.webhook import Webhook
    from baton.ports import Baton

CHECK_SECONDS = 20.0
MOST_WAITING = 1_000
MOST_DEAD = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The state of a workspace's tracker."""

    is_configured: bool
    gate: Gate
    is_open: bool
    waiting: int  # pages to be sent, counted up to 1,000
    dead: tuple[Mirror, ...]  # the first that were given up
    webhook: Webhook | None


def tracker_health(baton: Baton, by: Principal) -> Health:
    """Returns what Baton knows; the tracker isn't asked. Pages that were given up are listed only for tasks that the
    caller may read."""
    workspace = by.workspace
    dead = baton.store.dead_mirrors(workspace, MOST_DEAD, None).items
    readable = Rights(baton, by).readable_among([sync.task_id for sync in dead])
    circuit, webhook = baton.store.gate(workspace), baton.store.webhook(workspace)
    return Health(
        is_configured=baton.store.settings(workspace).tracker is not None,
        gate=circuit,
        is_open=circuit.is_open(baton.clock.now()),
        waiting=baton.store.mirrors_waiting(workspace, MOST_WAITING),
        dead=tuple(sync for sync in dead if sync.task_id in readable),
        webhook=None if webhook is None or webhook.removed else webhook,
    )


def check_tracker(baton: Baton, workspace: str, values: Mapping[str, Any] | None) -> tuple[Problem, ...]:
    """Returns every problem of the configured database, or of a possible one: ``values`` are settings as ``PUT`` takes
    them. Raises ``NoTracker`` and ``InvalidInput``."""
    settings = baton.store.settings(workspace)
    if values is not None:
        settings = settings.changed(tracker=values)
    if settings.tracker is None:
        raise NoTracker
    try:
        return baton.trackers.of(workspace, settings.tracker, CHECK_SECONDS).problems()
    except TrackerAway as trouble:
        return (Problem("tracker", "error", trouble.message, "Try again in a minute; see status.notion.com."),)
