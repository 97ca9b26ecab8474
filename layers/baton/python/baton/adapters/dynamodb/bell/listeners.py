"""The store's listeners. A connection is one item, which an update makes: found by its id, by its topic in the queue
index, and by its workspace in the wake index. Leaving takes it out of both indexes; the item goes by its ``ttl``, as
Baton deletes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.table import ConditionFailed, Table, from_wire
from baton.adapters.dynamodb.trail_items import UNREADABLE
from baton.domain import times
from baton.domain.bell.listener import LISTENER_SECONDS, Listener, Ticket, Topic, topic_of
from baton.domain.tasks.task import Task

IS_THERE = "attribute_exists(#topic)"
# The same connection's second try is the first one, whose reply was lost.
UNUSED_AND_GOOD = "(attribute_not_exists(#used_by) OR #used_by = :used_by) AND #expires_ms > :now"
FORGOTTEN_AFTER_SECONDS = 3_600
PAGE = 500
# What is in lists but tasks: agents, settings and tokens by their version, alerts, manual reviews, tools, the memory.
LISTED = {"CONFIG", "ALERTS", "REVIEWS", "TOOLS", "BOARD"}


class Listeners:
    def __init__(self, table: Table) -> None:
        self._table = table

    def add_listener(self, listener: Listener) -> None:
        topic = listener.topic
        values: Item = {
            ":workspace": topic.workspace,
            ":topic": str(topic),
            ":by": listener.by,
            ":token_id": listener.token_id,
            ":since_ms": times.to_ms(listener.since),
            ":ttl": times.to_ms(listener.since + timedelta(seconds=LISTENER_SECONDS)) // 1_000,
        }
        places = {keys.QUEUE_INDEX: keys.topic_index_key(listener), keys.WAKE_INDEX: keys.listener_index_key(listener)}
        for index, key in places.items():
            values |= {f":{name}": value for name, value in keys.place(index, key).items()}
        self._table.update(keys.listener(listener.connection_id), _all_of(values), None, values)

    def listener(self, connection_id: str) -> Listener | None:
        item = self._table.get(keys.listener(connection_id))
        return None if item is None else _listener_from(item)

    def remove_listener(self, connection_id: str) -> None:
        sets = "REMOVE #topic, #queue_pk, #queue_sk, #wake_pk, #wake_sk SET #left = :left"
        with suppress(ConditionFailed):
            self._table.update(keys.listener(connection_id), sets, IS_THERE, {":left": True})

    def listening(self, topic: Topic, limit: int, after: str = "") -> list[str]:
        partition = keys.topic(topic)
        found = self._table.query(partition, limit, index=keys.QUEUE_INDEX, after=after or keys.EARLIEST)
        return [keys.parse_connection(entry["pk"]) for entry in found]

    def listeners(self, connection_ids: Sequence[str]) -> list[Listener]:
        wanted = [keys.listener(each) for each in connection_ids]
        found = self._table.get_many(wanted)
        each_one = (_listener_from(found[key]) for key in wanted if key in found)
        return [each for each in each_one if each is not None]

    def of_workspace(self, workspace: str) -> Iterator[tuple[str, str]]:
        for page in self._table.index_pages(keys.WAKE_INDEX, keys.listeners(workspace), PAGE):
            yield from (keys.parse_listener(entry["wake_sk"]) for entry in page)

    def count(self, workspace: str, limit: int, by: str | None = None) -> int:
        partition = keys.listeners(workspace)
        if by is None:
            return len(self._table.query(partition, limit, index=keys.WAKE_INDEX))
        first, last = keys.listeners_of(by)
        return len(self._table.query(partition, limit, index=keys.WAKE_INDEX, first=first, last=last))

    def add_ticket(self, ticket: Ticket) -> None:
        expires_ms = times.to_ms(ticket.expires_at)
        values: Item = {
            ":workspace": ticket.workspace,
            ":token_id": ticket.token_id,
            ":expires_ms": expires_ms,
            ":ttl": expires_ms // 1_000 + FORGOTTEN_AFTER_SECONDS,
        }
        self._table.update(keys.ticket(ticket.digest), _all_of(values), None, values)

    def use_ticket(self, digest: str, connection_id: str, now: datetime) -> Ticket | None:
        values = {":used_by": connection_id, ":now": times.to_ms(now)}
        try:
            item = self._table.update(keys.ticket(digest), "SET #used_by = :used_by", UNUSED_AND_GOOD, values)
        except ConditionFailed:
            return None
        expires_at = times.from_ms(int(item["expires_ms"]))
        return Ticket(digest=digest, workspace=item["workspace"], token_id=item["token_id"], expires_at=expires_at)

    def changes(self, records: Sequence[Mapping[str, Any]]) -> tuple[list[Task], set[str], set[str]]:
        tasks: list[Task] = []
        configured, listed = set[str](), set[str]()
        for image in (from_wire(record["dynamodb"]["NewImage"]) for record in records):
            kind = keys.kind_of(image["pk"])
            if kind in LISTED:
                listed.add(keys.parse_workspace(image["pk"]))
            if kind == "CONFIG":
                configured.add(keys.parse_workspace(image["pk"]))
            elif kind == "TASK" and image["sk"] == keys.HEAD and not self._table.schema.is_newer(image):
                with suppress(*UNREADABLE):
                    tasks.append(items.task_from(self._table.schema.read(image)))
        return tasks, configured, listed


def _all_of(values: Item) -> str:
    return "SET " + ", ".join(f"#{name[1:]} = {name}" for name in values)


def _listener_from(item: Item) -> Listener | None:
    """Returns None for one that has left."""
    if "topic" not in item:
        return None
    return Listener(
        connection_id=keys.parse_connection(item["pk"]),
        topic=topic_of(item["workspace"], item["topic"]),
        by=item["by"],
        token_id=item["token_id"],
        since=times.from_ms(int(item["since_ms"])),
    )
