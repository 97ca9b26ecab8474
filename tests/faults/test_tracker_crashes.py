"""A process dies between any two calls to the outside, the store's or the tracker's, while a page is made or sent.
Afterwards, without any help but time: one page per task that shows the task as it is, and each thing said once.

Reading leaves no mark: to die anywhere between two writes is to die after the first of them. One test tries every call
all the same, the others only those that write. ``make test`` tries a part of each, ``make soak`` all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import product
from typing import Any

import httpx
import pytest

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.adapters.notion import NotionTrackers
from baton.domain.idempotency import IdempotencyKey
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import replay
from baton.domain.tracker.page_sync import Sync
from baton.ports.deps import Deps
from baton.ports.store import Store
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.services.tracker.sync_tracker import sync_tracker
from support.clock import NOON, FakeClock
from support.fakes.store import InMemoryStore
from support.faults.choke_point import Crash, Plan, at_call, no_fault
from support.faults.soak import IS_WHOLE, crossed, spread
from support.faults.wrapped_store import WrappedStore
from support.worlds.notion_world import NotionWorld
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent, human, marker_body
from tools.stand_ins.fake_notion import Fault, ScriptedFault
from tools.stand_ins.fake_notion.schema import STATUS, STATUS_OPTIONS

WRITES = {"commit", "put_item", "transact_write_items", "POST", "PATCH"}
# Which part of the points, or of the requests, ``make test`` tries.
EVERY = 25
STEP_SECONDS = 120
# Ten minutes until people are listened to again, and some for what that brings.
STEPS = 7
SETTINGS = TrackerSettings()


@dataclass
class Plug:
    """Counts the calls to the outside, and is pulled at one of them."""

    calls: list[str] = field(default_factory=list)
    plan: Plan = no_fault

    def call(self, name: str, act: Callable[[], Any]) -> Any:
        self.calls.append(name)
        fault = self.plan(len(self.calls), name)
        if fault == "crash_before":
            raise Crash(name)
        try:
            return act()
        finally:
            if fault == "crash_after":  # whatever the answer was, nobody hears it
                raise Crash(name)


class PluggedIn(WrappedStore):
    """A store, or a client of one."""

    def __init__(self, inner: Any, plug: Plug) -> None:
        super().__init__(inner)
        self._plug = plug

    def around(self, name: str, call: Any) -> Any:
        return lambda *args, **kwargs: self._plug.call(name, lambda: call(*args, **kwargs))


class PluggedInTransport(httpx.BaseTransport):
    def __init__(self, inner: httpx.BaseTransport, plug: Plug) -> None:
        self._inner, self._plug = inner, plug

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        name = "GET" if request.url.path.endswith("/query") else request.method
        answer: httpx.Response = self._plug.call(name, lambda: self._inner.handle_request(request))
        return answer


class TrackerProcesses:
    """The same story up to one moment, on a store and a stand-in of its own; then one process that may die, and
    others that come after it and see no faults."""

    def __init__(self, prepare: Act, rig: Rig | None = None, *, lag: int = 0, with_task_id: bool = True) -> None:
        self.rig, self.plug = rig, Plug()
        store: Store = rig.store if rig else InMemoryStore()
        properties: dict[str, Any] = {"Name": {"type": "title"}, "Status": {"type": STATUS, "options": STATUS_OPTIONS}}
        if with_task_id:
            properties["Task ID"] = {"type": "rich_text"}
        self.world = NotionWorld(store=store, clock=rig.clock if rig else FakeClock(), properties=properties)
        self.world.settle()
        self.notion = self.world.notion
        self.notion.index_lag = timedelta(seconds=lag)
        self.deps = self.process()
        self.task_id = ""
        prepare(self)
        self.world.tracker_queue.notices.clear()
        self.deps = self.mortal()

    # Processes: each begins with nothing in its memory.

    def process(self, store: Store | None = None, transport: httpx.BaseTransport | None = None) -> Deps:
        trackers = NotionTrackers(
            self.world.deps.secrets,
            "https://notion.example",
            clock=self.world.clock,
            transport=transport or self.notion.transport(),
            monotonic=lambda: self.world.clock.time.timestamp(),
        )
        return replace(self.world.deps, store=store or self.world.store, trackers=trackers)

    def mortal(self) -> Deps:
        store: Any = PluggedIn(self.world.store, self.plug)
        if self.rig:
            store = DynamoStore(Table(PluggedIn(self.rig.raw, self.plug), self.rig.table, Patience(self.world.clock)))
        return self.process(store, PluggedInTransport(self.notion.transport(), self.plug))

    def survivor(self) -> None:
        self.plug.plan = no_fault
        self.notion.fault = None
        self.deps = self.process()

    # Time

    def answer_notices(self) -> None:
        for _ in range(20):
            notices, self.world.tracker_queue.notices[:] = list(self.world.tracker_queue.notices), []
            for workspace, task_id, _delay in notices:
                sync_tracker(self.deps, workspace, task_id, lambda: 120.0)
            if not notices:
                return
        raise AssertionError("the notices never end")

    def quiet(self) -> None:
        for _ in range(STEPS):
            self.world.clock.advance(STEP_SECONDS)
            assert sweep(self.deps).failed == 0
            self.answer_notices()

    # What is there

    def tasks(self) -> list[Task]:
        return list(self.world.store.lists.tasks_of_day(WORKSPACE, NOON.date(), 10, None).items)

    def pages(self) -> list[Any]:
        return self.notion.pages_of(self.world.tasks.id)

    def task(self) -> Task:
        return self.world.task(self.task_id)

    def comments(self) -> list[str]:
        return [text for page in self.pages() for text in page.comment_texts]


Act = Callable[[TrackerProcesses], Any]
Promise = Callable[[TrackerProcesses, str], None]


def check(processes: TrackerProcesses, where: str) -> None:
    """What holds of every story, once nothing happens any more."""
    tasks, pages = processes.tasks(), processes.pages()
    assert len(pages) == len(tasks), f"{where}: {len(pages)} pages"
    for task, page in zip(tasks, pages, strict=True):
        events = processes.world.store.trail.events(WORKSPACE, task.id, 0, 100)
        told = replay(events)
        assert (told.state, told.fence, told.flags) == (task.state, task.fence, task.flags), where
        assert task.id in page.body, where
        row = processes.world.row(task.id)
        assert row.page is not None, where
        assert (row.page.id, row.status, row.due_at, row.sender) == (page.id, Sync.OK, None, None), f"{where}: {row}"
        assert (row.shown, row.looked, row.unclear) == (row.wanted, row.looks, False), f"{where}: {row}"
        assert row.wanted == task.meta.seq, where
        assert row.is_settled == task.is_ended, where
        assert processes.world.store.tracker.page_holders(WORKSPACE, [page.id]) == {page.id: task.id}, where


def shows_its_state(processes: TrackerProcesses, where: str) -> None:
    for task, page in zip(processes.tasks(), processes.pages(), strict=True):
        assert page.status == SETTINGS.status_for(task.state), where


def survive(
    build: Callable[[], TrackerProcesses],
    act: Act,
    promise: Promise,
    *,
    then: Act | None = None,
    everywhere: bool = False,
) -> int:
    """Dies at points of ``act``, does what comes ``then``, and goes on. Notices that were sent before are lost, unless
    they are answered ``then``. Answers how many points there were."""
    first = build()
    act(first)
    calls = list(first.plug.calls)
    points = [(number, "crash_after") for number, operation in enumerate(calls, 1) if operation in WRITES]
    if everywhere:
        points += [(number, "crash_before") for number in range(1, len(calls) + 1)]
    first.survivor()
    if then:
        then(first)
    first.quiet()
    check(first, "undisturbed")
    promise(first, "undisturbed")
    for number, fault in spread(points, EVERY):
        processes = build()
        processes.plug.plan = at_call(number, fault)
        where = f"{fault} at call {number}, {calls[number - 1]}, of {calls}"
        with pytest.raises(Crash):
            act(processes)
        processes.survivor()
        if then:
            then(processes)
        processes.world.tracker_queue.notices.clear()
        processes.quiet()
        check(processes, where)
        promise(processes, where)
    return len(points)


# The stories: what was there before, what the process that dies does, and what must come of it


def nothing(_stage: TrackerProcesses) -> None:
    return None


def mark(processes: TrackerProcesses) -> None:
    idempotency_key = IdempotencyKey(agent("scout"), "/x", "key-1", "hash-1")
    answer = create_handoff_marker(processes.deps, agent("scout"), marker_body(), idempotency_key)
    assert answer.task_id
    processes.task_id = answer.task_id


def mark_whose_reply_is_lost(processes: TrackerProcesses) -> None:
    """The page is there, and its maker doesn't know; the outbox has to find it."""
    processes.notion.fault = ScriptedFault(Fault.timeout_after(), method="POST", path="/v1/pages")
    mark(processes)
    processes.world.clock.advance(STEP_SECONDS)
    sync(processes)


