"""Retries the tracker after a repair: pages that were given up are tried again, and waiting ones are tried now."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tracker.page_sync import LAST_PAUSE_SECONDS, PageSync, Sync
from baton.domain.tracker.tracker_circuit import MAX_RETRY_AFTER_SECONDS
from baton.ports.deps import Deps
from baton.ports.writes import Save
from baton.steps import idempotency
from baton.steps.access.read_rights import ReadRights
from baton.steps.tracker.change_tracker_circuit import change_tracker_circuit

MOST_AT_ONCE = 200
PAGE = 50


@dataclass(frozen=True, slots=True)
class Retried:
    """The result of a retry."""

    revived: int = 0  # pages that were given up
    hurried: int = 0  # pages that waited for a later moment
    complete: bool = True  # False if there are more than one call handles: call again

    def counting(self, was: Sync | None) -> Retried:
        if was is None:
            return self
        if was is Sync.DEAD:
            return replace(self, revived=self.revived + 1)
        return replace(self, hurried=self.hurried + 1)


def retry_tracker(
    deps: Deps, by: Principal, task_id: str | None, idempotency_key: IdempotencyKey | None = None
) -> Retried:
    """Retries all pages, or one task's. Raises ``NoTracker``, and ``Unknown`` for a task without a page
    synchronisation. May be stopped anywhere and repeated."""
    by.must_not_be_agent("retry the tracker")
    saved = idempotency.saved_so_far(deps, idempotency_key)
    if saved is not None:
        return Retried(**saved)
    if deps.store.settings.of(by.workspace).tracker is None:
        raise errors.NoTracker
    if task_id is not None and not ReadRights(deps, by).readable_among([task_id]):
        raise errors.Unknown("task with a page")
    now = deps.clock.now()
    change_tracker_circuit(deps, by.workspace, lambda circuit: circuit.closed(now))
    retried = _retry_one(deps, by.workspace, task_id) if task_id else _retry_all(deps, by.workspace)
    deps.tracker_queue.notify(by.workspace, task_id)
    return (
        Retried(**idempotency.save_first_response(deps, idempotency_key, asdict(retried)))
        if idempotency_key
        else retried
    )


def _retry_one(deps: Deps, workspace: str, task_id: str) -> Retried:
    sync = deps.store.tracker.page_sync(workspace, task_id)
    if sync is None:
        raise errors.Unknown("task with a page")
    return Retried().counting(_revive(deps, sync))


def _retry_all(deps: Deps, workspace: str) -> Retried:
    retried, cursor = Retried(), None
    for _ in range(MOST_AT_ONCE // PAGE):
        page = deps.store.tracker.dead_page_syncs(workspace, PAGE, cursor)
        for sync in page.items:
            retried = retried.counting(_revive(deps, sync))
        cursor = page.cursor
        if cursor is None:
            return _hurry(deps, workspace, retried)
    return replace(retried, complete=False)


def hurry(deps: Deps, workspace: str) -> None:
    """Tries waiting pages now."""
    _hurry(deps, workspace, Retried())


def _hurry(deps: Deps, workspace: str, retried: Retried) -> Retried:
    """Tries pages now that wait for a later moment."""
    latest = deps.clock.now() + times.seconds(LAST_PAUSE_SECONDS + MAX_RETRY_AFTER_SECONDS)
    for number, task_id in enumerate(deps.store.tracker.page_syncs_due(workspace, latest)):
        if number >= MOST_AT_ONCE:
            return replace(retried, complete=False)
        sync = deps.store.tracker.page_sync(workspace, task_id)
        if sync is not None:
            retried = retried.counting(_revive(deps, sync))
    return retried


def _revive(deps: Deps, sync: PageSync) -> Sync | None:
    """Returns the old status if the page is now tried sooner. A page that a sender holds, or whose last request is
    unclear, is left alone."""
    now = deps.clock.now()
    if sync.held_until is not None or (sync.status is not Sync.DEAD and (sync.due_at is None or sync.due_at <= now)):
        return None
    try:
        deps.store.commit(sync.workspace, Save(replace(sync.revived(now), version=sync.version + 1)))
    except errors.Conflict:
        return None  # another sender is at it already
    return sync.status
