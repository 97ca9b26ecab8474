"""The outbox of events: in it with the change itself, out of it when the bus has them, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.events.event_outbox import UNSENT_PAGE, outbox_events_in
from baton.adapters.dynamodb.table import DEFAULT_SHARDS, from_wire, to_wire
from baton.domain.errors import Busy, Conflict
from baton.domain.events.bus_events import outbox_events
from baton.domain.tasks.task import State
from baton.domain.tasks.trail import replay
from baton.domain.times import EPOCH, seconds
from baton.ports.events import PendingEvent
from baton.ports.store import Store
from baton.services.events.publish_events import publish_fresh, publish_overdue
from support.clock import NOON
from support.fakes.ports import FakeBus
from support.faults.choke_point import at_call
from support.published import PublishedEvents
from support.values.changes import new, stored, then
from support.values.tasks import MS
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE

LATER = NOON + seconds(60)


def pending_events(store: Store, until: Any = NOON) -> list[PendingEvent]:
    return [each for page in store.pending_events(until) for each in page]


def ids(store: Store, until: Any = NOON) -> list[tuple[str, int]]:
    return [(each.task_id, each.seq) for each in pending_events(store, until)]


# Both stores


def test_an_event_is_in_the_outbox_with_its_change(store: Store) -> None:
    change = new()
    store.commit(WORKSPACE, change)
    (outbox_event,) = outbox_events(change)
    assert pending_events(store) == [PendingEvent(WORKSPACE, "task_1", 1, NOON, outbox_event)]
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
    assert [
        (each.outbox_event.state_before, each.outbox_event.state) for each in pending_events(store) if each.outbox_event
    ] == [
        (None, "needs"),
        ("needs", "delegated"),
        ("delegated", "delegated"),
    ]


def test_it_shows_what_is_due_to_the_millisecond(store: Store) -> None:
    stored(store)
    assert ids(store, NOON - MS) == []
    assert ids(store, NOON) == [("task_1", 1)]


def test_what_the_bus_has_is_out_of_it_for_good(store: Store) -> None:
    for id_ in ("task_1", "task_2"):
        stored(store, id_)
    for _ in range(2):
        store.mark_sent(WORKSPACE, "task_1", 1)
        assert ids(store) == [("task_2", 1)]
    store.put_off(WORKSPACE, "task_1", 1, NOON)
    assert ids(store) == [("task_2", 1)]


def test_what_is_put_off_comes_back_when_it_is_due(store: Store) -> None:
    stored(store)
    store.put_off(WORKSPACE, "task_1", 1, LATER)
    assert ids(store, LATER - MS) == []
    (again,) = pending_events(store, LATER)
    assert (again.seq, again.at) == (1, NOON), "its age isn't forgotten"
    store.mark_sent(WORKSPACE, "task_1", 1)
    assert ids(store, LATER) == []


@pytest.mark.parametrize("act", ["mark_sent", "put_off"])
def test_an_entry_that_doesnt_exist_is_not_made(store: Store, act: str) -> None:
    stored(store)
    more = () if act == "mark_sent" else (NOON,)
    for workspace, task_id, seq in ((WORKSPACE, "task_1", 2), (WORKSPACE, "unknown", 1), ("other", "task_1", 1)):
        getattr(store, act)(workspace, task_id, seq, *more)
    assert ids(store) == [("task_1", 1)]
    assert len(store.events(WORKSPACE, "task_1", 0, 10)) == 1


@pytest.mark.parametrize("count", [UNSENT_PAGE - 1, UNSENT_PAGE, UNSENT_PAGE + 1])
def test_every_page_is_shown_and_a_tasks_entries_are_in_order(store: Store, count: int) -> None:
    task = stored(store)
    for _ in range(count - 1):
        change = then(task)
        store.commit(WORKSPACE, change)
        task = change.task
    assert ids(store) == [("task_1", seq + 1) for seq in range(count)]


def test_marking_while_pages_are_read_shows_none_twice_and_leaves_none_out(store: Store) -> None:
    count = 2 * UNSENT_PAGE + 1
    for number in range(count):
        stored(store, f"task_{number:03d}")
    seen = []
    for page in store.pending_events(NOON):
        for each in page:
            seen.append(each.task_id)
            store.mark_sent(each.workspace, each.task_id, each.seq)
    assert sorted(seen) == [f"task_{number:03d}" for number in range(count)]
    assert ids(store) == []


def test_the_outbox_of_events_wakes_no_sweeper(store: Store) -> None:
    stored(store)
    assert list(store.due(LATER)) == []


def test_the_tasks_of_many_events_are_read_at_once(store: Store) -> None:
    tasks = [stored(store, f"task_{number}") for number in range(3)]
    other = new(workspace="other").task
    store.commit("other", new(workspace="other"))
    wanted = [(WORKSPACE, "task_0"), (WORKSPACE, "task_2"), (WORKSPACE, "task_0"), ("other", "task_1"), ("x", "task_1")]
    assert store.heads(wanted) == {
        (WORKSPACE, "task_0"): tasks[0],
        (WORKSPACE, "task_2"): tasks[2],
        ("other", "task_1"): other,
    }
    assert store.heads([]) == {}


# In the table


def item_of(rig: Rig, seq: int = 1) -> dict[str, Any]:
    key = keys.event(WORKSPACE, "task_1", seq)
    (found,) = [item for item in map(from_wire, rig.items()) if (item["pk"], item["sk"]) == key]
    return found


def test_only_its_place_in_the_outbox_is_ever_taken_from_an_event(rig: Rig) -> None:
    stored(rig.store)
    before = item_of(rig)
    rig.store.put_off(WORKSPACE, "task_1", 1, LATER)
    assert {**item_of(rig), "wake_sk": before["wake_sk"]} == before
    rig.store.mark_sent(WORKSPACE, "task_1", 1)
    after = item_of(rig)
    assert before.items() - after.items() == {(name, before[name]) for name in ("wake_pk", "wake_sk")}
    assert after.items() <= before.items()
    assert replay(rig.store.events(WORKSPACE, "task_1", 0, 10)).id == "task_1"


def damage(rig: Rig, **values: Any) -> None:
    rig.raw.update_item(
        TableName=rig.table,
        Key=to_wire(keys.event(WORKSPACE, "task_1", 1)._asdict()),
        UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in values),
        ExpressionAttributeNames={f"#{name}": name for name in values},
        ExpressionAttributeValues=to_wire({f":{name}": value for name, value in values.items()}),
    )


@pytest.mark.parametrize("values", [{"data": "{"}, {"fence": "x"}, {"seq": "none"}])
def test_an_event_that_cannot_be_read_is_shown_as_such_and_hides_no_other(rig: Rig, values: dict[str, Any]) -> None:
    stored(rig.store)
    stored(rig.store, "task_2")
    damage(rig, **values)
    assert {(each.task_id, each.at, each.outbox_event is None) for each in pending_events(rig.store)} == {
        ("task_1", NOON, True),
        ("task_2", NOON, False),
    }


def test_an_event_whose_time_cannot_be_read_is_as_old_as_can_be(rig: Rig) -> None:
    stored(rig.store)
    damage(rig, at="yesterday")
    (each,) = pending_events(rig.store)
    assert (each.at, each.outbox_event) == (EPOCH, None)


def test_an_unreadable_event_is_put_off_counted_and_told_of_but_never_lost(rig: Rig) -> None:
    stored(rig.store)
    stored(rig.store, "task_2")
    damage(rig, data="{")
    outside = PublishedEvents(rig.world)
    rig.clock.advance(60)
    this = outside.tick()
    assert (this.published, this.failed, this.complete) == (1, 1, True)
    assert outside.tick().failed == 0
    assert ids(rig.store, rig.clock.now()) == [("task_1", 1)]
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
        UpdateExpression="SET #state = :state",
        ExpressionAttributeNames={"#state": "state"},
        ExpressionAttributeValues={":state": {"S": "of a later version"}},
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


def test_an_index_that_lags_shows_nothing_that_was_marked(rig: Rig) -> None:
    stored(rig.store)
    rig.choked.client = Lagging(rig.choked.client)
    assert ids(rig.store) == [("task_1", 1)]
    rig.other_store.mark_sent(WORKSPACE, "task_1", 1)
    assert ids(rig.store) == []


FAULTS = ["timeout_after", "error_after", "timeout_before", "error_before", "no_connection", "throttle"]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("act", ["mark_sent", "put_off"])
def test_a_lost_reply_is_a_success(rig: Rig, fault: str, act: str) -> None:
    stored(rig.store)
    rig.choked.calls.clear()
    rig.choked.plan = at_call(1, fault)
    getattr(rig.store, act)(WORKSPACE, "task_1", 1, *(() if act == "mark_sent" else (LATER,)))
    assert ids(rig.other_store, NOON) == []
    assert ids(rig.other_store, LATER) == ([] if act == "mark_sent" else [("task_1", 1)])


def test_a_table_that_doesnt_answer_is_busy(rig: Rig) -> None:
    rig.choked.plan = lambda _number, _op: "throttle"
    for act in (lambda: pending_events(rig.store), lambda: rig.store.mark_sent(WORKSPACE, "task_1", 1)):
        with pytest.raises(Busy):
            act()


def test_the_stream_tells_what_was_written(rig: Rig) -> None:
    """The image in a record of the stream is the item as the table has it."""
    task = stored(rig.store)
    change = then(task, "approved", state=State.DELEGATED)
    rig.store.commit(WORKSPACE, change)
    images = sorted((item for item in rig.items() if item["sk"]["S"].startswith("EVENT")), key=lambda i: i["sk"]["S"])
    records = [{"eventName": "INSERT", "dynamodb": {"NewImage": image}} for image in images]
    assert outbox_events_in(records) == [*outbox_events(new()), *outbox_events(change)]
    images[0]["data"] = {"S": "{"}
    assert outbox_events_in(records) == list(outbox_events(change))


def spent(rig: Rig, act: Callable[[], Any]) -> list[str]:
    rig.choked.calls.clear()
    act()
    return rig.choked.calls


def test_telling_what_the_stream_brought_takes_one_call_and_one_for_each(rig: Rig) -> None:
    events = [outbox_event for number in range(10) for outbox_event in outbox_events(new(f"task_{number}"))]
    for number in range(10):
        stored(rig.store, f"task_{number}")
    calls = spent(rig, lambda: publish_fresh(rig.world.deps, FakeBus(), events))
    assert calls == ["batch_get_item", *["update_item"] * 10]


SHARDS = DEFAULT_SHARDS.all_of(keys.OUTBOX)


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
