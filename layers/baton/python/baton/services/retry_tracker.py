"""Somebody has mended something: what was given up is tried again, and what waits is tried now."""

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
    """``revived``: rows that were given up, ``hurried``: rows that waited for a later moment. ``complete``: False if
    there are more of them than are dealt with at once: call again."""

    revived: int = 0
    hurried: int = 0
    complete: bool = True

    def counting(self, was: Sync | None) -> Retried:
        if was is None:
            return self
        if was is Sync.DEAD:
            return replace(self, revived=self.revived + 1)
        return replace(self, hurried=self.hurried + 1)

    def public(self) -> dict[str, Any]:
        return {"revived": self.revived, "hurried": self.hurried, "complete": self.complete}


def retry_tracker(baton: Baton, by: Principal, task_id: str | None, once: Once | None = None) -> Retried:
    """All rows, or that of one task. Raises ``NoTracker`` and, for a task without a row, ``Unknown``. May be stopped
    anywhere and repeated."""
    by.must_not_be_agent("retry the tracker")
    first_answer = recalled(baton, once)
    if first_answer is not None:
        return Retried(**first_answer)
    if baton.store.settings(by.workspace).tracker is None:
        raise NoTracker
    if task_id is not None and not Rights(baton, by).readable_among([task_id]):
        raise Unknown("task with a page")
    now = baton.clock.now()
    change_gate(baton, by.workspace, lambda gate: gate.opened(now))
    retried = _one(baton, by.workspace, task_id) if task_id else _all(baton, by.workspace)
    baton.tracker_bell.ring(by.workspace, task_id)
    return Retried(**first_said(baton, once, retried.public())) if once else retried


def _one(baton: Baton, workspace: str, task_id: str) -> Retried:
    row = baton.store.mirror(workspace, task_id)
    if row is None:
        raise Unknown("task with a page")
    return Retried().counting(_revived(baton, row))


def _all(baton: Baton, workspace: str) -> Retried:
    retried, cursor = Retried(), None
    for _ in range(MOST_AT_ONCE // PAGE):
        page = baton.store.dead_mirrors(workspace, PAGE, cursor)
        for row in page.items:
            retried = retried.counting(_revived(baton, row))
        cursor = page.cursor
        if cursor is None:
            return _hurried(baton, workspace, retried)
    return replace(retried, complete=False)


def hurry(baton: Baton, workspace: str) -> None:
    """What waits for a later moment is tried now."""
    _hurried(baton, workspace, Retried())


def _hurried(baton: Baton, workspace: str, retried: Retried) -> Retried:
    """Rows that wait for a moment that is still to come."""
    ever = baton.clock.now() + seconds(LAST_PAUSE_SECONDS + MAX_RETRY_AFTER_SECONDS)
    for number, task_id in enumerate(baton.store.mirrors_due(workspace, ever)):
        if number >= MOST_AT_ONCE:
            return replace(retried, complete=False)
        row = baton.store.mirror(workspace, task_id)
        if row is not None:
            retried = retried.counting(_revived(baton, row))
    return retried


def _revived(baton: Baton, row: Mirror) -> Sync | None:
    """What the row was, if it is tried sooner now. Who holds it, or waits until something unclear has happened, is let
    be."""
    now = baton.clock.now()
    if row.held_until is not None or (row.status is not Sync.DEAD and (row.due_at is None or row.due_at <= now)):
        return None
    try:
        baton.store.commit(row.workspace, None, [MirrorSaved(replace(row.revived(now), version=row.version + 1))])
    except Conflict:
        return None  # somebody is at it already
    return row.status
