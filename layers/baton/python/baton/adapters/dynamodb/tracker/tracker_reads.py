"""The store's tracker part: synchronisation of pages, which task has which page, circuits and webhooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.item_writes import key_of
from baton.adapters.dynamodb.table import Table
from baton.adapters.dynamodb.tracker import tracker_items
from baton.adapters.dynamodb.trail_items import UNREADABLE
from baton.domain.tasks.task import Task
from baton.domain.tracker.page_sync import PageSync
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.domain.tracker.webhook import Webhook
from baton.ports.paging import Page

ROWS_PAGE = 100
# Open pages in one batch read, each with its task.
OPEN_AT_ONCE = 50


class TrackerReads:
    def __init__(self, table: Table) -> None:
        self._table = table

    def page_sync(self, workspace: str, task_id: str) -> PageSync | None:
        return tracker_items.page_sync_from(self._table.get(keys.task_item(workspace, task_id, keys.MIRROR)))

    def page_syncs(self, workspace: str, task_ids: Sequence[str]) -> dict[str, PageSync]:
        wanted = [keys.task_item(workspace, task_id, keys.MIRROR) for task_id in dict.fromkeys(task_ids)]
        found = self._table.get_many(wanted)
        syncs = [sync for sync in map(tracker_items.page_sync_from, found.values()) if sync is not None]
        return {sync.task_id: sync for sync in syncs}

    def page_syncs_due(self, workspace: str, now: datetime) -> Iterator[str]:
        yield from self._due(keys.page_sync_queue(workspace), now, keys.QUEUE_INDEX)

    def open_pages(self, workspace: str, now: datetime) -> Iterator[Sequence[tuple[Task, PageSync]]]:
        partition, until = keys.open_pages(workspace), keys.wake_until(now)
        for page in self._table.index_pages(keys.WAKE_INDEX, partition, OPEN_AT_ONCE, last=until):
            yield self._with_tasks(workspace, [keys.parse_due(entry["wake_sk"]) for entry in page])

    def count_waiting_page_syncs(self, workspace: str, limit: int) -> int:
        queue = keys.page_sync_queue(workspace)
        return len(self._table.query(queue, limit, index=keys.QUEUE_INDEX, after=keys.EARLIEST))

    def dead_page_syncs(self, workspace: str, limit: int, cursor: str | None) -> Page:
        partition, after = keys.dead_page_syncs(workspace), cursor or keys.EARLIEST
        page = self._table.query(partition, limit + 1, index=keys.QUEUE_INDEX, after=after)
        wanted = list(map(key_of, page[:limit]))
        found = self._table.get_many(wanted)
        syncs = [tracker_items.page_sync_from(found.get(key)) for key in wanted]
        dead = tuple(sync for sync in syncs if sync is not None and sync.due_at is None and sync.status == "dead")
        return Page(dead, page[limit - 1]["queue_sk"] if len(page) > limit else None)

    def page_holders(self, workspace: str, page_ids: Sequence[str]) -> dict[str, str]:
        wanted = {page_id: keys.page(workspace, page_id) for page_id in page_ids}
        found = self._table.get_many(list(dict.fromkeys(wanted.values())))
        return {page_id: found[key]["task"] for page_id, key in wanted.items() if key in found}

    def circuit(self, workspace: str) -> TrackerCircuit:
        return tracker_items.tracker_circuit_from(workspace, self._table.get(keys.tracker_circuit(workspace)))

    def tracker_circuits_due(self, now: datetime) -> Iterator[str]:
        yield from self._due(keys.WAKE_TRACKERS, now, keys.WAKE_INDEX)

    def webhook(self, workspace: str) -> Webhook | None:
        return tracker_items.webhook_from(self._table.get(keys.webhook(workspace)))

    def _with_tasks(self, workspace: str, task_ids: Sequence[str]) -> list[tuple[Task, PageSync]]:
        """Returns the pages that are still open and can be read, each with its task."""
        wanted = {each: (keys.head(workspace, each), keys.task_item(workspace, each, keys.MIRROR)) for each in task_ids}
        all_of_them = self._table.get_many([key for pair in wanted.values() for key in pair], newer_too=True)
        found = {key: item for key, item in all_of_them.items() if not self._table.schema.is_newer(item)}
        pairs = []
        for head, mirror in wanted.values():
            with suppress(*UNREADABLE):  # one damaged item never holds up the others
                sync = tracker_items.page_sync_from(found.get(mirror))
                if sync is not None and sync.look_at is not None:
                    pairs.append((items.task_from(found[head]), sync))
        return pairs

    def _due(self, partition: str, now: datetime, index: str) -> Iterator[str]:
        sort_key = keys.attributes_of(index).sk
        for page in self._table.index_pages(index, partition, ROWS_PAGE, last=keys.wake_until(now)):
            yield from (keys.parse_due(entry[sort_key]) for entry in page)
