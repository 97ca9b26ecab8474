"""Finds tasks: for agents that claim, for humans, for the sweeper, and for listings."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from operator import itemgetter
from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.handoffs import handoff_items
from baton.adapters.dynamodb.table import Table
from baton.domain import errors
from baton.domain.handoffs.workflow import BackgroundJob, JobKind
from baton.domain.lru_cache import LruCache
from baton.domain.task_state import State
from baton.domain.tasks.task import Task
from baton.ports.paging import Page
from baton.ports.queues import ReadyTask, Skills
from baton.ports.tasks import TaskStore

READY_PAGE = 25
DUE_PAGE = 100
# Queues that one page of ``queued`` reads.
MOST_QUEUES = 20
# The most ended tasks that a process keeps for its lists.
MAX_KEPT_ENDED = 1_000


class Queues:
    def __init__(self, table: Table, tasks: TaskStore) -> None:
        self._table, self._tasks = table, tasks

    def ready(self, workspace: str, agent: str, now: datetime) -> tuple[Skills | None, Iterator[ReadyTask]]:
        """Reads the agent's skills with the first page: its own entry comes first in its queue."""
        partition = keys.ready_queue(workspace, agent)
        page = self._queue_page(partition, keys.QUEUE_START, now)
        is_known = bool(page) and page[0]["queue_sk"] == keys.AGENT_PLACE
        return handoff_items.skills_from(page[0]) if is_known else None, self._due_work(partition, page, now)

    def next_due(self, workspace: str, agent: str) -> datetime | None:
        """The first of each priority is the first one due, and the marks are in the order of their time."""
        partition, start, first = keys.ready_queue(workspace, agent), keys.AGENT_PLACE, dict[str, datetime]()
        while True:
            page = self._table.query(partition, READY_PAGE, index=keys.QUEUE_INDEX, after=start)
            for entry in page:
                if keys.is_claim_mark(entry["queue_sk"]):
                    first.setdefault(keys.MARKS, handoff_items.lapsed_from(entry).ready_at)
                    break
                priority, ready = keys.parse_queue_sort_key(entry["queue_sk"])
                first.setdefault(priority, ready.ready_at)
                start = priority + "~"
            if len(page) < READY_PAGE or keys.MARKS in first:
                return min(first.values(), default=None)

    def open_work(self, workspace: str, now: datetime) -> Iterator[ReadyTask]:
        shards = self._table.shards.all_of(keys.open_queue(workspace))
        work = [self._due_work(shard, self._queue_page(shard, keys.QUEUE_START, now), now) for shard in shards]
        last = ""
        for ready in heapq.merge(*work, key=lambda each: (each.priority, each.ready_at, each.task_id)):
            if ready.task_id != last:  # a task that moves to another shard may still show in the old one
                yield ready
            last = ready.task_id

    def queued(self, workspace: str, agents: Sequence[str], limit: int, cursor: str | None) -> Page:
        shards = self._table.shards.all_of(keys.open_queue(workspace))
        partitions = [*shards, *(keys.ready_queue(workspace, each) for each in sorted(agents))]
        number, _, after = (cursor or "").partition("#")
        place, entries = int(number) if number.isdigit() else 0, list[dict[str, Any]]()
        for partition in partitions[place : place + MOST_QUEUES]:
            start = after or keys.AGENT_PLACE
            entries = self._table.query(partition, limit, index=keys.QUEUE_INDEX, after=start, last=keys.MARKS)
            after = entries[-1]["queue_sk"] if len(entries) == limit else ""
            place += not after
            if entries:
                break
        ready = (handoff_items.ready_from(keys.parse_queue_sort_key(each["queue_sk"])[1], each) for each in entries)
        return Page(tuple(ready), f"{place}#{after}" if place < len(partitions) else None)

    def needs(self, workspace: str, limit: int, cursor: str | None) -> Page:
        places: set[str] = set()
        for shard in self._table.shards.all_of(keys.needs_queue(workspace)):
            page = self._table.query(shard, limit + 1, index=keys.QUEUE_INDEX, after=cursor or "P")
            places |= {entry["queue_sk"] for entry in page}
        first = sorted(places)[:limit]
        ids = [keys.parse_queue_sort_key(place)[1].task_id for place in first]
        waiting = tuple(
            task
            for task in self._tasks.many(workspace, ids).values()
            if task.state is State.NEEDS and not task.meta.parked
        )
        return Page(waiting, first[-1] if len(places) > limit else None)

    def due(self, now: datetime) -> Iterator[tuple[str, str, JobKind | None]]:
        unread: list[str] = []
        until = keys.wake_until(now)
        for partition in keys.WAKE_DUE:
            shards = [self._due_in(shard, until, unread) for shard in self._table.shards.all_of(partition)]
            for entry in heapq.merge(*shards, key=itemgetter("wake_sk")):
                yield (*keys.parse_task(entry["pk"]), keys.parse_job(entry["sk"]))
        if unread:
            raise errors.Busy

    def job(self, workspace: str, kind: JobKind, task_id: str) -> BackgroundJob | None:
        return handoff_items.job_from(kind, task_id, self._table.get(keys.job(workspace, kind, task_id)))

    # Inside

    def _due_in(self, shard: str, until: str, unread: list[str]) -> Iterator[dict[str, Any]]:
        """Yields a shard's entries up to there, the longest due first. Ends early where it can't be read, and names it
        in ``unread``: one shard never stops the others."""
        try:
            for page in self._table.index_pages(keys.WAKE_INDEX, shard, DUE_PAGE, last=until):
                yield from page
        except errors.Busy:
            unread.append(shard)

    def _due_work(self, partition: str, page: list[dict[str, Any]], now: datetime) -> Iterator[ReadyTask]:
        """Yields the due work of a queue, from its first page on, then the marks that are over. Within a priority, work
        that isn't due sorts after work that is: a page that ends with such a task is followed by the next priority."""
        start = keys.QUEUE_START
        while True:
            for entry in page:
                if entry["queue_sk"] == keys.AGENT_PLACE:
                    start = keys.AGENT_PLACE
                    continue
                if keys.is_claim_mark(entry["queue_sk"]):
                    yield handoff_items.lapsed_from(entry)
                    start = entry["queue_sk"]
                    continue
                priority, ready = keys.parse_queue_sort_key(entry["queue_sk"])
                if ready.ready_at <= now:
                    yield handoff_items.ready_from(ready, entry)
                    start = entry["queue_sk"]
                else:
                    start = priority + "~"
            if len(page) < READY_PAGE:
                return
            page = self._queue_page(partition, start, now)

    def _queue_page(self, partition: str, start: str, now: datetime) -> list[dict[str, Any]]:
        """Returns the next entries of a queue, without the marks that aren't over."""
        return self._table.query(
            partition, READY_PAGE, index=keys.QUEUE_INDEX, after=start, last=keys.lapsed_marks_until(now)
        )


