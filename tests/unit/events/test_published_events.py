"""The outside hears of every entry of every trail, at least once, and no task ever waits for that."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.table import DEFAULT_SHARDS
from baton.adapters.worker_threads import WorkerThreads
from baton.domain.errors import Busy
from baton.domain.events.bus_events import (
    LONGEST_PAUSE,
    MAX_DETAIL_BYTES,
    OutboxEvent,
    bus_event,
    retry_delay,
)
from baton.domain.tasks.calls import Seen, WorkerCall
from baton.domain.times import seconds
from baton.ports.events import PublishResult
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.events.publish_events import publish_fresh, publish_overdue
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.services.tasks.watch_tasks import watch_tasks
from support.fakes.ports import FakeBus
from support.faults.choke_point import Crash
from support.faults.hooked_store import HookedStore
from support.faults.soak import scaled
from support.faults.threads import eager_switching
from support.published import PublishedEvents, Stream, entries, outbox_events
from support.values.changes import new, plant, then
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, World, agent, human

AUDITOR = agent("auditor")


@pytest.fixture
def outside(world: World) -> PublishedEvents:
    return PublishedEvents(world)


def hooked() -> tuple[HookedStore, PublishedEvents]:
    store = HookedStore()
    return store, PublishedEvents(World(store=store).settle())


def trail(outside: PublishedEvents, task_id: str) -> list[tuple[str, int]]:
    return entries(task_id, outside.world.store.trail.events(WORKSPACE, task_id, 0, 1000))


# The shape


def test_a_new_tasks_event_has_the_documented_shape(outside: PublishedEvents) -> None:
    task_id = outside.world.needing()
    outside.stream()
    (detail,) = outside.details()
    data = detail.pop("data")
    task = outside.world.task(task_id)
    assert detail == {
        "version": "1",
        "id": f"acme:{task_id}:1",
        "workspace": "acme",
        "type": "handoff_initiated",
        "at": "2026-11-18T12:00:00.000Z",
        "seq": 1,
        "state": "needs",
        "state_before": None,
        "principal": {"kind": "agent", "id": "scout"},
        "fence": 0,
        "task": {
            "id": task_id,
            "url": f"https://baton.example/tasks/{task_id}",
            "title": task.title,
            "kind": "escalation",
            "priority": "P0",
            "source_agent": "scout",
            "target_agent": "auditor",
            "handoff_id": task.handoff_id,
            "workflow_id": task.workflow_id,
            "master_task_id": task_id,
            "parent_id": None,
        },
        "cut": [],
    }
    (event,) = outside.world.store.trail.events(WORKSPACE, task_id, 0, 10)
    assert data == event.data


def test_each_event_names_the_state_before_and_after_it(outside: PublishedEvents) -> None:
    """Also where one transaction tells of two changes, or of one that moves no state."""
    world = outside.world
    claim = world.claimed(lease_seconds=15)
    world.clock.advance(16)
    sweep(world.deps)
    outside.stream()
    moves = [(each["type"], each["state_before"], each["state"]) for each in outside.details()]
    assert moves[:3] == [
        ("handoff_initiated", None, "needs"),
        ("approved", "needs", "delegated"),
        ("handoff_received", "delegated", "claimed"),
    ]
    assert moves[-1][2] == world.task(claim.details.task.id).state
    assert [before for _, before, _ in moves[1:]] == [after for _, _, after in moves[:-1]]


def test_an_event_that_moves_no_state_names_the_state_it_found(outside: PublishedEvents) -> None:
    change = new()
    after = then(change.task, "alert_raised", priority="P2")
    (outbox_event,) = outbox_events(after)
    assert (outbox_event.state_before, outbox_event.state) == ("needs", "needs")


def test_no_claim_and_no_idempotency_key_is_ever_told(outside: PublishedEvents) -> None:
    world = outside.world
    first = world.claimed()
    task_id = first.details.task.id
    renew_claim(world.deps, AUDITOR, task_id, first.claim_id, None)
    release_task(world.deps, WorkerCall(AUDITOR, task_id, first.claim_id, "h", None), ReleasedWork(reason="not now"))
    world.clock.advance(60)
    second = world.claim()
    fail_task(
        world.deps,
        WorkerCall(AUDITOR, task_id, second.claim_id, "h"),
        FailedWork(failure={"type": "error", "description": "x"}, retryable=True),
    )
    world.clock.advance(600)
    third = world.claim()
    complete_task(
        world.deps, WorkerCall(AUDITOR, task_id, third.claim_id, "h", None), CompletedWork(output={"done": True})
    )
    outside.stream()
    text = json.dumps(outside.details())
    assert outside.told() == trail(outside, task_id)
    for secret in (first.claim_id, second.claim_id, third.claim_id, "claim_id", "clm_"):
        assert secret not in text


def test_a_task_that_cannot_be_read_keeps_nobody_from_hearing_of_its_event() -> None:
    (outbox_event,) = outbox_events(new())
    detail = json.loads(bus_event(outbox_event, None, "https://baton.example/tasks/task_1").detail)
    assert detail["task"] == {"id": "task_1", "url": "https://baton.example/tasks/task_1"}


def sized(bytes_: int) -> tuple[OutboxEvent, int]:
    """A telling whose detail would be so long."""
    (outbox_event,) = outbox_events(new())

    def carrying(text: str) -> OutboxEvent:
        return replace(
            outbox_event, event=replace(outbox_event.event, data={**outbox_event.event.data, "reason": text})
        )

    short = len(bus_event(carrying(""), None, "u").detail.encode())
    return carrying("x" * (bytes_ - short)), bytes_


@pytest.mark.parametrize(("bytes_", "cut"), [(MAX_DETAIL_BYTES, []), (MAX_DETAIL_BYTES + 1, ["reason"])])
def test_what_is_too_long_for_the_bus_is_cut_where_it_is_longest(bytes_: int, cut: list[str]) -> None:
    outbox_event, _ = sized(bytes_)
    text = bus_event(outbox_event, None, "u").detail
    assert len(text.encode()) <= MAX_DETAIL_BYTES
    detail = json.loads(text)
    assert detail["cut"] == cut
    assert set(detail["data"]) == {"changes", "reason"} - set(cut)


def test_length_counts_in_bytes_and_more_is_cut_until_it_fits() -> None:
    (outbox_event,) = outbox_events(new())
    long = {"a": "ä" * 200_000, "b": ["x"] * 100_000, "c": "short"}
    detail = json.loads(
        bus_event(replace(outbox_event, event=replace(outbox_event.event, data=long)), None, "u").detail
    )
    assert (detail["cut"], detail["data"]) == (["a", "b"], {"c": "short"})


# The outbox


def test_what_the_stream_brought_is_told_once(outside: PublishedEvents) -> None:
    task_id = outside.world.ready()
    assert outside.stream().published == 2
    outside.world.clock.advance(3_600)
    assert outside.tick().published == 0
    assert outside.told() == trail(outside, task_id)


@pytest.mark.parametrize(("after_ms", "told"), [(59_999, 0), (60_000, 1)])
def test_what_the_stream_did_not_bring_is_told_after_a_minute(
    outside: PublishedEvents, after_ms: int, told: int
) -> None:
    outside.world.needing()
    outside.world.clock.advance(milliseconds=after_ms)
    assert outside.tick().published == told


def test_a_bus_that_is_down_for_an_hour_costs_nothing_but_time(outside: PublishedEvents) -> None:
    """Tasks go on as ever meanwhile; then everything is told once, each task's in order."""
    world, outside.bus.is_away = outside.world, True
    claim = world.claimed(lease_seconds=15)
    task_id = claim.details.task.id
    for _ in range(60):
        outside.stream()
        world.clock.advance(60)
        sweep(world.deps)
        this = outside.tick()
        assert (this.published, this.complete) == (0, False)
    cancel_task(world.deps, human(), task_id, None)
    assert this.oldest_seconds >= 3_600
    assert outside.bus.took == []
    outside.bus.is_away = False
    world.clock.advance(60)
    outside.tick()
    assert outside.told() == trail(outside, task_id)
    assert outside.waiting() == []


