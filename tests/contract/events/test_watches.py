"""The watch of a workspace's tasks: one item, which who looks, and the stream, change in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.table import from_wire, to_wire
from baton.domain.tasks.watch import Watch
from baton.domain.times import seconds, to_ms
from baton.ports.store import Store
from support.clock import NOON
from support.faults.threads import at_once
from support.published import stream_records
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE

FIRST = Watch(began_at=NOON, asked_at=NOON)
AGAIN = Watch(began_at=NOON, asked_at=NOON + seconds(30))


def watched(store: Store) -> Store:
    store.watches.ask_for_watch(WORKSPACE, FIRST)
    return store


def test_a_watch_is_read_as_it_was_asked_for(store: Store) -> None:
    assert store.watches.watch(WORKSPACE) is None
    watched(store)
    assert store.watches.watch(WORKSPACE) == FIRST
    store.watches.ask_for_watch(WORKSPACE, AGAIN)
    assert store.watches.watch(WORKSPACE) == AGAIN


def test_who_comes_within_half_a_minute_changes_nothing(store: Store) -> None:
    watched(store)
    store.watches.ask_for_watch(WORKSPACE, replace(AGAIN, asked_at=NOON + seconds(29.999)))
    assert store.watches.watch(WORKSPACE) == FIRST


def test_a_change_is_counted_and_kept_through_the_next_asking(store: Store) -> None:
    watched(store)
    for at in (1, 2):
        store.watches.note_change(WORKSPACE, NOON + seconds(at))
    store.watches.ask_for_watch(WORKSPACE, AGAIN)
    assert store.watches.watch(WORKSPACE) == replace(AGAIN, changed_at=NOON + seconds(2), changes=2)


def test_what_was_brought_never_goes_back(store: Store) -> None:
    watched(store)
    store.watches.ask_for_watch(WORKSPACE, AGAIN)
    for each in (AGAIN, FIRST):
        store.watches.note_brought(WORKSPACE, each.asked_at)
        assert store.watches.watch(WORKSPACE) == replace(AGAIN, brought_at=AGAIN.asked_at)


def test_nobody_makes_a_watch_but_who_looks(store: Store) -> None:
    store.watches.note_change(WORKSPACE, NOON)
    store.watches.note_brought(WORKSPACE, NOON)
    assert store.watches.watch(WORKSPACE) is None


def test_many_watches_are_read_at_once_and_each_is_its_workspaces_own(store: Store) -> None:
    many = [f"ws-{number}" for number in range(101)]
    for workspace in (many[0], many[100]):
        store.watches.ask_for_watch(workspace, FIRST)
    store.watches.note_change(many[0], NOON)
    assert store.watches.of_workspaces(many) == {many[0]: replace(FIRST, changed_at=NOON, changes=1), many[100]: FIRST}
    assert store.watches.of_workspaces([]) == {}


# The fake alone


def test_of_two_who_look_at_once_one_asks(rig: Rig) -> None:
    written: list[Any] = []
    rig.raw.watch = written.extend
    assert at_once(2, lambda: rig.other_store.watches.ask_for_watch(WORKSPACE, FIRST)) == [None, None]
    assert len(written) == 1


def test_the_stream_brings_it_once_and_never_the_answer_to_it(rig: Rig) -> None:
    written: list[Any] = []
    rig.raw.watch = written.extend
    watched(rig.store)
    assert rig.store.watches.asked_watches(stream_records(written)) == {WORKSPACE: NOON}
    rig.store.watches.note_brought(WORKSPACE, NOON)
    rig.store.watches.note_change(WORKSPACE, NOON)
    assert len(written) == 3
    assert len(stream_records(written)) == 1


def test_of_several_in_a_batch_the_latest_counts(rig: Rig) -> None:
    written: list[Any] = []
    rig.raw.watch = written.extend
    for each in (FIRST, AGAIN):
        rig.store.watches.ask_for_watch(WORKSPACE, each)
    rig.world.needing()
    records = stream_records(written)
    assert rig.store.watches.asked_watches(records[::-1]) == {WORKSPACE: AGAIN.asked_at}
    assert len(rig.store.outbox.fresh_events(records)) == 1


def test_a_watch_is_forgotten_a_day_later_and_has_no_number_of_shapes(rig: Rig) -> None:
    watched(rig.store)
    item = from_wire(rig.raw.contents()[keys.watch(WORKSPACE)])
    assert (item["ttl"], "s" in item) == (to_ms(NOON) // 1_000 + 86_400, False)


def test_a_publisher_that_knows_no_watches_takes_it_for_a_task_that_is_not_there(rig: Rig) -> None:
    """The release before this one gets what this one writes: while it is being replaced, and after a return to it."""
    workspace, task_id = keys.parse_task(keys.watch(WORKSPACE).pk)
    assert workspace == WORKSPACE
    assert rig.store.outbox.heads([(workspace, task_id)]) == {}
    head = to_wire({**keys.head(workspace, task_id)._asdict(), "fresh": 1})
    assert rig.store.outbox.fresh_events([{"dynamodb": {"NewImage": head}}]) == []


def test_what_a_watch_costs_in_calls(rig: Rig) -> None:
    store = rig.store
    assert rig.count(lambda: store.watches.watch(WORKSPACE)) == ["get_item"]
    assert rig.count(lambda: store.watches.ask_for_watch(WORKSPACE, FIRST)) == ["update_item"]
    assert rig.count(lambda: store.watches.note_change(WORKSPACE, NOON)) == ["update_item"]
    assert rig.count(lambda: store.watches.note_brought(WORKSPACE, NOON)) == ["update_item"]
    assert rig.count(lambda: store.watches.of_workspaces([WORKSPACE, "other"])) == ["batch_get_item"]
    assert rig.count(lambda: store.watches.asked_watches([])) == []