class TaskLists:
    def __init__(self, table: Table, tasks: TaskStore) -> None:
        self._table, self._tasks = table, tasks
        self._kept_ended: LruCache[keys.Key, Task] = LruCache(MAX_KEPT_ENDED)

    def tasks_of_agent(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        return self._listed(workspace, keys.tasks_of_agent(workspace, agent), limit, cursor, keys.QUEUE_INDEX)

    def tasks_of_day(self, workspace: str, day: date, limit: int, cursor: str | None) -> Page:
        return self._listed(workspace, keys.tasks_of_day(workspace, day), limit, cursor, keys.QUEUE_INDEX)

    def tasks_of_label(self, workspace: str, label: str, limit: int, cursor: str | None) -> Page:
        return self._listed(workspace, keys.tasks_of_label(workspace, label), limit, cursor, None)

    def _listed(self, workspace: str, partition: str, limit: int, cursor: str | None, index: str | None) -> Page:
        """Reads a listing's ids, then the HEADs of tasks that it hasn't seen ended: two reads a page. An entry without
        a HEAD is of a task that was refused, or isn't there yet: the page is filled with what follows."""
        found, sort_key = list[Task](), keys.attributes_of(index).sk
        while True:
            entries, cursor = self._table.newest(partition, limit - len(found), cursor, index)
            found += self._listed_heads(workspace, [entry[sort_key] for entry in entries])
            if cursor is None or len(found) == limit:
                return Page(tuple(found), cursor)

    def _listed_heads(self, workspace: str, task_ids: list[str]) -> list[Task]:
        """Returns the tasks that exist. An ended task never changes again (docs/invariants.md), so this process reads
        it once."""
        places = {task_id: keys.head(workspace, task_id) for task_id in task_ids}
        found = {task_id: task for task_id, key in places.items() if (task := self._kept_ended.get(key)) is not None}
        unread = [task_id for task_id in task_ids if task_id not in found]
        for task_id, task in (self._tasks.many(workspace, unread) if unread else {}).items():
            found[task_id] = task
            if task.is_ended:
                self._kept_ended.keep(places[task_id], task)
        return [found[task_id] for task_id in task_ids if task_id in found]
