"""Spread partitions: what is written under one count of shards is found under another, once, and in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.shards import MAX_SHARDS, Shards, Spread
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Layout, Table
from baton.config import ConfigError, read
from baton.domain.errors import Busy, Conflict
from baton.domain.priority import Priority
from baton.domain.task_state import State
from baton.domain.times import seconds
from baton.ports.store import Store
from baton.ports.writes import FinishJob, Put
from support.clock import NOON
from support.fakes.fake_dynamo import FakeDynamo, NoFaults
from support.fakes.store import TABLE
from support.faults.choke_point import Choked
from support.faults.threads import StillClock
from support.values.changes import new, then
from support.values.task_items import a_job
from support.worlds.world import WORKSPACE

ONE, FOUR, SEVEN = (Shards(Spread(count), Spread(count)) for count in (1, 4, 7))
# Lowered: seven were written before, and entries of them are still there.
FOUR_OF_SEVEN = Shards(Spread(4, 7), Spread(4, 7))
DAY = NOON.date()
COUNT = 40
IDS = [f"task_{number:02d}" for number in range(COUNT)]
PRIORITIES = (Priority.P0, Priority.P1, Priority.P2)


def store_with(dynamo: Any, shards: Shards) -> DynamoStore:
    return DynamoStore(Table(dynamo, TABLE, Patience(StillClock()), Layout(shards)))


def a_new(number: int, **values: Any) -> Any:
    """Of mixed priorities and times."""
    at = NOON - seconds(number * 7 % 11)
    return new(IDS[number], priority=PRIORITIES[number % 3], created_at=at, ready_at=at, **values)


def pages(list_: Callable[[int, str | None], Any], size: int = 7) -> list[list[str]]:
    found, cursor = [], None
    while True:
        page = list_(size, cursor)
        found.append([task.id for task in page.items])
        cursor = page.cursor
        if cursor is None:
            return found


WRITES: dict[str, Callable[[DynamoStore, int], None]] = {
    "of a day": lambda store, number: store.commit(WORKSPACE, a_new(number)),
    "conversations": lambda store, number: store.commit(
        WORKSPACE,
        replace(a_new(number, workflow_id=IDS[number]), begun_by="human:alice"),
    ),
    "that need a human": lambda store, number: store.commit(WORKSPACE, a_new(number)),
    "open work": lambda store, number: store.commit(WORKSPACE, a_new(number, state=State.DELEGATED, target_agent=None)),
    "due": lambda store, number: store.commit(WORKSPACE, a_new(number, wake_at=NOON)),
    "events": lambda store, number: store.commit(WORKSPACE, a_new(number)),
}
READS: dict[str, Callable[[Store], list[str]]] = {
    "of a day": lambda store: [*chain(*pages(lambda size, at: store.lists.tasks_of_day(WORKSPACE, DAY, size, at)))],
    "conversations": lambda store: [*chain(*pages(lambda size, at: store.conversations.begun(WORKSPACE, size, at)))],
    "that need a human": lambda store: [*chain(*pages(lambda size, at: store.queues.needs(WORKSPACE, size, at)))],
    "open work": lambda store: [ready.task_id for ready in store.queues.open_work(WORKSPACE, NOON)],
    "due": lambda store: [task_id for _, task_id, _ in store.queues.due(NOON)],
    "events": lambda store: [each.task_id for page in store.outbox.pending_tasks(NOON) for each in page],
}
IS_IN_ORDER = {"of a day", "conversations", "that need a human", "open work"}


def found(name: str, first: Shards, then_: Shards, reader: Shards | None = None) -> list[str]:
    """Half is written under one count, half under another, and read under the latter."""
    dynamo = FakeDynamo()
    for number in range(COUNT):
        WRITES[name](store_with(dynamo, first if number % 2 else then_), number)
    return READS[name](store_with(dynamo, reader or then_))


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize(
    ("first", "second"), [(ONE, FOUR), (FOUR, SEVEN), (SEVEN, FOUR_OF_SEVEN), (FOUR, FOUR)], ids=str
)
def test_what_was_written_under_one_count_is_found_once_under_another(name: str, first: Shards, second: Shards) -> None:
    plain, spread = found(name, ONE, ONE), found(name, first, second)
    assert len(spread) == COUNT
    assert sorted(spread) == sorted(plain) == IDS
    if name in IS_IN_ORDER:
        assert spread == plain


def test_a_lowered_count_without_the_larger_one_for_readers_misses_entries() -> None:
    """So the parameter for readers isn't there for nothing."""
    assert len(found("of a day", SEVEN, FOUR)) < COUNT


