"""The store's trails of tasks: events, receipts, and the late results beside them."""

from __future__ import annotations

from datetime import datetime

from baton.adapters.dynamodb import keys, trail_items
from baton.adapters.dynamodb.handoffs import handoff_items
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.table import Table
from baton.adapters.dynamodb.trail_items import Numbered
from baton.domain.handoffs.workflow import LateResult
from baton.domain.tasks import receipts, trail
from baton.domain.tasks.receipts import Receipt
from baton.domain.tasks.task import Task

# A page of a trail that is read backwards: about 200 events, 9 read units.
CHUNKS_AT_ONCE = 25


class TrailReads:
    def __init__(self, table: Table) -> None:
        self._table = table

    def receipt(self, task: Task, name: str, since: datetime | None = None) -> Receipt | None:
        """What isn't in the tail that was read is in a chunk, if anywhere: these are read backwards. A chunk that came
        after the task was read doesn't count: who decides on that state meets a conflict, and reads both again."""
        found = receipts.in_tail(task, name)
        if found is not None or not task.meta.has_chunks:
            return found
        last = task.meta.seq
        while chunks := self._chunks_before(task, last):
            for chunk in chunks:
                found = trail_items.receipt_named(chunk, name, task)
                if found is not None or (since is not None and trail_items.is_before(chunk, since)):
                    return found
            last = keys.parse_chunk(chunks[-1]["sk"]) - 1
        return None

    def events(self, workspace: str, task_id: str, after: int, limit: int) -> tuple[trail.Event, ...]:
        after = max(after, 0)
        head_key, beginning_key = keys.head(workspace, task_id), keys.beginning(workspace, task_id)
        found = self._table.get_many([head_key, beginning_key] if after < trail_items.MAX_AT_FIRST else [head_key])
        if head_key not in found:
            return ()
        if after < trail_items.MAX_AT_FIRST and beginning_key not in found:
            found |= self._table.get_many([beginning_key])  # it was read before the task existed, and HEAD after
        rows = self.rows(found[head_key], found.get(beginning_key), after, limit)
        return tuple(map(trail_items.event_of, rows))

    def rows(self, head: Item, beginning: Item | None, after: int, limit: int) -> list[Numbered]:
        """Returns events of a trail, unread. Chunks are read after ``head``: what HEAD hasn't was in them before. They
        may overlap: some were copied for a change that was refused then."""
        tail = list(trail_items.numbered(head))
        end = int(head["seq"]) - len(tail)
        found = [row for row in trail_items.numbered(beginning or {"sk": keys.BEGINNING}) if row[0] > after]
        after = found[-1][0] if found else after
        whole = keys.trail(*keys.parse_task(head["pk"]))
        while after < end and len(found) < limit:
            first, last = keys.chunk_name(after + 1), keys.chunk_name(end)
            chunks = self._table.query(whole, (limit - len(found)) // 2 + 1, first=first, last=last)
            for chunk in chunks:
                rows = [row for row in trail_items.numbered(chunk) if row[0] > after]
                found, after = found + rows, keys.parse_chunk(chunk["sk"])
            if not chunks:
                break
        return [*found, *(row for row in tail if row[0] > after)][:limit]

    def late_results(self, workspace: str, task_id: str, limit: int = 100, after: int = 0) -> tuple[LateResult, ...]:
        first, last = keys.late_results_after(after)
        found = self._table.query(keys.trail(workspace, task_id), limit, first=first, last=last)
        return tuple(map(handoff_items.late_from, found))

    def _chunks_before(self, task: Task, last: int) -> list[Item]:
        """Returns the latest chunks up to the event with this number, latest first."""
        trail_of = keys.trail(task.workspace, task.id)
        between = {"first": keys.chunk_name(0), "last": keys.chunk_name(last)}
        return self._table.query(trail_of, CHUNKS_AT_ONCE, newest_first=True, **between)