def sync(processes: TrackerProcesses) -> None:
    """Of the task if there is one, and then what that notifies of."""
    sync_tracker(processes.deps, WORKSPACE, processes.task_id or None, lambda: 120.0)
    processes.answer_notices()


def made(processes: TrackerProcesses) -> None:
    mark(processes)
    processes.world.clock.advance(1)


def claimed(processes: TrackerProcesses) -> Any:
    made(processes)
    approve_task(processes.deps, human(), processes.task_id, None)
    processes.world.clock.advance(3)
    claim = processes.world.claim(lease_seconds=3_600)
    processes.world.clock.advance(1)
    return claim


def completed(processes: TrackerProcesses) -> None:
    claim = claimed(processes)
    sync(processes)
    output = {"summary": "The audit found nothing."}
    complete_task(
        processes.deps,
        WorkerCall(agent("auditor"), processes.task_id, claim.claim_id, "h"),
        CompletedWork(output=output),
    )


def ended_before_its_page_was_made(processes: TrackerProcesses) -> None:
    processes.notion.fault = lambda _method, _path: Fault.refused()
    mark(processes)
    cancel_task(processes.deps, human(), processes.task_id, "not needed")
    processes.notion.fault = None
    processes.world.clock.advance(STEP_SECONDS)


def closed_by_a_person(processes: TrackerProcesses) -> None:
    """In words of their own, which stay."""
    made(processes)
    sync(processes)
    processes.world.clock.advance(660)
    processes.notion.edit(processes.pages()[0].id, status="Closed")
    processes.world.clock.advance(60)