def test_while_nobody_listens_events_are_handled_without_being_sent(outside: PublishedEvents) -> None:
    """Nothing is left in the outbox, whether the stream brought it or not. Who listens later hears what comes then."""
    world, outside.bus.is_heard = outside.world, False
    ended = world.needing()
    cancel_task(world.deps, human(), ended, None)
    assert outside.stream().published == 0
    missed = world.ready()
    world.clock.advance(3_600)
    this = outside.tick()
    assert (this.published, this.failed, this.complete) == (0, 0, True)
    assert outside.waiting() == []
    outside.bus.is_heard = True
    cancel_task(world.deps, human(), missed, None)
    outside.stream()
    world.clock.advance(3_600)
    assert outside.tick().oldest_seconds == 0
    assert outside.told() == trail(outside, missed)[-1:]


def test_watches_are_told_while_nobody_listens() -> None:
    rig = Rig().settle()
    world, stream, bus = rig.world, Stream(rig.raw), FakeBus()
    bus.is_heard = False
    watch_tasks(world.deps, WORKSPACE)
    world.needing()
    stream.bring(world.deps, bus)
    watch = world.store.watches.watch(WORKSPACE)
    assert watch is not None
    assert (watch.changes, watch.brought_at) == (1, world.clock.now())


def outbox_shard(task_id: str) -> str:
    return DEFAULT_SHARDS.shard_of(keys.OUTBOX, task_id)


