"""Retries the tracker after a repair: pages that were given up are tried again, and waiting ones are tried now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from baton.domain.errors import Conflict, NoTracker, Unknown
from baton.domain.gate import MAX_RETRY_AFTER_SECONDS
from baton.domain.mirror import LAST_PAUSE_SECONDS, Sync
from baton.domain.times import seconds
from baton.ports import MirrorSaved
from baton.services.reading import Rights
from baton.services.retrying import first_said, recalled
from baton.services.tracker_gate import change_gate

if TYPE_CHECKING:
    from baton.domain.idempotency import Once
    from baton.domain.mirror import Mirror
    from baton.domain.principal import Principal
    from baton.ports import Baton

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

    def public(self) -> dict[str, Any]:
        return {"revived": self.revived, "hurried": self.hurried, "complete": self.complete}


def retry_tracker(baton: Baton, by: Principal, task_id: str | None, once: Once | None = None) -> Retried:
    """Retries all pages, or one task's. Raises ``NoTracker``, and ``Unknown`` for a task without a page
    synchronisation. May be stopped anywhere and repeated."""
    by.must_not_be_agent("retry the tracker")
    saved = recalled(baton, once)
    if saved is not None:
        return Retried(**saved)
    if baton.store.settings(by.workspace).tracker is None:
        raise NoTracker
    if task_id is not None and not Rights(baton, by).readable_among([task_id]):
        raise Unknown("task with a page")
    now = baton.clock.now()
    change_gate(baton, by.workspace, lambda circuit: circuit.opened(now))
    retried = _retry_one(baton, by.workspace, task_id) if task_id else _retry_all(baton, by.workspace)
    baton.tracker_bell.ring(by.workspace, task_id)
    return Retried(**first_said(baton, once, retried.public())) if once else retried


def _retry_one(baton: Baton, workspace: str, task_id: str) -> Retried:
    sync = baton.store.mirror(workspace, task_id)
    if sync is None:
        raise Unknown("task with a page")
    return Retried().counting(_revive(baton, sync))


def _retry_all(baton: Baton, workspace: str) -> Retried:
    retried, cursor = Retried(), None
    for _ in range(MOST_AT_ONCE // PAGE):
        page = baton.store.dead_mirrors(workspace, PAGE, cursor)
        for sync in page.items:
            retried = retried.counting(_revive(baton, sync))
        cursor = page.cursor
        if cursor is None:
            return _hurry(baton, workspace, retried)
    return replace(retried, complete=False)


def hurry(baton: Baton, workspace: str) -> None:
    """Tries waiting pages now."""
    _hurry(baton, workspace, Retried())


def _hurry(baton: Baton, workspace: str, retried: Retried) -> Retried:
    """Tries pages now that wait for a later moment."""
    latest = baton.clock.now() + seconds(LAST_PAUSE_SECONDS + MAX_RETRY_AFTER_SECONDS)
    for number, task_id in enumerate(baton.store.mirrors_due(workspace, latest)):
        if number >= MOST_AT_ONCE:
            return replace(retried, complete=False)
        sync = baton.store.mirror(workspace, task_id)
        if sync is not None:
            retried = retried.counting(_revive(baton, sync))
    return retried


def _revive(baton: Baton, sync: Mirror) -> Sync | None:
    """Returns the old status if the page is now tried sooner. A page that a sender holds, or whose last request is
    unclear, is left alone."""
    now = baton.clock.now()
    if sync.held_until is not None or (sync.status is not Sync.DEAD and (sync.due_at is None or sync.due_at <= now)):
        return None
    try:
        baton.store.commit(sync.workspace, None, [MirrorSaved(replace(sync.revived(now), version=sync.version + 1))])
    except Conflict:
        return None  # another sender is at it already
    return sync.status