def closed_by_a_person_while_it_changed(processes: TrackerProcesses) -> None:
    """The page would be written over with what the task was."""
    claimed(processes)
    processes.notion.edit(processes.pages()[0].id, status="Cancelled")


def reopened_by_a_person(processes: TrackerProcesses) -> None:
    completed(processes)
    sync(processes)
    processes.world.clock.advance(660)
    processes.notion.edit(processes.pages()[0].id, status="In progress")
    processes.world.clock.advance(60)


def at_most_one_task(processes: TrackerProcesses, where: str) -> None:
    """Whoever got no answer finds the same task when asking again, and no other."""
    assert len(processes.tasks()) <= 1, where
    assert processes.comments() == [], where
    shows_its_state(processes, where)
    processes.world.tracker_queue.notices.clear()
    mark(processes)
    processes.answer_notices()
    assert [task.id for task in processes.tasks()] == [processes.task_id], where
    check(processes, where)


def in_progress(processes: TrackerProcesses, where: str) -> None:
    assert processes.task().state == "claimed", where
    assert processes.comments() == [], where
    shows_its_state(processes, where)


def done_and_told(processes: TrackerProcesses, where: str) -> None:
    assert processes.task().state == "done", where
    assert processes.comments() == ["Done by agent auditor in Baton.\n> The audit found nothing."], where
    shows_its_state(processes, where)


