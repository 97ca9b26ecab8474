"""Listings: newest first, page by page, nothing lost and nothing twice, whatever is added meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from baton.domain.alerts.alert import AlertState
from baton.domain.errors import Conflict
from baton.domain.task_state import State
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import replay
from baton.domain.times import seconds
from baton.ports.paging import Page
from baton.ports.store import Store
from baton.ports.writes import Insert, Save, Write
from support.clock import NOON
from support.values.changes import new, stored, then, with_body
from support.values.records import a_note, add_alert, add_review, add_token
from support.values.tasks import MS
from support.worlds.world import WORKSPACE, human

COUNT = 11
DAY = date(2026, 11, 18)
Read = Callable[[Store, int, str | None], Page]


def begin(store: Store, id_: str, *also: Write, **values: Any) -> Task:
    change = new(id_, **values)
    store.commit(WORKSPACE, with_body(change, {}), *also)
    return change.task


def add_task(store: Store, number: int) -> None:
    begin(store, f"task_{number:02d}", created_at=NOON + seconds(number))


def add_labelled(store: Store, number: int) -> None:
    labels = ("other", "team=blue") if number % 2 else ("Team=Blue", "team=blue")
    begin(store, f"task_{number:02d}", created_at=NOON + seconds(number), labels=labels)


def add_alert_of_task(store: Store, number: int) -> None:
    add_alert(store, number, task_id="task_1")


def add_acknowledged(store: Store, number: int) -> None:
    alert = add_alert(store, number)
    store.commit(WORKSPACE, Save(alert.acknowledged(human(), NOON)))


def add_conversation(store: Store, number: int) -> None:
    change = new(f"task_{number:02d}", workflow_id=f"wf_{number:02d}")
    store.commit(WORKSPACE, replace(change, begun_by="human:alice"))


LISTINGS: dict[str, tuple[Callable[[Store, int], object], Read]] = {
    "agent": (add_task, lambda store, limit, cursor: store.lists.tasks_of_agent(WORKSPACE, "auditor", limit, cursor)),
    "day": (add_task, lambda store, limit, cursor: store.lists.tasks_of_day(WORKSPACE, DAY, limit, cursor)),
    "label": (
        add_labelled,
        lambda store, limit, cursor: store.lists.tasks_of_label(WORKSPACE, "TEAM=blue", limit, cursor),
    ),
    "conversations": (
        add_conversation,
        lambda store, limit, cursor: store.conversations.begun(WORKSPACE, limit, cursor),
    ),
    "reviews": (add_review, lambda store, limit, cursor: store.escalations.reviews(WORKSPACE, limit, cursor)),
    "tokens": (add_token, lambda store, limit, cursor: store.tokens.listed(WORKSPACE, limit, cursor)),
    "alerts": (add_alert, lambda store, limit, cursor: store.alerts.newest(WORKSPACE, limit, cursor)),
    "alerts of a task": (
        add_alert_of_task,
        lambda store, limit, cursor: store.alerts.alerts_of_task(WORKSPACE, "task_1", limit, cursor),
    ),
    "open alerts": (
        add_alert,
        lambda store, limit, cursor: store.alerts.unresolved_alerts(WORKSPACE, AlertState.OPEN, limit, cursor),
    ),
    "acknowledged alerts": (
        add_acknowledged,
        lambda store, limit, cursor: store.alerts.unresolved_alerts(WORKSPACE, AlertState.ACKNOWLEDGED, limit, cursor),
    ),
}


@pytest.mark.parametrize("kind", LISTINGS)
@pytest.mark.parametrize("limit", [1, 3, COUNT - 1, COUNT, COUNT + 1])
def test_pages_together_are_the_whole(store: Store, kind: str, limit: int) -> None:
    add, read = LISTINGS[kind]
    for number in (3, 1, 2, *range(4, COUNT + 1)):
        add(store, number)
    found, cursor, sizes = [], None, []
    while True:
        page = read(store, limit, cursor)
        found += [int(item.id[-2:]) for item in page.items]
        sizes.append(len(page.items))
        if page.cursor is None:
            break
        cursor = page.cursor
    assert found == list(range(COUNT, 0, -1))
    assert sizes[:-1] == [limit] * (len(sizes) - 1)
    assert sizes[-1] > 0, "no cursor to an empty page"


@pytest.mark.parametrize("kind", LISTINGS)
def test_what_is_added_meanwhile_neither_repeats_nor_loses_anything(store: Store, kind: str) -> None:
    add, read = LISTINGS[kind]
    for number in range(1, 5):
        add(store, number)
    first = read(store, 2, None)
    add(store, 9)
    rest = read(store, 10, first.cursor)
    assert [int(item.id[-2:]) for item in (*first.items, *rest.items)] == [4, 3, 2, 1]


@pytest.mark.parametrize("kind", LISTINGS)
def test_an_empty_listing_is_empty(store: Store, kind: str) -> None:
    assert LISTINGS[kind][1](store, 10, None) == Page(())


def test_a_listed_task_is_as_it_is_now_wherever_it_went(store: Store) -> None:
    task = begin(store, "task_1")
    change = then(task, state=State.DONE, title="later")
    store.commit(WORKSPACE, change)
    assert store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items == (change.task,)
    assert store.lists.tasks_of_day(WORKSPACE, DAY, 10, None).items == (change.task,)


def test_days_are_utc_and_end_at_midnight(store: Store) -> None:
    midnight = NOON.replace(hour=0) + timedelta(days=1)
    stored(store, "task_1", created_at=midnight - MS)
    stored(store, "task_2", created_at=midnight)
    assert [task.id for task in store.lists.tasks_of_day(WORKSPACE, DAY, 10, None).items] == ["task_1"]
    assert [task.id for task in store.lists.tasks_of_day(WORKSPACE, date(2026, 11, 19), 10, None).items] == ["task_2"]


def test_agents_whose_names_begin_alike_are_listed_apart(store: Store) -> None:
    begin(store, "task_1", target_agent="client")
    begin(store, "task_2", target_agent="client-repo-auditor")
    assert [task.id for task in store.lists.tasks_of_agent(WORKSPACE, "client", 10, None).items] == ["task_1"]


def test_tasks_that_begin_together_are_listed_too(store: Store) -> None:
    first, second = new("task_1"), new("task_2", target_agent=None)
    store.commit(WORKSPACE, with_body(first, {}), with_body(second, {}))
    assert store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items == (first.task,)
    assert store.lists.tasks_of_day(WORKSPACE, DAY, 10, None).items == (second.task, first.task)


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("refused", [(), (1,), (5,), (1, 2, 3), (2, 4), (3, 4, 5), (1, 2, 3, 4, 5)])
def test_tasks_that_were_refused_are_in_no_page_and_leave_no_gap(
    store: Store, refused: tuple[int, ...], limit: int
) -> None:
    """A task's body and its places by labels are put first: they stay if the rest is refused."""
    store.commit(WORKSPACE, Insert(a_note(1)))
    for number in range(1, 6):
        if number in refused:
            with pytest.raises(Conflict):
                begin(store, f"task_{number}", Insert(a_note(1)), labels=("team=blue",))
        else:
            begin(store, f"task_{number}", labels=("team=blue",))
    for kind in ("agent", "day", "label"):
        pages = [LISTINGS[kind][1](store, limit, None)]
        while pages[-1].cursor is not None:
            pages.append(LISTINGS[kind][1](store, limit, pages[-1].cursor))
        found = [int(task.id[-1]) for page in pages for task in page.items]
        assert found == [number for number in range(5, 0, -1) if number not in refused]
        assert [len(page.items) for page in pages[:-1]] == [limit] * (len(pages) - 1)