@pytest.mark.parametrize(("before", "after"), [(ONE, SEVEN), (SEVEN, FOUR_OF_SEVEN)], ids=str)
def test_a_task_that_changes_moves_to_its_new_shard_and_leaves_the_old_one(before: Shards, after: Shards) -> None:
    dynamo = FakeDynamo()
    tasks = []
    for number in range(COUNT):
        change = a_new(number, wake_at=NOON)
        store_with(dynamo, before).commit(WORKSPACE, change)
        tasks.append(change.task)
    store = store_with(dynamo, after)
    for task in tasks:
        store.commit(WORKSPACE, then(task, title="changed"))
    assert sorted(READS["due"](store)) == IDS
    assert sorted(READS["that need a human"](store)) == IDS
    places = {keys.WAKE_DUE[2]: "wake_pk", keys.needs_queue(WORKSPACE): "queue_pk"}
    for partition, name in places.items():
        heads = [item for (_, sk), item in dynamo.contents().items() if sk == "HEAD"]
        assert {head["pk"]["S"].rpartition("#")[2]: head[name]["S"] for head in heads} == {
            task_id: after.shard_of(partition, task_id) for task_id in IDS
        }


@pytest.mark.parametrize(("before", "after"), [(ONE, SEVEN), (SEVEN, FOUR_OF_SEVEN)], ids=str)
def test_a_place_in_the_outbox_that_was_written_under_another_count_moves_and_goes(
    before: Shards, after: Shards
) -> None:
    dynamo = FakeDynamo()
    for number in range(COUNT):
        store_with(dynamo, before).commit(WORKSPACE, a_new(number))
    store = store_with(dynamo, after)
    for number in range(COUNT):
        if number % 2:
            store.outbox.mark_told(WORKSPACE, IDS[number], 1, 1, is_over=True)
        else:
            store.outbox.look_again(WORKSPACE, IDS[number], NOON + seconds(60))
    assert READS["events"](store) == []
    later = [each.task_id for page in store.outbox.pending_tasks(NOON + seconds(60)) for each in page]
    assert sorted(later) == IDS[::2]


@pytest.mark.parametrize(("before", "after"), [(ONE, SEVEN), (SEVEN, FOUR_OF_SEVEN)], ids=str)
def test_a_job_that_was_written_under_another_count_is_found_and_done(before: Shards, after: Shards) -> None:
    dynamo = FakeDynamo()
    job = a_job()
    store_with(dynamo, before).commit(WORKSPACE, new(job.task_id), Put(job))
    store = store_with(dynamo, after)
    assert [(task_id, kind) for _, task_id, kind in store.queues.due(job.at) if kind] == [(job.task_id, job.kind)]
    store.commit(WORKSPACE, FinishJob(job))
    assert [kind for _, _, kind in store.queues.due(job.at) if kind] == []


def test_pages_of_a_spread_list_have_the_sizes_that_were_asked_for() -> None:
    dynamo = FakeDynamo()
    store = store_with(dynamo, SEVEN)
    for number in range(COUNT):
        store.commit(WORKSPACE, a_new(number))
    for list_ in (
        lambda size, at: store.lists.tasks_of_day(WORKSPACE, DAY, size, at),
        lambda size, at: store.queues.needs(WORKSPACE, size, at),
    ):
        assert [len(page) for page in pages(list_, 10)] == [10, 10, 10, 10]
        assert [len(page) for page in pages(list_, 39)] == [39, 1]


def test_work_that_moves_to_another_shard_is_offered_once() -> None:
    """While the index still shows it in the old one."""
    dynamo = FakeDynamo()
    change = a_new(1, state=State.DELEGATED, target_agent=None)
    store_with(dynamo, ONE).commit(WORKSPACE, change)
    partition, store = keys.open_queue(WORKSPACE), store_with(dynamo, SEVEN)
    assert READS["open work"](store) == [IDS[1]]
    before = dict(dynamo.indexes["queue"].shown[partition])
    store.commit(WORKSPACE, then(change.task, title="changed"))
    assert READS["open work"](store) == [IDS[1]]
    assert dynamo.indexes["queue"].shown.pop(partition) == {}, "it is in another shard now"
    dynamo.indexes["queue"].shown[partition] = before
    assert READS["open work"](store) == [IDS[1]]


