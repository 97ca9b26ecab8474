"""The store's claims, as their agent's queue and slots show them."""

from __future__ import annotations

from datetime import datetime

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.claims.marks import move_mark
from baton.adapters.dynamodb.claims.renewal import renew
from baton.adapters.dynamodb.handoffs import handoff_items
from baton.adapters.dynamodb.table import Table
from baton.domain.handoffs.workflow import HeldClaim
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim, Task

HELD_PAGE = 100


class Claims:
    def __init__(self, table: Table) -> None:
        self._table = table

    def renew(self, call: WorkerCall, now: datetime, lease_seconds: int | None) -> Claim:
        return renew(self._table, call, now, lease_seconds)

    def move_mark(self, task: Task) -> None:
        move_mark(self._table, task)

    def held(self, workspace: str, agent: str) -> tuple[HeldClaim, ...]:
        pages = self._table.index_pages(keys.QUEUE_INDEX, keys.ready_queue(workspace, agent), HELD_PAGE, keys.MARKS)
        return tuple(handoff_items.held_from(mark) for page in pages for mark in page)

    def taken_slots(self, workspace: str, agent: str) -> dict[int, str]:
        found = self._table.query_all(keys.slots(workspace, agent))
        return dict(taken for taken in map(handoff_items.slot_from, found) if taken is not None)