def cancelled_and_told(processes: TrackerProcesses, where: str) -> None:
    assert processes.task().state == "cancelled", where
    assert processes.comments() == ["Cancelled by human alice in Baton.\n> not needed"], where
    shows_its_state(processes, where)


def ended_by_that_person(state: str, status: str) -> Promise:
    def promise(processes: TrackerProcesses, where: str) -> None:
        trail = processes.world.store.trail.events(WORKSPACE, processes.task_id, 0, 100)
        assert processes.task().state == state, where
        assert trail[-1].principal_id == f"notion:{processes.notion.person}", where
        assert [event.data.get("reason") for event in trail].count(f"set to '{status}' in Notion by Robin Person") == 1
        assert processes.comments() == [], where
        assert [page.status for page in processes.pages()] == [status], where

    return promise


def done_and_told_that_it_stays_so(processes: TrackerProcesses, where: str) -> None:
    assert processes.task().state == "done", where
    said = processes.comments()
    assert len(said) == 2, f"{where}: {said}"
    assert "stays ended" in said[1], where
    assert [page.status for page in processes.pages()] == ["In progress"], "what a person set stays"


STORIES: dict[str, tuple[Act, Act, Promise]] = {
    "a marker": (nothing, mark, at_most_one_task),
    "a marker whose page's reply is lost": (nothing, mark_whose_reply_is_lost, at_most_one_task),
    "a changed task": (claimed, sync, in_progress),
    "an ended task": (completed, sync, done_and_told),
    "a task that ended before its page was made": (ended_before_its_page_was_made, sync, cancelled_and_told),
    "a page that a person has closed": (closed_by_a_person, sync, ended_by_that_person("done", "Closed")),
    "a page that a person has closed while its task changed": (
        closed_by_a_person_while_it_changed,
        sync,
        ended_by_that_person("cancelled", "Cancelled"),
    ),
    "a page that a person has reopened": (reopened_by_a_person, sync, done_and_told_that_it_stays_so),
}
DATABASES: dict[str, dict[str, Any]] = {
    "an index that lags": {"lag": 20},
    "an index that lags for minutes": {"lag": 170},
    "no property for the task's id": {"with_task_id": False},
    "no such property, and a lagging index": {"with_task_id": False, "lag": 20},
}
# Where a page is looked for; elsewhere it is known, and neither its property nor the index plays a part.
SEARCHED = ["a marker", "a marker whose page's reply is lost", "a task that ended before its page was made"]


@pytest.mark.parametrize("name", STORIES)
def test_a_process_that_dies_anywhere_leaves_one_page_and_each_word_once(name: str) -> None:
    prepare, act, promise = STORIES[name]
    assert survive(lambda: TrackerProcesses(prepare), act, promise, everywhere=True) > 10


def ring_for_everything(processes: TrackerProcesses) -> None:
    """At the very moment at which the other one died; what that had asked for may not be found yet."""
    for task in processes.tasks():
        processes.world.tracker_queue.notify(WORKSPACE, task.id)
    processes.answer_notices()


@pytest.mark.parametrize("name", STORIES)
def test_whoever_comes_right_after_a_dead_process_does_nothing_twice(name: str) -> None:
    prepare, act, promise = STORIES[name]
    survive(lambda: TrackerProcesses(prepare, lag=20), act, promise, then=ring_for_everything)


def test_a_page_that_was_changed_by_a_dead_process_follows_its_task_back() -> None:
    """The row says what the page showed before; nobody but the dead one knew of "In progress"."""

    def claimed_after_a_sync(processes: TrackerProcesses) -> None:
        made(processes)
        approve_task(processes.deps, human(), processes.task_id, None)
        sync(processes)
        processes.world.clock.advance(3)
        processes.world.claim(lease_seconds=3_600)

    def released(processes: TrackerProcesses) -> None:
        claim = processes.task().claim
        assert claim is not None
        release_task(
            processes.deps, WorkerCall(agent("auditor"), processes.task_id, claim.claim_id, "h"), ReleasedWork()
        )

    def not_started(processes: TrackerProcesses, where: str) -> None:
        assert processes.task().state == "delegated", where
        shows_its_state(processes, where)

    survive(lambda: TrackerProcesses(claimed_after_a_sync), sync, not_started, then=released)