def of_one_shard(count: int) -> list[str]:
    """Ids of tasks whose events wait together, so that they fill pages."""
    ids = (f"task_{number:03d}" for number in range(10_000))
    return list(islice((each for each in ids if outbox_shard(each) == outbox_shard("task_000")), count))


def test_a_bus_that_is_away_is_asked_once_a_run(outside: PublishedEvents) -> None:
    for task_id in of_one_shard(60):
        outside.world.store.commit(WORKSPACE, new(task_id))
    outside.world.clock.advance(60)
    asked: list[int] = []

    class Away:
        def publish(self, notices: Any) -> PublishResult:
            asked.append(len(notices))
            return PublishResult()

    publish_overdue(outside.world.deps, Away())
    assert asked == [50]
    assert len(outside.waiting()) == 60


def test_what_the_bus_refuses_never_stops_the_rest_and_is_tried_again_ever_less_often(outside: PublishedEvents) -> None:
    world = outside.world
    bad = f"acme:{world.needing()}:1"
    good = world.needing(target_agent="runner")
    outside.bus.refuses.add(bad)
    assert outside.stream().failed == 1
    assert outside.told() == trail(outside, good)
    tried = []
    for minute in range(1, 61):
        world.clock.advance(60)
        if outside.tick().failed:
            tried.append(minute)
    assert tried == [1, 2, 4, 8, 16, 31, 46]
    outside.bus.refuses.clear()
    world.clock.advance(60)
    assert outside.tick().published == 1
    assert outside.waiting() == []


@pytest.mark.parametrize(("age", "wanted"), [(0, 60), (60, 60), (61, 61), (899, 899), (900, 900), (86_400, 900)])
def test_pauses_grow_with_the_age_from_a_minute_to_fifteen(age: int, wanted: int) -> None:
    assert retry_delay(seconds(age)) == seconds(wanted)
    assert seconds(900) == LONGEST_PAUSE


@pytest.mark.slow
def test_a_thousand_bad_ones_in_front_do_not_starve_the_one_behind(outside: PublishedEvents) -> None:
    bad = scaled(1_000, 4)
    for number in range(bad):
        outside.world.store.commit(WORKSPACE, new(f"task_{number:04d}"))
        outside.bus.refuses.add(f"acme:task_{number:04d}:1")
    outside.world.clock.advance(1)
    task_id = outside.world.needing()
    outside.world.clock.advance(60)
    this = outside.tick()
    assert (this.published, this.failed, this.complete) == (1, bad, True)
    assert outside.told() == [(task_id, 1)]


def test_a_crash_between_the_bus_and_the_outbox_tells_the_same_thing_twice(world: World) -> None:
    store, outside = hooked()
    task_id = outside.world.needing()

    def crash() -> None:
        raise Crash

    store.before["mark_told"] = crash
    with pytest.raises(Crash):
        outside.stream()
    outside.world.clock.advance(60)
    outside.tick()
    idempotency_key, again = outside.bus.took
    assert idempotency_key == again
    assert outside.told() == [(task_id, 1), (task_id, 1)]
    assert outside.waiting() == []


def test_a_table_that_is_busy_when_marking_costs_a_repeat_and_no_other_entry() -> None:
    store, outside = hooked()
    for number in range(3):
        store.commit(WORKSPACE, new(f"task_{number}"))

    def busy() -> None:
        raise Busy

    store.before["mark_told"] = busy
    assert outside.stream().published == 3
    assert len(outside.waiting()) == 1
    outside.world.clock.advance(60)
    assert outside.tick().published == 1
    assert outside.waiting() == []


def test_a_function_that_was_dead_for_a_day_tells_it_all(outside: PublishedEvents) -> None:
    ids = []
    for _ in range(5):
        ids.append(outside.world.needing(by=human()))
        cancel_task(outside.world.deps, human(), ids[-1], None)
        outside.world.clock.advance(86_400 * 7)
    this = outside.tick()
    assert this.oldest_seconds == 5 * 7 * 86_400
    published = outside.told()
    for shard in {outbox_shard(task_id) for task_id in ids}:  # in each of them in the order of time
        wanted = [entry for task_id in ids if outbox_shard(task_id) == shard for entry in trail(outside, task_id)]
        assert [entry for entry in published if outbox_shard(entry[0]) == shard] == wanted
    assert {task_id for task_id, _ in published} == set(ids)


