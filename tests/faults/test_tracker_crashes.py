"""A process dies between any two calls to the outside, the store's or the tracker's, while a page is made or sent.
Afterwards, without any help but time: one page per task that shows the task as it is, and each thing said once.

Reading leaves no mark: to die anywhere between two writes is to die after the first of them. One test tries every call
all the same, the others only those that write. ``make test`` tries a part of each, ``make soak`` all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.adapters.notion import NotionTrackers
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import replay
from baton.domain.tracker.page_sync import Sync
from baton.domain.tracker.tracker_settings import TrackerSettings
from baton.ports.deps import Deps
from baton.ports.store import Store
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.services.tracker.sync_tracker import sync_tracker
from fake_notion import Fault, ScriptedFault
from fake_notion.schema import STATUS, STATUS_OPTIONS
from support.clock import NOON, FakeClock
from support.fakes.store import InMemoryStore
from support.faults.choke_point import Crash, Plan, at_call, no_fault
from support.faults.soak import IS_WHOLE, spread
from support.worlds.notion_world import NotionWorld
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent, human, marker_body

WRITES = {"commit", "transact_write_items", "POST", "PATCH"}
# Which part of the points, or of the requests, ``make test`` tries.
EVERY = 3
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


class PluggedIn:
    """A store, or a client of one."""

    def __init__(self, inner: Any, plug: Plug) -> None:
        self._inner, self._plug = inner, plug

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._inner, name)
        return lambda *args, **kwargs: self._plug.call(name, lambda: call(*args, **kwargs))


class PluggedInTransport(httpx.BaseTransport):
    def __init__(self, inner: httpx.BaseTransport, plug: Plug) -> None:
        self._inner, self._plug = inner, plug

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        name = "GET" if request.url.path.endswith("/query") else request.method
        answer: httpx.Response = self._plug.call(name, lambda: self._inner.handle_request(request))
        return answer


class Stage:
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
            store = DynamoStore(Table(PluggedIn(self.rig.raw, self.plug), self.rig.table, self.world.clock.sleep))
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
        return list(self.world.store.tasks_of_day(WORKSPACE, NOON.date(), 10, None).items)

    def pages(self) -> list[Any]:
        return self.notion.pages_of(self.world.tasks.id)

    def task(self) -> Task:
        return self.world.task(self.task_id)

    def comments(self) -> list[str]:
        return [text for page in self.pages() for text in page.comment_texts]


Act = Callable[[Stage], Any]
Promise = Callable[[Stage, str], None]


def check(stage: Stage, where: str) -> None:
    """What holds of every story, once nothing happens any more."""
    tasks, pages = stage.tasks(), stage.pages()
    assert len(pages) == len(tasks), f"{where}: {len(pages)} pages"
    for task, page in zip(tasks, pages, strict=True):
        events = stage.world.store.events(WORKSPACE, task.id, 0, 100)
        told = replay(events)
        assert (told.state, told.fence, told.flags) == (task.state, task.fence, task.flags), where
        assert task.id in page.body, where
        row = stage.world.row(task.id)
        assert row.page is not None, where
        assert (row.page.id, row.status, row.due_at, row.sender) == (page.id, Sync.OK, None, None), f"{where}: {row}"
        assert (row.shown, row.looked, row.unclear) == (row.wanted, row.looks, False), f"{where}: {row}"
        assert row.wanted == task.seq, where
        assert row.is_settled == task.is_ended, where
        assert stage.world.store.page_holders(WORKSPACE, [page.id]) == {page.id: task.id}, where


def shows_its_state(stage: Stage, where: str) -> None:
    for task, page in zip(stage.tasks(), stage.pages(), strict=True):
        assert page.status == SETTINGS.status_for(task.state), where


def survive(
    build: Callable[[], Stage],
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
        stage = build()
        stage.plug.plan = at_call(number, fault)
        where = f"{fault} at call {number}, {calls[number - 1]}, of {calls}"
        with pytest.raises(Crash):
            act(stage)
        stage.survivor()
        if then:
            then(stage)
        stage.world.tracker_queue.notices.clear()
        stage.quiet()
        check(stage, where)
        promise(stage, where)
    return len(points)


# The stories: what was there before, what the process that dies does, and what must come of it


def nothing(_stage: Stage) -> None:
    return None


def mark(stage: Stage) -> None:
    idempotency_key = IdempotencyKey(agent("scout"), "/x", "key-1", "hash-1")
    answer = create_handoff_marker(stage.deps, agent("scout"), marker_body(), idempotency_key)
    assert answer.task_id
    stage.task_id = answer.task_id


def mark_whose_reply_is_lost(stage: Stage) -> None:
    """The page is there, and its maker doesn't know; the outbox has to find it."""
    stage.notion.fault = ScriptedFault(Fault.timeout_after(), method="POST", path="/v1/pages")
    mark(stage)
    stage.world.clock.advance(STEP_SECONDS)
    sync(stage)


