"""A run takes its task's transcript: from then on no earlier run adds to it, and before that the next one reads what it
added."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from botocore.exceptions import ClientError

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain.errors import Busy, Conflict, StaleClaim, TooLarge
from baton.domain.runs.transcript import EntryKind, MessageType, TaskEntry, TranscriptEntry, TranscriptMessage
from baton.domain.task_state import State
from baton.ports.store import Store
from baton.ports.writes import Insert
from support.fakes.store import TABLE
from support.faults.soak import spread
from support.values.changes import claimed, then
from support.values.runs import an_entry
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE

TASK = "task_1"


def long_entry(first: int, says: str, messages: int) -> TranscriptEntry:
    more = tuple(TranscriptMessage(MessageType.STATUS, f"{number}") for number in range(messages - 1))
    return replace(an_entry(first, says), more_messages=more)


def ask(store: Store) -> None:
    store.commit(WORKSPACE, Insert(TaskEntry(TASK, an_entry(1, "go", kind=EntryKind.ASK))))


class Run:
    """One run of the task, which knows the transcript as it took it and as it went on. Its entries have as many
    messages as its fence: two runs' entries at one place never end alike."""

    def __init__(self, store: Store, fence: int) -> None:
        self.store, self.fence = store, fence
        self.known: list[TranscriptEntry] = []
        self.is_over = False

    def take(self) -> None:
        self._unless_over(lambda: self.known.extend(self.store.runs.take_transcript(WORKSPACE, TASK, self.fence)))

    def add(self) -> None:
        first = self.known[-1].last + 1 if self.known else 1
        entry = long_entry(first, f"{self.fence} at {first}", self.fence)

        def keep() -> None:
            self.store.runs.keep_entry(WORKSPACE, TaskEntry(TASK, entry, self.fence))
            self.known.append(entry)

        self._unless_over(keep)

    def _unless_over(self, step: Callable[[], None]) -> None:
        if not self.is_over:
            try:
                step()
            except StaleClaim:
                self.is_over = True


def orders(*lengths: int) -> Iterator[list[int]]:
    """Every order in which so many runs can do so many steps each."""
    if len(lengths) == 1:
        yield [0] * lengths[0]
        return
    total = sum(lengths)
    for places in combinations(range(total), lengths[-1]):
        for rest in orders(*lengths[:-1]):
            others = iter(rest)
            yield [len(lengths) - 1 if at in places else next(others) for at in range(total)]


def play(store: Store, fences: tuple[int, ...], order: list[int]) -> list[Run]:
    ask(store)
    runs = [Run(store, fence) for fence in fences]
    todo = [iter((run.take, run.add, run.add)) for run in runs]
    for number in order:
        next(todo[number])()
    return runs


def check(store: Store, runs: list[Run], where: object) -> None:
    found = list(store.runs.transcript(WORKSPACE, TASK))
    numbers = [number for entry in found for number in range(entry.first, entry.last + 1)]
    assert numbers == list(range(1, len(numbers) + 1)), where
    for run in runs:
        assert found[: len(run.known)] == run.known, f"{where}: run {run.fence} built on what isn't there"
    last = max(runs, key=lambda run: run.fence)
    assert not last.is_over, where
    assert found == last.known, f"{where}: somebody added to what the last run has taken"


@pytest.mark.parametrize("fences", [(1, 2), (2, 3), (1, 3)])
def test_a_run_and_the_next_one_in_any_order_of_their_steps(fences: tuple[int, ...]) -> None:
    for order in orders(3, 3):
        rig = Rig()
        check(rig.other_store, play(rig.other_store, fences, order), order)


def test_three_runs_in_any_order_of_their_steps() -> None:
    for order in spread(list(orders(3, 3, 3)), 11):
        rig = Rig()
        check(rig.other_store, play(rig.other_store, (1, 2, 3), order), order)


