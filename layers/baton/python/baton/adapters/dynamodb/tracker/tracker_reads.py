"""The store's tracker part: synchronisation of pages, which task has which page, circuits and webhooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.agents.registry import Registry
from baton.adapters.dynamodb.tracker import tracker_items
from baton.domain.tracker.page_sync import PageSync
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.domain.tracker.webhook import Webhook
from baton.ports.paging import Page

ROWS_PAGE = 100


class TrackerReads(Registry):
    def page_sync(self, workspace: str, task_id: str) -> PageSync | None:
        return tracker_items.page_sync_from(self._table.get(keys.task_item(workspace, task_id, keys.MIRROR)))

    def page_syncs(self, workspace: str, task_ids: Sequence[str]) -> dict[str, PageSync]:
        wanted = [keys.task_item(workspace, task_id, keys.MIRROR) for task_id in dict.fromkeys(task_ids)]
        found = self._table.get_many(wanted) if wanted else {}
        syncs = [sync for sync in map(tracker_items.page_sync_from, found.values()) if sync is not None]
        return {sync.task_id: sync for sync in syncs}

    def page_syncs_due(self, workspace: str, now: datetime) -> Iterator[str]:
        yield from self._due(keys.page_sync_queue(workspace), now, "queue")

    def count_waiting_page_syncs(self, workspace: str, limit: int) -> int:
        return len(self._index_page(keys.QUEUE_INDEX, keys.page_sync_queue(workspace), "0", limit))

    def dead_page_syncs(self, workspace: str, limit: int, cursor: str | None) -> Page:
        page = self._index_page(keys.QUEUE_INDEX, keys.dead_page_syncs(workspace), cursor or "0", limit + 1)
        wanted = [keys.Key(entry["pk"], entry["sk"]) for entry in page[:limit]]
        found = self._table.get_many(wanted) if wanted else {}
        syncs = [tracker_items.page_sync_from(found.get(key)) for key in wanted]
        dead = tuple(sync for sync in syncs if sync is not None and sync.due_at is None and sync.status == "dead")
        return Page(dead, page[limit - 1]["queue_sk"] if len(page) > limit else None)

    def page_holders(self, workspace: str, page_ids: Sequence[str]) -> dict[str, str]:
        wanted = {page_id: keys.page(workspace, page_id) for page_id in page_ids}
        found = self._table.get_many(list(dict.fromkeys(wanted.values()))) if wanted else {}
        return {page_id: found[key]["task"] for page_id, key in wanted.items() if key in found}

    def circuit(self, workspace: str) -> TrackerCircuit:
        return tracker_items.tracker_circuit_from(workspace, self._table.get(keys.tracker_circuit(workspace)))

    def tracker_circuits_due(self, now: datetime) -> Iterator[str]:
        yield from self._due(keys.WAKE_TRACKERS, now, "wake")

    def webhook(self, workspace: str) -> Webhook | None:
        return tracker_items.webhook_from(self._table.get(keys.webhook(workspace)))

    def _due(self, partition: str, now: datetime, index: str) -> Iterator[str]:
        start, more = "0", True
        while more:
            page = self._index_page(index, partition, start, ROWS_PAGE, until=keys.wake_until(now))
            for entry in page:
                start = entry[f"{index}_sk"]
                yield keys.parse_due(start)
            more = len(page) == ROWS_PAGE