def test_a_create_that_arrives_late_is_fenced_off_in_its_shard() -> None:
    """The bar is the day's entry, so it has to be put where the entry would be."""
    dynamo = FakeDynamo(NoFaults(knows_tokens=False))
    held: list[dict[str, Any]] = []

    class Late:
        """Loses the first transaction on the way, and lets others have the queue's place meanwhile."""

        def __getattr__(self, operation: str) -> Any:
            return getattr(dynamo, operation)

        def transact_write_items(self, **request: Any) -> Any:
            if not held:
                held.append(request)
                store_with(dynamo, SEVEN).commit(WORKSPACE, taken)
                raise ReadTimeoutError(endpoint_url="http://fake-dynamo/")
            return dynamo.transact_write_items(**request)

    partition = keys.tasks_of_day(WORKSPACE, DAY)
    number = next(n for n in range(COUNT) if SEVEN.shard_of(partition, IDS[n]) != partition)
    change, other = a_new(number), new("task_other")
    store_with(dynamo, SEVEN).commit(WORKSPACE, other)
    taken = then(other.task, title="first")
    with pytest.raises(Conflict):
        store_with(Late(), SEVEN).commit(WORKSPACE, change, then(other.task, title="second"))
    with pytest.raises(Exception, match="TransactionCanceled"):
        dynamo.transact_write_items(**held[0])
    assert IDS[number] not in READS["of a day"](store_with(dynamo, SEVEN))


def test_no_reading_costs_more_where_nothing_is_spread() -> None:
    calls: dict[str, list[str]] = {}
    for shards in (ONE, FOUR):
        choked = Choked(FakeDynamo())
        store = store_with(choked, shards)
        store.queues.needs(WORKSPACE, 10, None)
        store.lists.tasks_of_day(WORKSPACE, DAY, 10, None)
        list(store.queues.open_work(WORKSPACE, NOON))
        calls[str(shards)] = list(choked.calls)
    assert list(calls.values()) == [["query"] * 3, ["query"] * 12]


ENVIRON = {"BATON_TABLE": "t"}


def test_the_counts_come_from_the_environment() -> None:
    assert read(ENVIRON).shards == Shards()
    given = {"BATON_WAKE_SHARDS": "4", "BATON_WAKE_SHARDS_READ": "16", "BATON_LIST_SHARDS": "2"}
    assert read({**ENVIRON, **given}).shards == Shards(Spread(4, 16), Spread(2))
    assert read({**ENVIRON, **given}).shards.wake.looked_at == 16
    assert Spread(8, 4).looked_at == 8


@pytest.mark.parametrize("name", ["BATON_WAKE_SHARDS", "BATON_LIST_SHARDS"])
@pytest.mark.parametrize("value", ["0", "-1", "x", str(MAX_SHARDS + 1)])
def test_a_count_that_is_none_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        read({**ENVIRON, name: value})


class Unread:
    """One shard of the wake index doesn't answer."""

    def __init__(self, dynamo: FakeDynamo, shard: str) -> None:
        self._dynamo, self._shard = dynamo, shard

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._dynamo, operation)

    def query(self, **request: Any) -> Any:
        if {"S": self._shard} in request["ExpressionAttributeValues"].values():
            raise ReadTimeoutError(endpoint_url="")
        return self._dynamo.query(**request)


def test_a_shard_that_cannot_be_read_keeps_nothing_else_from_being_found() -> None:
    dynamo = FakeDynamo()
    plain = store_with(dynamo, FOUR)
    for number in range(COUNT):
        plain.commit(WORKSPACE, a_new(number, wake_at=NOON - seconds(number)))
    shard = FOUR.shard_of("WAKE#OTHER", IDS[0])
    inside = [each for each in IDS if FOUR.shard_of("WAKE#OTHER", each) == shard]
    due, found = store_with(Unread(dynamo, shard), FOUR).queues.due(NOON), list[str]()
    with pytest.raises(Busy):
        found.extend(map(itemgetter(1), due))
    assert found == [each for each in reversed(IDS) if each not in inside]