class Slow:
    """Keeps the requests that change a transcript, so that they can arrive again."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.sent: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> Any:
            if name in {"put_item", "update_item"}:
                self.sent.append((name, request))
            return getattr(self.raw, name)(**request)

        return call


def test_nothing_that_arrives_again_changes_a_transcript_however_late() -> None:
    for order in orders(3, 3):
        rig = Rig()
        wire = Slow(rig.raw)
        store = DynamoStore(Table(wire, TABLE, Patience(rig.clock)))
        play(store, (1, 2), order)
        before = rig.other_store.runs.transcript(WORKSPACE, TASK)
        for name, request in wire.sent:
            with suppress(ClientError):
                getattr(rig.raw, name)(**request)
        assert rig.other_store.runs.transcript(WORKSPACE, TASK) == before, order


@pytest.mark.parametrize("kept", [0, 1])
def test_an_entry_that_first_arrives_once_the_next_run_has_the_transcript_is_refused(rig: Rig, kept: int) -> None:
    """Its sender heard nothing and gave up; the next run may have added its own by then, or only taken it."""
    ask(rig.store)
    first, second = Run(rig.store, 1), Run(rig.other_store, 2)
    first.take()
    rig.choked.plan = lambda *_: "timeout_before"
    with pytest.raises(Busy):
        first.add()
    rig.choked.plan = lambda *_: None
    second.take()
    for _ in range(kept):
        second.add()
    first.add()
    assert first.is_over
    check(rig.other_store, [first, second], kept)


@pytest.mark.parametrize("fault", ["timeout_after", "error_after", "timeout_before", "throttle"])
@pytest.mark.parametrize("step", range(1, 8))
def test_a_lost_reply_is_not_noticed(rig: Rig, fault: str, step: int) -> None:
    ask(rig.store)
    first, second = Run(rig.store, 1), Run(rig.store, 2)
    at = len(rig.choked.calls) + step
    rig.choked.plan = lambda number, _op: fault if number == at else None
    for act in (first.take, first.add, second.take, second.add, second.add):
        act()
    check(rig.other_store, [first, second], step)
    assert [entry.last for entry in second.known] == [1, 2, 4, 6]


def test_a_run_that_dies_at_once_leaves_nothing_to_read(store: Store) -> None:
    ask(store)
    for fence in (2, 3, 5):
        assert store.runs.take_transcript(WORKSPACE, TASK, fence) == (an_entry(1, "go", kind=EntryKind.ASK),)
        assert store.runs.transcript(WORKSPACE, TASK) == store.runs.take_transcript(WORKSPACE, TASK, fence)
        assert store.runs.transcript(WORKSPACE, TASK, 1) == store.runs.transcript(WORKSPACE, TASK, 9) == ()


def test_an_earlier_run_cannot_take_the_transcript_back(store: Store) -> None:
    ask(store)
    store.runs.take_transcript(WORKSPACE, TASK, 3)
    for fence in (1, 2):
        with pytest.raises(StaleClaim):
            store.runs.take_transcript(WORKSPACE, TASK, fence)
    run = Run(store, 3)
    run.take()
    run.add()
    with pytest.raises(StaleClaim):
        store.runs.take_transcript(WORKSPACE, TASK, 2)


def test_the_first_run_seals_nothing(rig: Rig) -> None:
    assert rig.count(lambda: rig.store.runs.take_transcript(WORKSPACE, TASK, 1)) == ["query"]
    assert rig.count(lambda: rig.store.runs.take_transcript(WORKSPACE, TASK, 2)) == ["query", "update_item"]
    assert rig.count(lambda: rig.store.runs.keep_entry(WORKSPACE, TaskEntry(TASK, an_entry(), 2))) == ["put_item"]


def test_an_entry_that_goes_along_with_the_tasks_change_is_held_to_the_same(store: Store) -> None:
    task = claimed(store)
    store.runs.take_transcript(WORKSPACE, TASK, 2)
    done = then(task, state=State.DONE, claim=None)
    for fence in (1, 3, None):
        with pytest.raises(Conflict):
            store.commit(WORKSPACE, done, Insert(TaskEntry(TASK, an_entry(), fence)))
    store.commit(WORKSPACE, done, Insert(TaskEntry(TASK, an_entry(), 2)))
    assert store.runs.transcript(WORKSPACE, TASK) == (an_entry(),)


def test_an_entry_that_is_too_large_says_so(store: Store) -> None:
    with pytest.raises(TooLarge):
        store.runs.keep_entry(WORKSPACE, TaskEntry(TASK, an_entry(says="x" * 420_000), 1))


def test_an_earlier_run_that_never_stops_is_not_waited_for(rig: Rig) -> None:
    ask(rig.store)
    first = Run(rig.other_store, 1)
    first.take()

    def plan(_number: int, operation: str) -> None:
        if operation == "update_item":
            first.add()

    rig.choked.plan = plan
    with pytest.raises(Busy):
        rig.store.runs.take_transcript(WORKSPACE, TASK, 2)


def test_entries_of_any_length_are_read_the_same_however_long_the_transcript(rig: Rig) -> None:
    run = Run(rig.store, 3)
    run.take()
    for _ in range(300):
        run.add()
    assert rig.count(lambda: rig.store.runs.transcript(WORKSPACE, TASK, 897)) == ["query"]
    for after in (897, 898, 899):
        assert rig.store.runs.transcript(WORKSPACE, TASK, after) == tuple(run.known[-1:])
    assert rig.store.runs.transcript(WORKSPACE, TASK, 900) == ()


@pytest.mark.parametrize("after", range(8))
def test_whoever_takes_it_may_have_read_a_part(rig: Rig, after: int) -> None:
    """As the reader of an ended task, whose next run never comes: the first reading writes, the others don't."""
    ask(rig.store)
    first = Run(rig.store, 3)
    for act in (first.take, first.add, first.add):
        act()
    expected = tuple(entry for entry in first.known if entry.last > after)
    assert rig.store.runs.take_transcript(WORKSPACE, TASK, 4, after) == expected
    assert "update_item" not in rig.count(lambda: rig.store.runs.take_transcript(WORKSPACE, TASK, 4, after))
    assert rig.store.runs.take_transcript(WORKSPACE, TASK, 4, after) == expected
    first.add()
    assert first.is_over
    assert rig.store.runs.transcript(WORKSPACE, TASK) == tuple(first.known)