def test_two_runs_at_once_tell_everything_at_least_once(world: World) -> None:
    store, outside = hooked()
    task_id = outside.world.ready()
    outside.world.clock.advance(60)
    store.before["mark_told"] = outside.tick
    outside.tick()
    assert set(outside.told()) == set(trail(outside, task_id))
    assert outside.waiting() == []


def test_one_run_puts_off_what_another_has_just_told_to_no_effect() -> None:
    store, outside = hooked()
    outside.world.needing()
    outside.world.clock.advance(60)
    (waiting,) = outside.waiting()
    outside.bus.refuses.add(f"acme:{waiting.task_id}:1")

    def other_run() -> None:
        store.outbox.mark_told(waiting.workspace, waiting.task_id, 1, 1, is_over=True)

    store.before["look_again"] = other_run
    outside.tick()
    assert outside.waiting() == []


def test_a_run_stops_in_time_and_the_next_one_goes_on(outside: PublishedEvents) -> None:
    for task_id in of_one_shard(120):
        outside.world.store.commit(WORKSPACE, new(task_id))
    outside.world.clock.advance(60)
    left = iter([True, True, False])
    this = publish_overdue(outside.world.deps, outside.bus, lambda: next(left))
    assert (this.published, this.complete) == (100, False)
    this = publish_overdue(outside.world.deps, outside.bus)
    assert (this.published, this.complete) == (20, True)


def test_other_workspaces_events_keep_their_own_tasks(outside: PublishedEvents) -> None:
    """Even if two of them had the same id."""
    outside.world.store.commit(WORKSPACE, new(title="ours"))
    outside.world.store.commit("other", new(workspace="other", title="theirs"))
    outside.stream()
    titles = {(each["workspace"], each["id"]): each["task"]["title"] for each in outside.details()}
    assert titles == {("acme", "acme:task_1:1"): "ours", ("other", "other:task_1:1"): "theirs"}
    assert outside.waiting() == []


def test_an_empty_batch_asks_for_nothing(outside: PublishedEvents) -> None:
    this = publish_fresh(outside.world.deps, outside.bus, [])
    assert (this.published, this.failed, this.complete) == (0, 0, True)


def test_nothing_of_a_task_shows_that_the_outside_was_told(outside: PublishedEvents) -> None:
    task_id = outside.world.needing()
    before = outside.world.task(task_id), outside.world.trail(task_id)
    outside.stream()
    assert (outside.world.task(task_id), outside.world.trail(task_id)) == before
    approve_task(outside.world.deps, human(), task_id, Seen(before[0].revision))


# Several at once


def busy_world(count: int) -> tuple[PublishedEvents, list[str]]:
    """So many tasks, each with three events."""
    world = World().settle()
    plant(world.store, (new(f"task_{number:02d}") for number in range(count)))
    ids = [f"task_{number:02d}" for number in range(count)]
    for step in (1, 2):
        for each in ids:
            world.store.commit(WORKSPACE, then(world.task(each), type_=f"step_{step}"))
    return PublishedEvents(world), ids


def test_several_workers_tell_each_event_once_and_each_task_in_order() -> None:
    outside, ids = busy_world(60)
    outside.world.clock.advance(120)
    with eager_switching():
        this = publish_overdue(outside.world.deps, outside.bus, workers=WorkerThreads(8))
    assert (this.published, this.failed, this.complete) == (180, 0, True)
    assert this.oldest_seconds == 120.0
    for each in ids:
        assert [seq for task_id, seq in outside.told() if task_id == each] == [1, 2, 3]
    assert outside.waiting() == []


def test_several_workers_note_what_the_stream_brought() -> None:
    outside, _ = busy_world(60)
    brought = outside.waiting()
    with eager_switching():
        this = publish_fresh(outside.world.deps, outside.bus, brought, WorkerThreads(8))
    assert (this.published, this.failed) == (180, 0)
    assert outside.waiting() == []


def test_a_bus_out_of_reach_stops_all_workers() -> None:
    outside, ids = busy_world(60)
    outside.world.clock.advance(120)
    outside.bus.is_away = True
    this = publish_overdue(outside.world.deps, outside.bus, workers=WorkerThreads(4))
    assert (this.published, this.complete) == (0, False)
    outside.bus.is_away = False
    assert outside.tick().published == 3 * len(ids)
