"""What a look costs at something that has not changed (docs/api.md)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from tools.bench.console import RECENT, Desk, lists_of
from tools.bench.office import approve, claim


def test_an_unchanged_task_costs_the_same_whatever_it_holds() -> None:
    """The version of what the process keeps, and its HEAD."""
    for context_bytes in (100, 100_000):
        desk = Desk(waiting=1, context_bytes=context_bytes)
        path = f"/tasks/{desk.task_ids[0]}"
        first = desk.look(path)
        again = desk.look(path, tag=first.tag)
        assert (again.status, again.size) == (304, 0)
        assert (again.usage.reads, again.usage.read_units) == (2, 2)
    assert first.usage.read_units > 25


def test_a_claimed_tasks_usage_is_looked_at_too() -> None:
    desk = Desk(waiting=1)
    desk.office.task_id = desk.task_ids[0]
    approve(desk.office, None)
    desk.office.clock.ahead = timedelta(minutes=1)
    claim(desk.office, None)
    path = f"/tasks/{desk.task_ids[0]}"
    again = desk.look(path, tag=desk.look(path).tag)
    assert (again.status, again.usage.reads, again.usage.read_units) == (304, 3, 4)


@pytest.mark.parametrize(
    ("path", "query", "units"),
    [
        ("/tasks", "state=needs", 1 + 0.5 + 3),
        ("/alerts", "state=open", 1 + 0.5),
        ("/manual-reviews", "state=open", 1 + 1),
        ("/workspace/settings", "", 1),
    ],
)
def test_a_list_costs_what_its_query_finds(path: str, query: str, units: float) -> None:
    desk = Desk(waiting=3)
    first = desk.look(path, query)
    again = desk.look(path, query, first.tag)
    assert (first.status, again.status, again.size) == (200, 304, 0)
    assert again.usage.read_units == units


def test_a_list_reads_an_ended_task_once() -> None:
    """It never changes again. Its process is told by its own reading, so the first list after that is the last one."""
    desk = Desk(waiting=3)
    listed = ("/tasks", f"agent={desk.office.target}")
    desk.look(*listed)
    for task_id in desk.task_ids[:2]:
        cancel_task(desk.office.deps, desk.office.human, task_id, None)
    first = desk.look(*listed)
    again = desk.look(*listed, first.tag)
    assert (first.usage.read_units, again.usage.read_units) == (1 + 0.5 + 3, 1 + 0.5 + 1)
    assert again.status == 304
    cancel_task(desk.office.deps, desk.office.human, desk.task_ids[2], None)
    changed = desk.look(*listed, first.tag)
    assert (changed.status, changed.usage.read_units) == (200, 1 + 0.5 + 1)
    assert desk.look(*listed).usage.read_units == 1 + 0.5


def test_a_tag_that_holds_no_more_costs_one_small_read() -> None:
    desk = Desk(waiting=1)
    path = f"/tasks/{desk.task_ids[0]}"
    without = desk.look(path).usage.read_units
    assert desk.look(path, tag='W/"0"').usage.read_units == without + 1


def test_a_watched_list_costs_the_check_of_the_token_and_one_small_read() -> None:
    """However many tasks wait."""
    desk = Desk(waiting=25)
    desk.bring()
    listed = ("/tasks", "state=needs")
    tag = desk.watched(*listed)
    again = desk.look(*listed, tag, RECENT)
    assert (again.status, again.size) == (304, 0)
    assert (again.usage.reads, again.usage.read_units, again.usage.writes) == (2, 2, 0)
    without = desk.look(*listed, tag)
    assert (without.usage.read_units, without.status) == (1 + 0.5 + 25, 304)


def test_half_a_minute_of_looks_costs_one_list_and_two_small_writes() -> None:
    """That the watch is asked for, and that the stream has brought it."""
    desk = Desk(waiting=25)
    desk.bring()
    used = desk.goes_on("/tasks", "state=needs", desk.watched("/tasks", "state=needs"), seconds=30)
    assert sum(each.read_units for each in used) == 14 * 2 + (2 + 0.5 + 25)
    assert sum(each.all_write_units for each in used) == 2


@pytest.mark.parametrize("is_watched", [False, True])
def test_a_batch_of_the_stream_costs_one_small_read_more_and_a_write_while_somebody_looks(*, is_watched: bool) -> None:
    desk = Desk(waiting=1)
    desk.bring()
    if is_watched:
        desk.watched("/tasks", "state=needs")
    approve_task(desk.office.deps, desk.office.human, desk.task_ids[0], None)
    usage = desk.bring()
    # The watch and the task as it is; that the list has changed, what was decided, and that the task was told of.
    assert (usage.reads, usage.read_units, usage.all_write_units) == (2, 1 + 1, is_watched + 1 + 1)


def test_each_list_of_an_open_console_stays_unchanged_while_nothing_happens() -> None:
    """Across the half minutes, at whose end it is made anew: ``goes_on`` refuses any answer but 304."""
    desk = Desk(waiting=1)
    desk.bring()
    for _name, path, query in lists_of(desk):
        assert desk.goes_on(path, query, desk.watched(path, query), seconds=70)