@pytest.mark.parametrize(("name", "database"), crossed(SEARCHED, list(DATABASES)))
def test_however_the_page_has_to_be_found(name: str, database: str) -> None:
    prepare, act, promise = STORIES[name]
    survive(lambda: TrackerProcesses(prepare, **DATABASES[database]), act, promise)


def test_a_page_whose_reply_was_lost_is_found_as_soon_as_the_index_shows_it() -> None:
    processes = TrackerProcesses(nothing, lag=100)
    processes.notion.fault = ScriptedFault(Fault.timeout_after(), method="POST", path="/v1/pages")
    mark(processes)
    processes.survivor()
    for _ in range(2):
        assert processes.world.row(processes.task_id).page is None
        processes.world.clock.advance(60)
        sweep(processes.deps)
        processes.answer_notices()
    check(processes, "two minutes later")


def test_and_so_it_is_on_dynamodb() -> None:
    """One reply is lost, a page is found again, rows are held, saved and let go: all that the store does for this."""
    prepare, act, promise = STORIES["a marker whose page's reply is lost"]
    survive(lambda: TrackerProcesses(prepare, Rig()), act, promise)


def test_a_page_whose_comment_failed_is_still_its_tasks() -> None:
    processes = TrackerProcesses(ended_before_its_page_was_made)
    processes.notion.fault = ScriptedFault(Fault(status=429, retry_after=5), method="POST", path="/v1/comments")
    sync(processes)
    processes.survivor()
    processes.quiet()
    check(processes, "the comment failed once")
    cancelled_and_told(processes, "the comment failed once")


TROUBLES: dict[str, Fault] = {
    "a throttle": Fault(status=429, retry_after=5),
    "an error": Fault(status=500),
    "an error after the effect": Fault(status=500, applied=True),
    "no reply": Fault.timeout_before(),
    "no reply after the effect": Fault.timeout_after(),
    "no connection": Fault.refused(),
    "a refused token": Fault(status=401, code="unauthorized"),
}


@dataclass
class Nth:
    """The n-th request and the ``count - 1`` after it go wrong."""

    fault: Fault
    number: int
    count: int
    seen: int = 0

    def __call__(self, _method: str, _path: str) -> Fault | None:
        self.seen += 1
        return self.fault if self.number <= self.seen < self.number + self.count else None


TROUBLED = [name for name in STORIES if "reply is lost" not in name]


@pytest.mark.parametrize("name", TROUBLED)
def test_whichever_request_goes_wrong_once_or_twice_the_end_is_the_same(name: str) -> None:
    """At every second request, by one trouble after the other; ``make soak``: at each by each, once and twice."""
    begun = TrackerProcesses(STORIES[name][0])
    begun.notion.fault = counted = Nth(TROUBLES["an error"], 0, 0)
    STORIES[name][1](begun)
    requests = range(1, counted.seen + 1)
    if IS_WHOLE:
        for number, trouble, count in product(requests, TROUBLES, (1, 2)):
            goes_wrong(name, trouble, number, count)
        return
    turn = TROUBLED.index(name)
    for number in spread(requests, 2):
        turn += 1
        goes_wrong(name, list(TROUBLES)[turn % len(TROUBLES)], number, 1 + turn % 2)


def goes_wrong(name: str, trouble: str, number: int, count: int) -> None:
    prepare, act, promise = STORIES[name]
    where = f"{trouble} at request {number}, {count} times"
    processes = TrackerProcesses(prepare)
    processes.notion.fault = nth = Nth(TROUBLES[trouble], number, count)
    act(processes)
    assert nth.seen >= number, where
    processes.survivor()
    processes.quiet()
    check(processes, where)
    promise(processes, where)
