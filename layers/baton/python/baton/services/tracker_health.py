"""How a workspace's tracker is doing, and what is wrong with a database."""

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
    """``waiting``: rows to be sent, counted up to 1,000. ``dead``: the first of those that were given up."""

    is_configured: bool
    gate: Gate
    is_open: bool
    waiting: int
    dead: tuple[Mirror, ...]
    webhook: Webhook | None


def tracker_health(baton: Baton, by: Principal) -> Health:
    """From what is known here: the tracker isn't asked. Of the rows that were given up, those of tasks that the caller
    may read."""
    workspace = by.workspace
    dead = baton.store.dead_mirrors(workspace, MOST_DEAD, None).items
    readable = Rights(baton, by).readable_among([row.task_id for row in dead])
    gate, webhook = baton.store.gate(workspace), baton.store.webhook(workspace)
    return Health(
        is_configured=baton.store.settings(workspace).tracker is not None,
        gate=gate,
        is_open=gate.is_open(baton.clock.now()),
        waiting=baton.store.mirrors_waiting(workspace, MOST_WAITING),
        dead=tuple(row for row in dead if row.task_id in readable),
        webhook=None if webhook is None or webhook.removed else webhook,
    )


def check_tracker(baton: Baton, workspace: str, values: Mapping[str, Any] | None) -> tuple[Problem, ...]:
    """Every problem of the configured database, or of one that might be: ``values`` are settings as ``PUT`` takes them.
    Raises ``NoTracker``, ``InvalidInput``."""
    settings = baton.store.settings(workspace)
    if values is not None:
        settings = settings.changed(tracker=values)
    if settings.tracker is None:
        raise NoTracker
    try:
        return baton.trackers.of(workspace, settings.tracker, CHECK_SECONDS).problems()
    except TrackerAway as trouble:
        return (Problem("tracker", "error", trouble.message, "Try again in a minute; see status.notion.com."),)
