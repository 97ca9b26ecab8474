"""A human has mended something: what was given up is tried again, and at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from baton.domain.errors import Conflict, NoTracker, Unknown
from baton.domain.mirror import Sync
from baton.ports import MirrorSaved, Remember
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
    """``complete``: False if more were given up than are tried again at once: call again."""

    revived: int
    complete: bool = True


def retry_tracker(baton: Baton, by: Principal, task_id: str | None, once: Once | None = None) -> Retried:
    """All rows that were given up, or that of one task. Raises ``NoTracker`` and, for a task without a row,
    ``Unknown``. May be stopped anywhere and repeated."""
    by.must_not_be_agent("retry the tracker")
    if baton.store.settings(by.workspace).tracker is None:
        raise NoTracker
    first_answer = once.recall(baton.store.remembered(once)) if once else None
    if first_answer is not None:
        return Retried(**first_answer)
    now = baton.clock.now()
    change_gate(baton, by.workspace, lambda gate: gate.opened(now))
    retried = _one(baton, by.workspace, task_id) if task_id else _all(baton, by.workspace)
    baton.tracker_bell.ring(by.workspace, task_id)
    if once:
        answer = {"revived": retried.revived, "complete": retried.complete}
        baton.store.commit(by.workspace, None, [Remember(once, answer)])
    return retried


def _one(baton: Baton, workspace: str, task_id: str) -> Retried:
    row = baton.store.mirror(workspace, task_id)
    if row is None:
        raise Unknown("task with a page")
    return Retried(_revive(baton, row))


def _all(baton: Baton, workspace: str) -> Retried:
    revived, cursor = 0, None
    while revived < MOST_AT_ONCE:
        page = baton.store.dead_mirrors(workspace, PAGE, cursor)
        revived += sum(_revive(baton, row) for row in page.items)
        cursor = page.cursor
        if cursor is None:
            return Retried(revived)
    return Retried(revived, complete=False)


def _revive(baton: Baton, row: Mirror) -> int:
    if row.status is not Sync.DEAD:
        return 0
    revived = replace(row.revived(baton.clock.now()), version=row.version + 1)
    try:
        baton.store.commit(row.workspace, None, [MirrorSaved(revived)])
    except Conflict:
        return 0  # somebody is at it already
    return 1