def sync(stage: Stage) -> None:
    """Of the task if there is one, and then what that notifies of."""
    sync_tracker(stage.deps, WORKSPACE, stage.task_id or None, lambda: 120.0)
    stage.answer_notices()


def made(stage: Stage) -> None:
    mark(stage)
    stage.world.clock.advance(1)


def claimed(stage: Stage) -> Any:
    made(stage)
    approve_task(stage.deps, human(), stage.task_id, None)
    stage.world.clock.advance(3)
    claim = stage.world.claim(lease_seconds=3_600)
    stage.world.clock.advance(1)
    return claim


def completed(stage: Stage) -> None:
    claim = claimed(stage)
    sync(stage)
    output = {"summary": "The audit found nothing."}
    complete_task(
        stage.deps, WorkerCall(agent("auditor"), stage.task_id, claim.claim_id, "h"), CompletedWork(output=output)
    )


def ended_before_its_page_was_made(stage: Stage) -> None:
    stage.notion.fault = lambda _method, _path: Fault.refused()
    mark(stage)
    cancel_task(stage.deps, human(), stage.task_id, "not needed")
    stage.notion.fault = None
    stage.world.clock.advance(STEP_SECONDS)


def closed_by_a_person(stage: Stage) -> None:
    """In words of their own, which stay."""
    made(stage)
    sync(stage)
    stage.world.clock.advance(660)
    stage.notion.edit(stage.pages()[0].id, status="Closed")
    stage.world.clock.advance(60)


def closed_by_a_person_while_it_changed(stage: Stage) -> None:
    """The page would be written over with what the task was."""
    claimed(stage)
    stage.notion.edit(stage.pages()[0].id, status="Cancelled")


def reopened_by_a_person(stage: Stage) -> None:
    completed(stage)
    sync(stage)
    stage.world.clock.advance(660)
    stage.notion.edit(stage.pages()[0].id, status="In progress")
    stage.world.clock.advance(60)


def at_most_one_task(stage: Stage, where: str) -> None:
    """Whoever got no answer finds the same task when asking again, and no other."""
    assert len(stage.tasks()) <= 1, where
    assert stage.comments() == [], where
    shows_its_state(stage, where)
    stage.world.tracker_queue.notices.clear()
    mark(stage)
    stage.answer_notices()
    assert [task.id for task in stage.tasks()] == [stage.task_id], where
    check(stage, where)


def in_progress(stage: Stage, where: str) -> None:
    assert stage.task().state == "claimed", where
    assert stage.comments() == [], where
    shows_its_state(stage, where)


def done_and_told(stage: Stage, where: str) -> None:
    assert stage.task().state == "done", where
    assert stage.comments() == ["Done by agent auditor in Baton.\nThe audit found nothing."], where
    shows_its_state(stage, where)


def cancelled_and_told(stage: Stage, where: str) -> None:
    assert stage.task().state == "cancelled", where
    assert stage.comments() == ["Cancelled by human alice in Baton.\nnot needed"], where
    shows_its_state(stage, where)


def ended_by_that_person(state: str, status: str) -> Promise:
    def promise(stage: Stage, where: str) -> None:
        trail = stage.world.store.events(WORKSPACE, stage.task_id, 0, 100)
        assert stage.task().state == state, where
        assert trail[-1].principal_id == f"notion:{stage.notion.person}", where
        assert [event.data.get("reason") for event in trail].count(f"set to '{status}' in Notion by Robin Person") == 1
        assert stage.comments() == [], where
        assert [page.status for page in stage.pages()] == [status], where

    return promise