def test_tasks_that_begin_together_are_listed_by_their_labels_too(store: Store) -> None:
    """However many labels they have: a transaction has at most a hundred items."""
    labels = tuple(f"l{number}" for number in range(50))
    first, second, third = (new(f"task_{number}", labels=labels) for number in range(3))
    store.commit(WORKSPACE, *(with_body(each, {}) for each in (first, second, third)))
    for label in labels:
        listed = store.lists.tasks_of_label(WORKSPACE, label, 10, None).items
        assert listed == (third.task, second.task, first.task)
    assert store.lists.tasks_of_label(WORKSPACE, "l50", 10, None).items == ()


def test_events_are_read_from_any_entry_on(store: Store) -> None:
    task = stored(store)
    for number in range(2, 13):
        change = then(task, title=f"step {number}")
        store.commit(WORKSPACE, change)
        task = change.task
    whole = store.trail.events(WORKSPACE, task.id, 0, 100)
    assert [event.seq for event in whole] == list(range(1, 13))
    assert replay(whole).title == "step 12"
    for after in (-5, 0, 1, 5, 11, 12, 13, 99_999_999, 10**12):
        for limit in (1, 4, 12):
            assert store.trail.events(WORKSPACE, task.id, after, limit) == whole[max(after, 0) :][:limit]


def test_the_newest_notes_come_first_and_each_thing_has_its_own(store: Store) -> None:
    for number in range(1, 6):
        store.commit(WORKSPACE, Insert(a_note(number)))
    store.commit(WORKSPACE, Insert(a_note(9, about="task_10")))
    assert store.tasks.notes(WORKSPACE, "task_1", 3) == (a_note(5), a_note(4), a_note(3))
    assert len(store.tasks.notes(WORKSPACE, "task_1", 10)) == 5
    assert store.tasks.notes(WORKSPACE, "task_2", 10) == ()


def test_a_review_is_listed_as_it_is_now(store: Store) -> None:
    review = add_review(store, 1)
    released = replace(review, version=2, released_at=NOON, released_by="human:alice", task_id="task_1")
    store.commit(WORKSPACE, Save(released), Insert(a_note(2)))
    assert store.escalations.reviews(WORKSPACE, 10, None).items == (released,)


def test_a_page_of_big_things_is_still_a_whole_page(store: Store) -> None:
    """DynamoDB reads at most 1 MB at a time."""
    big = {"escalation_reason": "x" * 150_000}
    for number in range(1, 10):
        add_review(store, number, request=big)
    first = store.escalations.reviews(WORKSPACE, 8, None)
    assert [review.id[-2:] for review in first.items] == [f"{n:02d}" for n in range(9, 1, -1)]
    assert [review.id for review in store.escalations.reviews(WORKSPACE, 8, first.cursor).items] == ["review_01"]


def test_a_trail_of_big_entries_is_still_whole(store: Store) -> None:
    task = stored(store)
    for number in range(2, 10):
        change = then(task, title=f"{number} " + "x" * 150_000)
        store.commit(WORKSPACE, change)
        task = change.task
    assert [event.seq for event in store.trail.events(WORKSPACE, task.id, 0, 9)] == list(range(1, 10))
