"""The port ``Store`` over one table. What may be written and when is in ``writes``; here is what is read, in how many
calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.adapters.dynamodb import items, keys, tracker_items
from baton.adapters.dynamodb.alerts import Alerts
from baton.adapters.dynamodb.event_outbox import EventOutbox
from baton.adapters.dynamodb.outbox import Outbox
from baton.adapters.dynamodb.renewal import renew
from baton.adapters.dynamodb.routing import Routing
from baton.adapters.dynamodb.table import Write
from baton.adapters.dynamodb.writes import extra_writes, task_writes, witness
from baton.domain.direction import NO_PAIR
from baton.domain.errors import Unknown
from baton.domain.marker import Priority
from baton.domain.task import DEFAULT_MAX_ATTEMPTS, State
from baton.ports import Dossier, Note, Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date, datetime

    from baton.domain.agent import Agent
    from baton.domain.change import Change
    from baton.domain.direction import Direction
    from baton.domain.events import Event
    from baton.domain.idempotency import Once, Remembered
    from baton.domain.principal import Principal
    from baton.domain.review import Review
    from baton.domain.settings import Settings
    from baton.domain.task import Claim, Recovery, Task
    from baton.ports import Extra, Ready

READY_PAGE = 25
# How often a task can have come back before a human has looked at it again: one attempt less than it has.
LIKELY_RECOVERIES = DEFAULT_MAX_ATTEMPTS - 1
DUE_PAGE = 100


class DynamoStore(Outbox, Alerts, Routing, EventOutbox):
    # Writing

    def commit(self, workspace: str, change: Change | None, extras: Sequence[Extra] = ()) -> None:
        task = None if change is None else change.task

        def writes_for(token: str) -> list[Write]:
            writes = [] if change is None else task_writes(change, token)
            for extra in extras:
                writes += extra_writes(workspace, task, extra, token)
            return writes

        self._table.transact(writes_for, witness(workspace, change, extras))

    def renew(
        self, workspace: str, task_id: str, claim_id: str, by: Principal, now: datetime, lease_seconds: int | None
    ) -> Claim:
        return renew(self._table, keys.head(workspace, task_id), claim_id, by, now, lease_seconds)

    # One task

    def load(self, workspace: str, task_id: str, once: Once | None = None) -> tuple[Task, Remembered | None]:
        head = keys.head(workspace, task_id)
        if once is None:
            item, remembered = self._table.get(head), None
        else:
            once_key = keys.once(workspace, once.digest)
            found = self._table.get_many([head, once_key])
            item, remembered = found.get(head), items.remembered_from(found.get(once_key))
        if item is None:
            raise Unknown("task")
        return items.task_from(item), remembered

    def read(self, workspace: str, task_id: str, *, with_body: bool = False) -> Dossier:
        condition, values = "#pk = :pk", {":pk": keys.task(workspace, task_id)}
        if not with_body:
            condition, values = condition + " AND #sk > :body", {**values, ":body": keys.BODY}
        found = {item["sk"]: item for item in self._table.query_all(condition, values)}
        if keys.HEAD not in found:
            raise Unknown("task")
        first, last = keys.RECOVERIES
        return Dossier(
            task=items.task_from(found[keys.HEAD]),
            body=items.payload_from(found.get(keys.BODY)) if with_body else None,
            output=items.payload_from(found.get(keys.OUTPUT)),
            failure=items.payload_from(found.get(keys.FAILURE)),
            recoveries=tuple(items.recovery_from(found[sk]) for sk in sorted(found) if first <= sk <= last),
            mirror=tracker_items.mirror_from(found.get(keys.MIRROR)),
        )

    def read_for_claim(self, workspace: str, task_id: str, agent: str) -> tuple[Dossier, Agent | None]:
        head, agent_key = keys.head(workspace, task_id), keys.agent(workspace, agent)
        body, failure = (keys.beside(workspace, task_id, what) for what in (keys.BODY, keys.FAILURE))
        likely = [keys.recovery(workspace, task_id, number + 1) for number in range(LIKELY_RECOVERIES)]
        found = self._table.get_many([head, body, failure, agent_key, *likely])
        if head not in found:
            raise Unknown("task")
        task = items.task_from(found[head])
        # Fewer than HEAD tells of: it came back oftener than is likely, or just now, between the readings of two items.
        recoveries = tuple(items.recovery_from(found[key]) for key in likely if key in found)
        dossier = Dossier(
            task=task,
            body=items.payload_from(found.get(body)),
            failure=items.payload_from(found.get(failure)),
            recoveries=recoveries if len(recoveries) >= task.recoveries else self._recoveries(workspace, task_id),
        )
        return dossier, items.agent_from(found[agent_key]) if agent_key in found else None

    def ended_claim(self, workspace: str, task_id: str, claim_id: str) -> Remembered | None:
        return items.remembered_from(self._table.get(keys.ended_claim(workspace, task_id, claim_id)))

    def remembered(self, once: Once) -> Remembered | None:
        return items.remembered_from(self._table.get(keys.once(once.principal.workspace, once.digest)))

    def events(self, workspace: str, task_id: str, after: int, limit: int) -> tuple[Event, ...]:
        first, last = keys.events_after(workspace, task_id, after)
        found = self._table.query(
            "#pk = :pk AND #sk BETWEEN :first AND :last",
            {":pk": first.pk, ":first": first.sk, ":last": last},
            limit=limit,
        )
        return tuple(map(items.event_from, found))

    def notes(self, workspace: str, about: str, limit: int) -> tuple[Note, ...]:
        partition = keys.notes(workspace, about)
        found = self._table.query("#pk = :pk", {":pk": partition}, limit=limit, newest_first=True)
        return tuple(items.note_from(about, item) for item in found)

    # Finding tasks

    def ready(self, workspace: str, agent: str, now: datetime) -> Iterator[Ready]:
        """Page by page. What isn't due yet sorts after what is, within its priority: a page that ends in such a task is
        followed by the next priority at once."""
        partition, start = keys.ready_queue(workspace, agent), str(Priority.P0)
        while True:
            page = self._index_page(keys.QUEUE_INDEX, partition, start, READY_PAGE)
            for entry in page:
                priority, ready = keys.parse_place(entry["queue_sk"])
                if ready.ready_at <= now:
                    yield ready
                    start = entry["queue_sk"]
                else:
                    start = priority + "~"
            if len(page) < READY_PAGE:
                return

    def needs(self, workspace: str, limit: int, cursor: str | None) -> Page:
        page = self._index_page(keys.QUEUE_INDEX, keys.needs_queue(workspace), cursor or "P", limit + 1)
        ids = [keys.parse_place(entry["queue_sk"])[1].task_id for entry in page[:limit]]
        waiting = tuple(task for task in self._heads(workspace, ids) if task.state is State.NEEDS)
        return Page(waiting, page[limit - 1]["queue_sk"] if len(page) > limit else None)

    def due(self, now: datetime) -> Iterator[tuple[str, str]]:
        for shard in keys.wake_shards():
            start, more = "0", True
            while more:
                page = self._index_page(keys.WAKE_INDEX, shard, start, DUE_PAGE, until=keys.wake_until(now))
                for entry in page:
                    start = entry["wake_sk"]
                    yield keys.parse_task(entry["pk"])
                more = len(page) == DUE_PAGE

    def tasks_of_agent(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        return self._listed(workspace, keys.tasks_of_agent(workspace, agent), limit, cursor)

    def tasks_of_day(self, workspace: str, day: date, limit: int, cursor: str | None) -> Page:
        return self._listed(workspace, keys.tasks_of_day(workspace, day), limit, cursor)

    # Markers

    def marker_facts(
        self, workspace: str, pair: tuple[str, str] | None, once: Once | None
    ) -> tuple[Settings, Direction, Remembered | None]:
        settings_key = keys.settings(workspace)
        direction_key = keys.direction(workspace, *pair) if pair else None
        once_key = keys.once(workspace, once.digest) if once else None
        found = self._table.get_many([key for key in (settings_key, direction_key, once_key) if key])
        direction = found.get(direction_key) if direction_key else None
        return (
            items.settings_from(found.get(settings_key)),
            items.direction_from(workspace, *(pair or NO_PAIR), direction),
            items.remembered_from(found.get(once_key)) if once_key else None,
        )

    def review(self, workspace: str, review_id: str) -> Review:
        item = self._table.get(keys.Key(keys.reviews(workspace), review_id))
        if item is None:
            raise Unknown("manual review")
        return items.review_from(item)

    def reviews(self, workspace: str, limit: int, cursor: str | None) -> Page:
        found, cursor = self._newest(keys.reviews(workspace), limit, cursor)
        return Page(tuple(map(items.review_from, found)), cursor)

    # Inside

    def _recoveries(self, workspace: str, task_id: str) -> tuple[Recovery, ...]:
        first, last = keys.RECOVERIES
        found = self._table.query_all(
            "#pk = :pk AND #sk BETWEEN :first AND :last",
            {":pk": keys.task(workspace, task_id), ":first": first, ":last": last},
        )
        return tuple(map(items.recovery_from, found))

    def _listed(self, workspace: str, partition: str, limit: int, cursor: str | None) -> Page:
        """A listing's ids, then the tasks' HEADs: two readings a page."""
        found, cursor = self._newest(partition, limit, cursor)
        return Page(tuple(self._heads(workspace, [item["sk"] for item in found])), cursor)

    def _heads(self, workspace: str, task_ids: list[str]) -> list[Task]:
        heads = [keys.head(workspace, task_id) for task_id in task_ids]
        read = self._table.get_many(heads) if heads else {}
        return [items.task_from(read[head]) for head in heads if head in read]
