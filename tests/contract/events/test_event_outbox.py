"""The outbox of events: in it with the change itself, out of it when the bus has them, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.events.event_outbox import MAX_AT_ONCE, UNSENT_PAGE
from baton.adapters.dynamodb.table import DEFAULT_SHARDS, MAX_BATCH, from_wire, to_wire
from baton.domain.errors import Busy, Conflict
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.change import Change
from baton.domain.tasks.trail import replay
from baton.domain.times import seconds
from baton.ports.events import PendingTask
from baton.ports.store import Store
from baton.ports.writes import Insert, Require, UnderClaim
from baton.services.events.publish_events import publish_fresh, publish_overdue
from support.clock import NOON
from support.fakes.ports import FakeBus
from support.faults.choke_point import Crash, at_call, no_fault
from support.published import PublishedEvents, outbox_events, stream_records
from support.values.changes import claimed, looked_at, new, stored, then
from support.values.records import a_note
from support.values.tasks import MS
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent

LATER = NOON + seconds(60)


def pending(store: Store, until: Any = NOON) -> list[PendingTask]:
    return [each for page in store.outbox.pending_tasks(until) for each in page]


def ids(store: Store, until: Any = NOON) -> list[tuple[str, int]]:
    return [(each.task_id, event.event.seq) for each in pending(store, until) for event in each.events]


def places(store: Store, until: Any = NOON) -> list[str]:
    return [each.task_id for each in pending(store, until)]


def ended(store: Store, id_: str = "task_1") -> Change:
    change = then(stored(store, id_), "cancelled", state=State.CANCELLED)
    store.commit(WORKSPACE, change)
    return change


def tell(store: Store, id_: str = "task_1", last: int = 1, *, is_over: bool = False) -> None:
    store.outbox.mark_told(WORKSPACE, id_, 1, last, is_over=is_over)


# Both stores


def test_a_task_is_in_the_outbox_with_its_first_event(store: Store) -> None:
    change = new()
    store.commit(WORKSPACE, change)
    (outbox_event,) = outbox_events(change)
    assert pending(store) == [PendingTask(WORKSPACE, "task_1", (outbox_event,), task=change.task)]
    assert (outbox_event.state_before, outbox_event.state) == (None, "needs")


def test_a_change_that_isnt_written_leaves_nothing_in_it(store: Store) -> None:
    stored(store)
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, new())
    assert ids(store) == [("task_1", 1)]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_json_has_no_word_for_is_not_written(store: Store, value: float) -> None:
    change = new()
    (event,) = change.events
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.commit(WORKSPACE, replace(change, events=(replace(event, data={**event.data, "x": value}),)))
    assert ids(store) == []
    store.commit(WORKSPACE, change)


def test_each_event_of_a_change_is_in_it_with_the_states_around_it(store: Store) -> None:
    task = stored(store)
    first = then(task, "approved", state=State.DELEGATED)
    second = then(first.task, "alert_raised", priority="P2")
    both = replace(first, task=second.task.changed(version=2), events=(*first.events, *second.events))
    store.commit(WORKSPACE, both)
    assert [(each.state_before, each.state) for found in pending(store) for each in found.events] == [
        (None, "needs"),
        ("needs", "delegated"),
        ("delegated", "delegated"),
    ]


def test_it_shows_what_is_due_to_the_millisecond(store: Store) -> None:
    stored(store)
    assert ids(store, NOON - MS) == []
    assert ids(store, NOON) == [("task_1", 1)]


def test_an_event_is_shown_once_it_is_as_old_as_asked_for(store: Store) -> None:
    task = stored(store)
    store.commit(WORKSPACE, then(task, at=LATER))
    (found,) = pending(store, LATER - MS)
    assert ([each.event.seq for each in found.events], found.is_over) == ([1], False)
    assert ids(store, LATER) == [("task_1", 1), ("task_1", 2)]


def test_what_the_bus_has_is_shown_no_more(store: Store) -> None:
    task = stored(store)
    for _ in range(2):
        tell(store)
        assert pending(store) == [PendingTask(WORKSPACE, "task_1", task=task)]
    store.commit(WORKSPACE, then(task))
    assert ids(store) == [("task_1", 2)]


def test_a_task_that_was_told_to_its_end_leaves_the_outbox_for_good(store: Store) -> None:
    ended(store)
    stored(store, "task_2")
    assert [each.is_over for each in pending(store)] == [each.task_id == "task_1" for each in pending(store)]
    for _ in range(2):
        tell(store, last=2, is_over=True)
        assert places(store) == ["task_2"]
    store.outbox.look_again(WORKSPACE, "task_1", NOON)
    store.outbox.look_sooner(WORKSPACE, "task_1", NOON - MS)
    assert places(store) == ["task_2"]


def test_a_task_that_was_told_to_its_end_may_also_leave_later(store: Store) -> None:
    task = ended(store).task
    tell(store, last=2)
    assert pending(store) == [PendingTask(WORKSPACE, "task_1", is_over=True, task=task)]
    for _ in range(2):
        store.outbox.leave_outbox(WORKSPACE, "task_1")
        assert places(store) == []


def test_no_event_is_passed_over(store: Store) -> None:
    """The bus refused the first one, and the stream has brought the second."""
    store.commit(WORKSPACE, then(stored(store)))
    store.outbox.mark_told(WORKSPACE, "task_1", 2, 2, is_over=False)
    assert ids(store) == [("task_1", 1), ("task_1", 2)]
    tell(store)
    store.outbox.mark_told(WORKSPACE, "task_1", 2, 2, is_over=False)
    tell(store)
    assert ids(store) == []


def test_a_place_is_due_when_it_is_to_be_looked_at_again(store: Store) -> None:
    stored(store)
    store.outbox.look_again(WORKSPACE, "task_1", LATER)
    assert places(store, LATER - MS) == []
    assert ids(store, LATER) == [("task_1", 1)], "nothing is forgotten"
    store.outbox.look_sooner(WORKSPACE, "task_1", LATER + MS)
    assert places(store, LATER) == ["task_1"]
    store.outbox.look_sooner(WORKSPACE, "task_1", NOON)
    assert places(store, NOON) == ["task_1"]


@pytest.mark.parametrize("act", ["mark_told", "look_again", "look_sooner", "leave_outbox"])
def test_a_place_that_doesnt_exist_is_not_made(store: Store, act: str) -> None:
    stored(store)
    given: dict[str, Any] = {
        "mark_told": lambda workspace, task_id: store.outbox.mark_told(workspace, task_id, 1, 1, is_over=False),
        "look_again": lambda workspace, task_id: store.outbox.look_again(workspace, task_id, NOON),
        "look_sooner": lambda workspace, task_id: store.outbox.look_sooner(workspace, task_id, NOON),
        "leave_outbox": store.outbox.leave_outbox,
    }
    for workspace, task_id in ((WORKSPACE, "unknown"), ("other", "task_1")):
        given[act](workspace, task_id)
    assert ids(store) == [("task_1", 1)]
    assert store.tasks.many(WORKSPACE, ["unknown"]) == {}


@pytest.mark.parametrize("count", [UNSENT_PAGE - 1, UNSENT_PAGE, UNSENT_PAGE + 1])
def test_every_page_of_places_is_shown(store: Store, count: int) -> None:
    names = [f"task_{number:03d}" for number in range(count)]
    for name in names:
        stored(store, name)
    assert sorted(places(store)) == names


@pytest.mark.parametrize("count", [MAX_AT_ONCE - 1, MAX_AT_ONCE, MAX_AT_ONCE + 1])
def test_a_long_trail_is_told_in_parts(store: Store, count: int) -> None:
    task = stored(store)
    for _ in range(count - 2):
        change = then(task)
        store.commit(WORKSPACE, change)
        task = change.task
    store.commit(WORKSPACE, then(task, "cancelled", state=State.CANCELLED))
    (found,) = pending(store)
    told = [each.event.seq for each in found.events]
    assert (told, found.is_over) == (list(range(1, min(count, MAX_AT_ONCE) + 1)), count <= MAX_AT_ONCE)
    tell(store, last=told[-1])
    assert ids(store) == [("task_1", seq) for seq in range(len(told) + 1, count + 1)]


def test_marking_while_pages_are_read_shows_none_twice_and_leaves_none_out(store: Store) -> None:
    count = 2 * UNSENT_PAGE + 1
    for number in range(count):
        ended(store, f"task_{number:03d}")
    seen = []
    for page in store.outbox.pending_tasks(NOON):
        for each in page:
            seen.append(each.task_id)
            tell(store, each.task_id, 2, is_over=True)
    assert sorted(seen) == [f"task_{number:03d}" for number in range(count)]
    assert places(store) == []


def test_the_outbox_of_events_wakes_no_sweeper(store: Store) -> None:
    stored(store)
    assert list(store.queues.due(LATER)) == []


def test_the_tasks_of_many_events_are_read_at_once(store: Store) -> None:
    tasks = [stored(store, f"task_{number}") for number in range(3)]
    other = new(workspace="other").task
    store.commit("other", new(workspace="other"))
    wanted = [(WORKSPACE, "task_0"), (WORKSPACE, "task_2"), (WORKSPACE, "task_0"), ("other", "task_1"), ("x", "task_1")]
    assert store.outbox.heads(wanted) == {
        (WORKSPACE, "task_0"): tasks[0],
        (WORKSPACE, "task_2"): tasks[2],
        ("other", "task_1"): other,
    }
    assert store.outbox.heads([]) == {}


# In the table


def item_of(rig: Rig) -> dict[str, Any]:
    return from_wire(rig.raw.item(keys.beginning(WORKSPACE, "task_1")) or {})


def test_what_was_told_never_touches_an_event(rig: Rig) -> None:
    ended(rig.store)
    before = item_of(rig)
    rig.store.outbox.look_again(WORKSPACE, "task_1", LATER)
    assert {**item_of(rig), "wake_sk": before["wake_sk"]} == before
    tell(rig.store, last=2, is_over=True)
    gone = {"wake_pk", "wake_sk"}
    assert item_of(rig) == {**{name: before[name] for name in before.keys() - gone}, "told": 2}
    assert replay(rig.store.trail.events(WORKSPACE, "task_1", 0, 10)).id == "task_1"


def damage(rig: Rig, **values: Any) -> None:
    """The first event of task_1."""
    item = deepcopy(rig.raw.item(keys.beginning(WORKSPACE, "task_1"))) or {}
    item["events"]["L"][0]["M"] |= to_wire(values)
    rig.raw.put(item)


@pytest.mark.parametrize("values", [{"data": "{"}, {"fence": "x"}, {"seq": "none"}, {"at": "yesterday"}, {"by": 7}])
def test_an_event_that_cannot_be_read_is_shown_as_such_and_hides_no_other_task(
    rig: Rig, values: dict[str, Any]
) -> None:
    stored(rig.store)
    stored(rig.store, "task_2")
    damage(rig, **values)
    assert {(each.task_id, len(each.events), each.is_readable) for each in pending(rig.store)} == {
        ("task_1", 0, False),
        ("task_2", 1, True),
    }


@pytest.mark.parametrize("name", ["seq", "told"])
def test_a_task_whose_numbers_cannot_be_read_is_shown_as_unreadable(rig: Rig, name: str) -> None:
    stored(rig.store)
    for key in (keys.beginning(WORKSPACE, "task_1"), keys.head(WORKSPACE, "task_1")):
        rig.raw.put({**(rig.raw.item(key) or {}), name: {"S": "none"}})
    assert [(each.events, each.is_readable) for each in pending(rig.store)] == [((), False)]


def test_an_unreadable_event_is_put_off_counted_and_told_of_but_never_lost(rig: Rig) -> None:
    stored(rig.store)
    stored(rig.store, "task_2")
    damage(rig, data="{")
    outside = PublishedEvents(rig.world)
    rig.clock.advance(60)
    this = outside.tick()
    assert (this.published, this.failed, this.complete) == (1, 1, True)
    assert outside.tick().failed == 0
    assert places(rig.store, rig.clock.now() + seconds(900)) != []
    assert [logged["action"] for logged in rig.world.logged] == ["event_unreadable"]


def test_an_entry_that_cannot_be_composed_never_stops_the_rest(rig: Rig) -> None:
    stored(rig.store)
    stored(rig.store, "task_2")
    damage(rig, data='{"changes":{},"x":NaN}')  # by hand: no store takes it, and JSON has no word for it
    outside = PublishedEvents(rig.world)
    rig.clock.advance(60)
    this = outside.tick()
    assert (this.published, this.failed, this.complete) == (1, 1, True)
    assert [logged["action"] for logged in rig.world.logged] == ["event_refused"]
    assert outside.tick().failed == 0, "put off"
    assert ids(rig.store, rig.clock.now()) == [("task_1", 1)]


def test_a_head_that_cannot_be_read_leaves_its_event_to_be_told(rig: Rig) -> None:
    stored(rig.store)
    head = to_wire(keys.head(WORKSPACE, "task_1")._asdict())
    rig.raw.update_item(
        TableName=rig.table,
        Key=head,
        UpdateExpression="SET #deadline = :deadline",
        ExpressionAttributeNames={"#deadline": "deadline"},
        ExpressionAttributeValues={":deadline": {"S": "no time"}},
    )
    outside = PublishedEvents(rig.world)
    assert outside.stream().published == 1
    assert set(outside.details()[0]["task"]) == {"id", "url"}


class Lagging:
    """Wraps a client: the index still shows what it showed at first."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.shown: dict[str, Any] = {}

    def __getattr__(self, operation: str) -> Any:
        return getattr(self.client, operation)

    def query(self, **request: Any) -> Any:
        return self.shown.setdefault(repr(sorted(request.items())), self.client.query(**request))


