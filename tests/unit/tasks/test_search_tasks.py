"""Searching the tasks of all days: backwards, bounded, and never silently at an end (docs/spec/protocol.md §7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.ids import handoff_id_of, sortable_id
from baton.domain.priority import Priority
from baton.domain.task_state import State
from baton.domain.tasks.task import Kind
from baton.domain.tasks.task_search import TaskSearch
from baton.domain.tracker.page_sync import PageLink
from baton.ports.writes import Insert
from baton.services.tasks.search_tasks import (
    MAX_UNITS,
    MOST_TIME,
    UNITS_OF_A_PAGE,
    FoundTasks,
    search_tasks,
)
from support.clock import NOON, FakeClock
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import STILL, TABLE, InMemoryStore
from support.values.changes import new, with_body
from support.values.records import PAGE_ID, a_note, a_token
from support.worlds.world import WORKSPACE, World, agent, human, service
from tools.bench.meter import Meter

# By day, and by lists of all days.
SOME: tuple[dict[str, Any], ...] = ({}, {"agent": "auditor"}, {"label": "a"})
BEGAN = datetime(2026, 11, 10, 9, 30, tzinfo=UTC)


class Desk:
    """A workspace that began eight days ago, and a person who searches it."""

    def __init__(self, world: World | None = None) -> None:
        self.world = world or World()
        self._count = 0
        self.began(BEGAN)

    def began(self, at: datetime) -> None:
        """As if its first token had been made then."""
        token = replace(a_token(0), id=f"0_{at:%Y%m%d}", created_at=at)
        self.world.store.tokens.add_token(token)

    def add(self, title: str = "A task", *, days_ago: float = 0, **values: Any) -> str:
        self._count += 1
        at = NOON - timedelta(days=days_ago, seconds=-self._count)
        id_ = sortable_id("task", at, self._count.to_bytes(10))
        values = {"handoff_id": handoff_id_of(id_), **values}
        change = new(id_, title=title, created_at=at, **values)
        self.world.store.commit(WORKSPACE, with_body(change, {}))
        return id_

    def search(
        self, *words: str, by: Principal | None = None, limit: int = 25, cursor: str | None = None, **asked: Any
    ) -> FoundTasks:
        return search_tasks(self.world.deps, by or human(), TaskSearch(words=words, **asked), limit, cursor)

    def found(self, *words: str, by: Principal | None = None, limit: int = 25, **asked: Any) -> list[str]:
        """Of all pages, each of which goes on where the one before ended."""
        ids, cursor, before = [], None, None
        while True:
            page = self.search(*words, by=by, limit=limit, cursor=cursor, **asked)
            assert before is None or page.searched_to <= before
            ids += [each.task.id for each in page.page.items]
            cursor, before = page.page.cursor, page.searched_to
            if cursor is None:
                return ids


def a_process(meter: Meter) -> World:
    return World(store=DynamoStore(Table(meter, TABLE, Patience(STILL))))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_words_are_found_in_any_case_over_all_days_newest_first(desk: Desk) -> None:
    old = desk.add("Refund of ORDER 88010", days_ago=7)
    desk.add("Refund of order 1", days_ago=1)
    now = desk.add("order 88010: asked again")
    assert desk.found("Order", "88010") == [now, old]
    assert desk.found("STRASSE") == []
    street = desk.add("The straße is closed")
    assert desk.found("STRASSE") == [street]


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("auditor", {}),
        ("scout", {}),
        ("human:alice", {"created_by": "human:alice"}),
        ("team=blue", {"labels": ("team=blue",)}),
        ("BLUE", {"labels": ("team=blue",)}),
        ("audit-work", {"work_type": "audit-work"}),
        ("wf_own", {"workflow_id": "wf_own"}),
        ("late-taker", {"target_agent": None, "takers": ("late-taker",)}),
    ],
)
def test_each_text_that_a_list_reads_is_searched(desk: Desk, word: str, values: dict[str, Any]) -> None:
    task_id = desk.add("xyz", **values)
    assert task_id in desk.found(word)
    assert desk.found(word, "unheard") == []


def test_a_tasks_own_ids_are_words_too(desk: Desk) -> None:
    task_id = desk.add(days_ago=3)
    desk.add()
    assert desk.found(task_id) == [task_id]
    assert desk.found(task_id.replace("task_", "ho_")) == [task_id]


@pytest.mark.parametrize(
    ("asked", "fits", "doesnt"),
    [
        ({"asked_by": "builder"}, {"source_agent": "builder"}, {}),
        ({"asked_by": "human:bob"}, {"created_by": "human:bob"}, {}),
        ({"kinds": frozenset({Kind.RETRY})}, {"kind": Kind.RETRY}, {}),
        ({"priorities": frozenset({Priority.P0})}, {"priority": Priority.P0}, {"priority": Priority.P2}),
        ({"states": frozenset({State.NEEDS})}, {}, {"state": State.DELEGATED, "ready_at": NOON}),
        ({"agent": "builder"}, {"target_agent": "builder"}, {}),
        ({"label": "Team=Blue"}, {"labels": ("a", "team=blue")}, {"labels": ("team=red",)}),
        ({"label": "a", "agent": "builder"}, {"labels": ("a",), "target_agent": "builder"}, {"labels": ("a",)}),
        ({"since": NOON - timedelta(days=2)}, {"days_ago": 2}, {"days_ago": 3}),
    ],
)
def test_each_filter_leaves_out_what_doesnt_fit(
    desk: Desk, asked: dict[str, Any], fits: dict[str, Any], doesnt: dict[str, Any]
) -> None:
    desk.add(**doesnt)
    wanted = desk.add(**fits)
    desk.add(**doesnt)
    assert desk.found(**asked) == [wanted]
    assert desk.found("unheard", **asked) == []


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
@pytest.mark.parametrize("asked", SOME)
def test_pages_together_are_the_whole_whatever_their_size(desk: Desk, asked: dict[str, Any], limit: int) -> None:
    titles = ["a hit" if n % 3 else "a miss" for n in range(7)]
    ids = {desk.add(title, days_ago=days, labels=("a",)): title for days in (5, 2, 0) for title in titles}
    hits = [each for each, title in ids.items() if title == "a hit"]
    assert desk.found("HIT", limit=limit, **asked) == hits[::-1]


def test_the_end_is_said_only_at_the_workspaces_beginning_and_the_frontier_is_it(desk: Desk) -> None:
    desk.add(days_ago=8)
    page = desk.search("unheard")
    assert (page.page.items, page.page.cursor, page.searched_to) == ((), None, BEGAN)


def test_the_end_is_where_the_search_was_told_to_end(desk: Desk) -> None:
    since = NOON - timedelta(days=2)
    for asked in SOME[:2]:
        page = desk.search("unheard", since=since, **asked)
        assert (page.page.cursor, page.searched_to) == (None, since)
    assert desk.search("unheard", since=BEGAN - timedelta(days=900)).searched_to == BEGAN


def test_a_page_cut_at_its_limit_says_the_last_ones_time_and_goes_on_after_it(desk: Desk) -> None:
    desk.add("older")
    last = desk.add("hit")
    desk.add("hit")
    page = desk.search("hit", limit=2)
    assert page.page.items[-1].task.id == last
    assert page.page.cursor is not None
    assert page.searched_to == page.page.items[-1].task.created_at


def test_a_task_of_a_clock_that_is_ahead_is_found_before_midnight(desk: Desk) -> None:
    desk.world.clock.advance(12 * 3_600 - 60)
    tomorrow = desk.add(days_ago=-0.5)
    assert desk.found() == [tomorrow]


def test_a_request_spends_a_bounded_number_of_read_units_and_says_how_far_it_got() -> None:
    meter = Meter(FakeDynamo())
    desk = Desk(a_process(meter))
    desk.add("the oldest", days_ago=2)
    ids = [desk.add("a title that says what somebody asks for") for _ in range(MAX_UNITS)]
    desk.world = a_process(meter)  # one that keeps nothing yet
    meter.taken()
    page = desk.search("oldest")
    spent = meter.taken().read_units
    assert page.page.items == ()
    assert page.page.cursor is not None
    assert 0.9 * MAX_UNITS < spent <= MAX_UNITS + 100
    assert NOON < page.searched_to < NOON + timedelta(seconds=len(ids))
    meter.taken()
    assert [each.task.title for each in desk.search("oldest", cursor=page.page.cursor).page.items] == ["the oldest"]
    assert meter.taken().read_units < MAX_UNITS


def test_empty_days_are_bounded_too(desk: Desk) -> None:
    desk.began(NOON - timedelta(days=900))
    page = desk.search("unheard")
    days = MAX_UNITS // UNITS_OF_A_PAGE
    assert page.page.cursor is not None
    assert page.searched_to.date() == NOON.date() - timedelta(days=days - 1)
    assert desk.found("unheard") == []


class Slow(FakeClock):
    """Each look at the time finds it later."""

    def now(self) -> datetime:
        self.advance(milliseconds=200)
        return super().now()


def test_a_request_ends_in_time_with_its_frontier_and_always_gets_further() -> None:
    clock = Slow()
    desk = Desk(World(clock=clock))
    desk.began(NOON - timedelta(days=90))
    before, first = clock.time, desk.search("unheard")
    assert first.page.cursor is not None
    assert clock.time - before <= MOST_TIME + timedelta(seconds=1)
    clock.advance(-5)
    assert desk.search("unheard", cursor=first.page.cursor).searched_to < first.searched_to


def test_nobody_finds_what_they_may_not_read(desk: Desk) -> None:
    own = desk.add("the same words", source_agent="builder", created_by="agent:builder", labels=("a",))
    desk.add("the same words", created_by="agent:scout", labels=("a",))
    for asked in SOME:
        assert desk.found("same", by=agent("builder"), **asked) == [own]
        assert len(desk.found("same", by=agent("auditor"), **asked)) == 2, "it is for this one"
        assert len(desk.found("same", by=human(), **asked)) == 2
        assert desk.found("same", by=service(act_as=False), **asked) == []
        assert desk.found("same", by=human("other"), **asked) == []


@pytest.mark.parametrize("cursor", ["today#", "2026-13-40#task_1"])
def test_a_cursor_that_wasnt_given_out_is_refused(desk: Desk, cursor: str) -> None:
    with pytest.raises(errors.InvalidInput, match="cursor"):
        desk.search(cursor=cursor)


def test_a_label_is_found_by_key_however_many_days_lie_between() -> None:
    meter = Meter(FakeDynamo())
    desk = Desk(a_process(meter))
    old = desk.add(days_ago=300, labels=("order=88010",))
    meter.taken()
    assert desk.found(label="ORDER=88010") == [old]
    assert meter.taken().read_units <= 3


def test_a_label_costs_one_write_unit_and_a_task_without_labels_nothing() -> None:
    meter = Meter(FakeDynamo())
    desk = Desk(a_process(meter))
    spent = []
    for labels in ((), ("a",), ("a", "b=c", "A")):
        meter.taken()
        desk.add(labels=labels)
        spent.append(meter.taken().all_write_units)
    assert [each - spent[0] for each in spent] == [0, 1, 2]


def test_a_task_is_found_by_its_page_in_the_tracker(desk: Desk) -> None:
    task_id = desk.add(days_ago=7)
    desk.world.store.commit(WORKSPACE, Insert(PageLink(PAGE_ID, task_id)), Insert(a_note(1)))
    for page in (PAGE_ID, PAGE_ID.replace("-", "").upper()):
        assert desk.found(page=page) == [task_id]
    assert desk.found(page="0" * 32) == []
    assert desk.found(page=PAGE_ID, by=agent("stranger")) == []


def test_a_task_that_stays_is_in_one_page(desk: Desk) -> None:
    ids = [desk.add("hit", days_ago=n) for n in range(3)]
    first = desk.search("hit", limit=2)
    desk.add("hit")
    rest = desk.search("hit", limit=2, cursor=first.page.cursor)
    assert [each.task.id for each in (*first.page.items, *rest.page.items)] == ids


def test_a_world_without_tokens_is_searched_to_before_any_task() -> None:
    world = World(store=InMemoryStore())
    cursor, count = None, 0
    while True:
        found = search_tasks(world.deps, human(), TaskSearch(), 10, cursor)
        cursor, count = found.page.cursor, count + 1
        if cursor is None:
            break
    assert (found.searched_to.year, count < 10) == (2026, True)
