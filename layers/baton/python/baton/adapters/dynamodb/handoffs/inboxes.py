"""Inboxes in the table. An inbox has no items of its own: an ended task's place in the queue index is in the inbox of
its source agent, until the agent acknowledges it (docs/what-is-stored.md §5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from baton.adapters.dynamodb import items, keys, trail_items
from baton.adapters.dynamodb.item_writes import Item, key_of
from baton.adapters.dynamodb.table import ConditionFailed, Table
from baton.domain.handoffs.workflow import InboxItem, inbox_item
from baton.ports.paging import Page
from baton.ports.writes import MAX_ITEMS

# Tasks in one batch read.
TASKS_AT_ONCE = 100
# The task is still in this inbox under this id. An ended task's HEAD is never put again, so nothing brings back a place
# that was taken out, and the version needs no step.
IS_IN_THIS_PLACE = "#queue_pk = :inbox AND #queue_sk = :id"


class Inboxes:
    def __init__(self, table: Table) -> None:
        self._table = table

    def inbox(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        partition, after = keys.inbox(workspace, agent), cursor or keys.EARLIEST
        entries = self._table.query(partition, limit + 1, index=keys.QUEUE_INDEX, after=after)
        shown = entries[:limit]
        found = tuple(
            item for start in range(0, limit, TASKS_AT_ONCE) for item in self._ended(shown[start:][:TASKS_AT_ONCE])
        )
        return Page(found, shown[-1]["queue_sk"] if len(entries) > limit else None)

    def _ended(self, entries: Sequence[Item]) -> Iterator[InboxItem]:
        """Yields the entries' tasks as the inbox shows them. The index lags, so entries that were acknowledged
        meanwhile are left out. A task with a damaged end is left out too, so that the others are shown."""
        heads = self._table.get_many([key_of(entry) for entry in entries])
        for entry in entries:
            head = heads.get(key_of(entry), {})
            if (head.get("queue_pk"), head.get("queue_sk")) == (entry["queue_pk"], entry["queue_sk"]):
                with suppress(IndexError, *trail_items.UNREADABLE):
                    yield inbox_item(items.task_from(head), entry["queue_sk"])

    def acknowledge(self, workspace: str, agent: str, ids: Sequence[str]) -> tuple[str, ...]:
        if len(set(ids)) > MAX_ITEMS:
            raise ValueError(f"{len(set(ids))} ids")
        inbox, wanted, gone = keys.inbox(workspace, agent), sorted(set(ids)), set[str]()
        while wanted:
            first, last = wanted[0], wanted[-1]
            entries = self._table.query(inbox, len(wanted), index=keys.QUEUE_INDEX, first=first, last=last)
            for entry in entries:
                if entry["queue_sk"] in wanted:
                    self._take_out(entry)
                    gone.add(entry["queue_sk"])
            is_all = len(entries) < len(wanted)
            wanted = [] if is_all else [each for each in wanted if each > entries[-1]["queue_sk"]]
        return tuple(each for each in ids if each not in gone)

    def _take_out(self, entry: Item) -> None:
        """Raises ``Busy``. There are no new events to bring to the bus, so ``fresh`` goes too."""
        with suppress(ConditionFailed):
            values = {":inbox": entry["queue_pk"], ":id": entry["queue_sk"]}
            self._table.update(key_of(entry), "REMOVE #queue_pk, #queue_sk, #fresh", IS_IN_THIS_PLACE, values)