def test_an_index_that_lags_shows_nothing_that_was_told(rig: Rig) -> None:
    ended(rig.store)
    rig.choked.client = Lagging(rig.choked.client)
    assert ids(rig.store) == [("task_1", 1), ("task_1", 2)]
    tell(rig.other_store, last=2, is_over=True)
    assert places(rig.store) == []


FAULTS = ["timeout_after", "error_after", "timeout_before", "error_before", "no_connection", "throttle"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_lost_reply_is_a_success(rig: Rig, fault: str) -> None:
    ended(rig.store)
    acts: tuple[tuple[Callable[[], None], list[str]], ...] = (
        (lambda: rig.store.outbox.look_again(WORKSPACE, "task_1", LATER), []),
        (lambda: rig.store.outbox.look_sooner(WORKSPACE, "task_1", NOON), ["task_1"]),
        (lambda: tell(rig.store, last=2, is_over=True), []),
    )
    for act, left in acts:
        rig.choked.calls.clear()
        rig.choked.plan = at_call(1, fault)
        act()
        assert places(rig.other_store) == left


def test_a_table_that_doesnt_answer_is_busy(rig: Rig) -> None:
    rig.choked.plan = lambda _number, _op: "throttle"
    for act in (lambda: pending(rig.store), lambda: tell(rig.store)):
        with pytest.raises(Busy):
            act()


def test_the_stream_brings_what_was_written(rig: Rig) -> None:
    """The image in a record of the stream is the item as the table has it."""
    images: list[Any] = []
    rig.raw.watch = lambda changes: images.extend(changes)
    task = stored(rig.store)
    change = then(task, "approved", state=State.DELEGATED)
    rig.store.commit(WORKSPACE, change)
    rig.store.commit(WORKSPACE, looked_at(change.task))
    records = stream_records(images)
    assert rig.store.outbox.fresh_events(records) == [*outbox_events(new()), *outbox_events(change)]
    assert rig.count(lambda: rig.store.outbox.fresh_events(records)) == ["batch_get_item"], (
        "the beginnings of new tasks"
    )
    assert rig.count(lambda: rig.store.outbox.fresh_events(records[1:])) == []
    beginning = deepcopy(rig.raw.item(keys.beginning(WORKSPACE, "task_1"))) or {}
    beginning["events"]["L"][0]["M"]["data"] = {"S": "{"}
    rig.raw.put(beginning)
    assert rig.store.outbox.fresh_events(records) == list(outbox_events(change))


@pytest.mark.parametrize("count", [MAX_BATCH, MAX_BATCH + 1])
def test_a_batch_of_the_stream_may_be_about_more_tasks_than_one_call_reads(rig: Rig, count: int) -> None:
    images: list[Any] = []
    rig.raw.watch = lambda changes: images.extend(changes)
    tasks = [stored(rig.store, f"task_{number:03d}") for number in range(count)]
    found = rig.store.outbox.fresh_events(stream_records(images))
    assert [each.task_id for each in found] == [task.id for task in tasks]
    assert rig.store.outbox.heads([(each.workspace, each.task_id) for each in found]).keys() == {
        (WORKSPACE, task.id) for task in tasks
    }


def died_before_head(rig: Rig) -> None:
    rig.choked.plan = lambda _number, operation: "crash_before" if operation == "transact_write_items" else None
    with pytest.raises(Crash):
        rig.store.commit(WORKSPACE, new())
    rig.choked.plan = no_fault


def overdue(rig: Rig, bus: FakeBus, seconds_later: int) -> Any:
    rig.clock.time = NOON + seconds(seconds_later)
    return publish_overdue(rig.world.deps, bus)


def test_a_beginning_without_its_task_is_told_to_nobody_and_given_up_after_half_an_hour(rig: Rig) -> None:
    """A creation that was refused or died has left it."""
    bus = FakeBus()
    images: list[Any] = []
    rig.raw.watch = lambda changes: images.extend(changes)
    died_before_head(rig)
    assert stream_records(images) == []
    assert pending(rig.store) == [PendingTask(WORKSPACE, "task_1", put_at=NOON)]
    for later in (61, 400, 1_799 + 60):
        report = overdue(rig, bus, later)
        assert (report.published, report.failed, report.complete) == (0, 0, True)
    assert places(rig.store, NOON + seconds(10**6)) == ["task_1"]
    overdue(rig, bus, 12_000)
    assert places(rig.store, NOON + seconds(10**6)) == []
    assert bus.took == []
    assert rig.store.lists.tasks_of_day(WORKSPACE, NOON.date(), 10, None).items == ()


def test_a_task_that_comes_to_be_after_its_first_look_is_told_by_its_place(rig: Rig) -> None:
    died_before_head(rig)
    overdue(rig, FakeBus(), 61)
    whole = Rig()
    stored(whole.store)
    rig.raw.put(whole.raw.item(keys.head(WORKSPACE, "task_1")) or {})  # its transaction arrives only now
    assert ids(rig.store, NOON + seconds(10**6)) == [("task_1", 1)]


def test_the_id_of_a_task_belongs_to_the_commit_that_took_it(rig: Rig) -> None:
    died_before_head(rig)
    before = rig.raw.contents()
    with pytest.raises(Conflict):
        rig.other_store.commit(WORKSPACE, new(title="another"))
    assert rig.raw.contents() == before


@pytest.mark.parametrize("is_among_others", [False, True])
def test_the_place_of_a_task_that_was_fenced_off_brings_nothing_and_is_in_no_list(
    rig: Rig, is_among_others: bool
) -> None:
    """A void item in the place of its HEAD, or of its beginning (docs/decisions/023)."""
    images: list[Any] = []
    rig.raw.watch = lambda changes: images.extend(changes)
    key = keys.beginning if is_among_others else keys.head
    rig.raw.put(to_wire({**key(WORKSPACE, "task_1")._asdict(), "void": True}))
    assert rig.store.outbox.fresh_events(stream_records(images)) == []
    with pytest.raises(Conflict):
        stored(rig.store)
    assert rig.store.lists.tasks_of_day(WORKSPACE, NOON.date(), 10, None).items == ()
    assert ids(rig.store, NOON + seconds(600)) == []


@pytest.mark.parametrize(
    "values", [{"seq": "none"}, {"fresh": "none"}, {"fresh": None}, {"events": "gone"}, {"fresh": 9}]
)
def test_a_record_whose_numbers_cannot_be_read_holds_up_no_other(rig: Rig, values: dict[str, Any]) -> None:
    images: list[Any] = []
    task = stored(rig.store)
    rig.raw.watch = lambda changes: images.extend(changes)
    rig.store.commit(WORKSPACE, then(task, title="x"))
    stored(rig.store, "task_2")
    records = deepcopy(stream_records(images))
    damaged = records[0]["dynamodb"]["NewImage"]
    for name, value in values.items():
        damaged |= to_wire({name: value})
        if value is None:
            del damaged[name]
    told = [each.task_id for each in rig.store.outbox.fresh_events(records)]
    assert told == ["task_1", "task_2"] if values == {"fresh": 9} else ["task_2"]


def test_the_stream_brings_no_event_twice(rig: Rig) -> None:
    """Neither a heartbeat nor a note under the claim, nor what the publisher notes itself, is news."""
    claimed_task = claimed(rig.store)
    images: list[Any] = []
    rig.store.commit(WORKSPACE, then(claimed_task, title="x"))
    rig.raw.watch = lambda changes: images.extend(changes)
    rig.store.claims.renew(WorkerCall(agent("auditor"), "task_1", "clm_1"), NOON, None)
    rig.store.commit(WORKSPACE, Insert(a_note()), Require(UnderClaim("task_1", "clm_1", 100)))
    tell(rig.store)
    rig.store.outbox.look_again(WORKSPACE, "task_1", LATER)
    assert len(images) == 5
    assert stream_records(images) == []


def spent(rig: Rig, act: Callable[[], Any]) -> list[str]:
    rig.choked.calls.clear()
    act()
    return rig.choked.calls


def test_telling_what_the_stream_brought_takes_one_call_and_one_for_each_task(rig: Rig) -> None:
    events = [outbox_event for number in range(10) for outbox_event in outbox_events(new(f"task_{number}"))]
    for number in range(10):
        stored(rig.store, f"task_{number}")
    calls = spent(rig, lambda: publish_fresh(rig.world.deps, FakeBus(), events))
    assert calls == ["batch_get_item", *["update_item"] * 10]


SHARDS = DEFAULT_SHARDS.all_of(keys.OUTBOX)


def test_telling_what_is_overdue_reads_each_task_once(rig: Rig) -> None:
    for number in range(10):
        stored(rig.store, f"task_{number}")
    rig.clock.advance(60)
    calls = spent(rig, lambda: publish_overdue(rig.world.deps, FakeBus()))
    pages = calls.count("batch_get_item")
    assert 1 <= pages <= len(SHARDS)
    # Each is noted as told, and looked at again in a minute.
    assert (calls.count("query"), calls.count("update_item"), len(calls)) == (len(SHARDS), 20, len(SHARDS) + pages + 20)


def test_a_quiet_minute_takes_a_query_for_each_shard(rig: Rig) -> None:
    assert spent(rig, lambda: publish_overdue(rig.world.deps, FakeBus())) == ["query"] * len(SHARDS)


def test_every_shard_comes_first_some_minute(rig: Rig) -> None:
    asked: list[str] = []
    rig.choked.client = Listening(rig.choked.client, asked)
    for _ in SHARDS:
        publish_overdue(rig.world.deps, FakeBus())
        rig.clock.advance(60)
    rounds = [asked[start : start + len(SHARDS)] for start in range(0, len(asked), len(SHARDS))]
    assert {shards[0] for shards in rounds} == set(SHARDS)
    assert all(sorted(shards) == sorted(SHARDS) for shards in rounds)


class Listening:
    """Writes down which partitions a client queries."""

    def __init__(self, client: Any, asked: list[str]) -> None:
        self.client, self.asked = client, asked

    def query(self, **request: Any) -> Any:
        self.asked.append(request["ExpressionAttributeValues"][":pk"]["S"])
        return self.client.query(**request)