def done_and_told_that_it_stays_so(stage: Stage, where: str) -> None:
    assert stage.task().state == "done", where
    said = stage.comments()
    assert len(said) == 2, f"{where}: {said}"
    assert "stays ended" in said[1], where
    assert [page.status for page in stage.pages()] == ["In progress"], "what a person set stays"


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
    assert survive(lambda: Stage(prepare), act, promise, everywhere=True) > 10


def ring_for_everything(stage: Stage) -> None:
    """At the very moment at which the other one died; what that had asked for may not be found yet."""
    for task in stage.tasks():
        stage.world.tracker_queue.notify(WORKSPACE, task.id)
    stage.answer_notices()


@pytest.mark.parametrize("name", STORIES)
def test_whoever_comes_right_after_a_dead_process_does_nothing_twice(name: str) -> None:
    prepare, act, promise = STORIES[name]
    survive(lambda: Stage(prepare, lag=20), act, promise, then=ring_for_everything)


def test_a_page_that_was_changed_by_a_dead_process_follows_its_task_back() -> None:
    """The row says what the page showed before; nobody but the dead one knew of "In progress"."""

    def claimed_after_a_sync(stage: Stage) -> None:
        made(stage)
        approve_task(stage.deps, human(), stage.task_id, None)
        sync(stage)
        stage.world.clock.advance(3)
        stage.world.claim(lease_seconds=3_600)

    def released(stage: Stage) -> None:
        claim = stage.task().claim
        assert claim is not None
        release_task(stage.deps, WorkerCall(agent("auditor"), stage.task_id, claim.claim_id, "h"), ReleasedWork())

    def not_started(stage: Stage, where: str) -> None:
        assert stage.task().state == "delegated", where
        shows_its_state(stage, where)

    survive(lambda: Stage(claimed_after_a_sync), sync, not_started, then=released)


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("name", SEARCHED)
def test_however_the_page_has_to_be_found(name: str, database: str) -> None:
    prepare, act, promise = STORIES[name]
    survive(lambda: Stage(prepare, **DATABASES[database]), act, promise)


def test_a_page_whose_reply_was_lost_is_found_as_soon_as_the_index_shows_it() -> None:
    stage = Stage(nothing, lag=100)
    stage.notion.fault = ScriptedFault(Fault.timeout_after(), method="POST", path="/v1/pages")
    mark(stage)
    stage.survivor()
    for _ in range(2):
        assert stage.world.row(stage.task_id).page is None
        stage.world.clock.advance(60)
        sweep(stage.deps)
        stage.answer_notices()
    check(stage, "two minutes later")


def test_and_so_it_is_on_dynamodb() -> None:
    """One reply is lost, a page is found again, rows are held, saved and let go: all that the store does for this."""
    prepare, act, promise = STORIES["a marker whose page's reply is lost"]
    survive(lambda: Stage(prepare, Rig()), act, promise)


def test_a_page_whose_comment_failed_is_still_its_tasks() -> None:
    stage = Stage(ended_before_its_page_was_made)
    stage.notion.fault = ScriptedFault(Fault(status=429, retry_after=5), method="POST", path="/v1/comments")
    sync(stage)
    stage.survivor()
    stage.quiet()
    check(stage, "the comment failed once")
    cancelled_and_told(stage, "the comment failed once")


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


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("name", [name for name in STORIES if "reply is lost" not in name])
def test_whichever_request_goes_wrong_once_or_twice_the_end_is_the_same(name: str, trouble: str) -> None:
    """At every third request, but at each by two troubles or more; ``make soak``: at each by each."""
    prepare, act, promise = STORIES[name]
    step = 1 if IS_WHOLE else EVERY
    number, went_wrong = 1 + list(TROUBLES).index(trouble) % step - step, True
    while went_wrong:
        number += step
        for count in (1, 2):
            stage = Stage(prepare)
            stage.notion.fault = nth = Nth(TROUBLES[trouble], number, count)
            act(stage)
            went_wrong = nth.seen >= number
            where = f"{trouble} at request {number}, {count} times"
            stage.survivor()
            stage.quiet()
            check(stage, where)
            promise(stage, where)
    assert number > 1
