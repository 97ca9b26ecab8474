"""A task's row in the outbox to the tracker: who may send it, when it is tried again, what it has shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from baton.domain.task_state import State
from baton.domain.tasks.task import Task
from baton.domain.times import seconds
from baton.domain.tracker.page_sync import (
    FIRST_PAUSE_SECONDS,
    FRESH_SECONDS,
    INDEX_SECONDS,
    LAST_LOOK_SECONDS,
    LAST_PAUSE_SECONDS,
    MAX_MESSAGE,
    UNCLEAR_SECONDS,
    PageSync,
    Sync,
    adopted,
    opened,
)
from support.clock import NOON
from support.values.records import a_page, a_page_sync
from support.values.tasks import MS, a_new_task

BUDGET = 20.0
HOLD = seconds(BUDGET + UNCLEAR_SECONDS)


def held(**values: Any) -> PageSync:
    return a_page_sync(**values).held("send_1", NOON, BUDGET)


def task(seq: int) -> Task:
    return a_new_task(seq=seq)


def test_a_row_is_due_at_its_time_and_not_before() -> None:
    assert a_page_sync().is_due(task(1), NOON)
    assert not a_page_sync().is_due(task(1), NOON - MS)
    assert not a_page_sync(due_at=None).is_due(task(1), NOON)


@pytest.mark.parametrize("due_at", [None, NOON + MS])
def test_a_row_is_due_as_soon_as_its_task_has_changed(due_at: datetime | None) -> None:
    row = a_page_sync(wanted=3, due_at=due_at)
    assert row.is_due(task(4), NOON)
    assert not row.is_due(task(3), NOON)
    assert not row.held("send_1", NOON, BUDGET).is_due(task(4), NOON + HOLD - MS)


def test_a_row_whose_sender_died_is_due_once_the_hold_is_over() -> None:
    row = held(due_at=None)
    assert not row.is_due(task(1), NOON + HOLD - MS)
    assert row.is_due(task(1), NOON + HOLD)


def test_a_held_row_is_nobodys_until_the_hold_is_over_whatever_is_due() -> None:
    row = replace(held(), due_at=NOON)  # a change of the task came meanwhile
    assert not row.is_due(task(1), NOON + HOLD - MS)
    assert row.is_due(task(1), NOON + HOLD)


def test_a_hold_outlasts_its_sender_by_as_long_as_a_request_may_take_effect() -> None:
    row = held()
    assert (row.sender, row.held_until, row.due_at) == ("send_1", NOON + HOLD, NOON + HOLD)
    assert seconds(80) == HOLD


def test_a_hold_moves_what_is_due_and_makes_nothing_due() -> None:
    assert held(due_at=None).due_at is None


def test_a_notice_that_meets_a_sender_is_kept_once() -> None:
    row = held(due_at=None)
    newer = row.put_back(task(2), NOON)
    assert newer is not None
    assert (newer.wanted, newer.due_at, newer.sender) == (2, NOON, "send_1")
    assert newer.put_back(task(2), NOON + MS) is None
    same = row.put_back(task(1), NOON)
    assert same is not None
    assert (same.wanted, same.due_at, same.sender) == (1, NOON + HOLD, "send_1")
    assert same.put_back(task(1), NOON) is None
    again = same.put_back(task(2), NOON)
    assert again is not None
    assert again.due_at == NOON


def test_a_notice_of_nothing_new_leaves_nothing() -> None:
    assert a_page_sync(due_at=None).put_back(task(1), NOON) is None
    assert a_page_sync().put_back(task(1), NOON + MS) is None


@pytest.mark.parametrize(
    ("idle", "pause"), [(FRESH_SECONDS, 3_600), (7_200, 7_200), (10_800, 10_800), (90_000, LAST_LOOK_SECONDS)]
)
def test_a_page_at_rest_is_looked_at_less_and_less_often(idle: int, pause: int) -> None:
    now = NOON + seconds(idle)
    rested = a_page_sync(look_at=NOON).rested(task(1), now)
    assert rested is not None
    assert rested.look_at == now + seconds(pause)


def test_a_page_of_a_fresh_task_or_with_a_sender_keeps_its_look() -> None:
    row = a_page_sync(look_at=NOON)
    assert row.rested(task(1), NOON + seconds(FRESH_SECONDS) - MS) is None
    later = NOON + seconds(FRESH_SECONDS)
    assert row.held("send_1", later, BUDGET).rested(task(1), later) is None


def test_the_first_sender_has_nothing_to_look_for() -> None:
    first = held()
    assert first.is_first
    assert not first.unclear
    assert not first.failed(NOON, Sync.PENDING, "away", unclear=False).held("send_2", NOON, BUDGET).is_first


def test_who_takes_over_from_a_dead_sender_knows_nothing_of_its_requests() -> None:
    row = held().held("send_2", NOON + HOLD, BUDGET)
    assert (row.sender, row.attempts, row.unclear) == ("send_2", 2, True)
    assert not row.is_first


def test_who_follows_a_clean_end_knows_everything() -> None:
    row = held().put_off(NOON, Sync.DENIED, "no").held("send_2", NOON, BUDGET)
    assert not row.unclear
    row = held().failed(NOON, Sync.PENDING, "away", unclear=False).held("send_2", NOON, BUDGET)
    assert not row.unclear


def test_what_is_unclear_stays_so_until_the_page_was_shown() -> None:
    row = held().failed(NOON, Sync.PENDING, "away", unclear=True)
    row = row.held("send_2", NOON, BUDGET).failed(NOON, Sync.PENDING, "away", unclear=False)
    assert row.unclear
    row = row.held("send_3", NOON, BUDGET).put_off(NOON, Sync.PENDING, "busy")
    assert row.unclear
    assert not row.held("send_4", NOON, BUDGET).sent(task(1), 0, "Done", NOON, note="").unclear


@pytest.mark.parametrize(
    ("failures", "pause"), [(0, 5), (1, 20), (2, 80), (3, 320), (4, 900), (5, 900), (8, 900), (9, 900), (10_000, 900)]
)
def test_each_failure_waits_longer_up_to_a_quarter_of_an_hour(failures: int, pause: int) -> None:
    row = held(failures=failures).failed(NOON, Sync.PENDING, "away", unclear=False)
    assert row.due_at == NOON + seconds(pause)
    assert (row.failures, row.status, row.message) == (failures + 1, Sync.PENDING, "away")
    assert (row.sender, row.held_until) == (None, None)
    assert FIRST_PAUSE_SECONDS <= pause <= LAST_PAUSE_SECONDS


@pytest.mark.parametrize(("failures", "pause"), [(0, 60), (1, 60), (2, 80), (4, 900)])
def test_after_an_unclear_end_nobody_sends_before_it_has_happened(failures: int, pause: int) -> None:
    row = held(failures=failures).failed(NOON, Sync.PENDING, "silence", unclear=True)
    assert (row.due_at, row.held_until, row.sender) == (NOON + seconds(pause), NOON + seconds(pause), None)
    hurried = replace(row, due_at=NOON)
    assert not hurried.is_due(task(1), NOON + seconds(pause) - MS)
    assert hurried.is_due(task(1), NOON + seconds(pause))


def test_a_page_that_may_have_been_made_unheard_is_made_again_only_once_it_would_be_found() -> None:
    shown = NOON + seconds(UNCLEAR_SECONDS + INDEX_SECONDS)
    row = held().failed(NOON, Sync.PENDING, "silence", unclear=True)
    assert row.made_not_before(NOON) == row.held("send_2", NOON, BUDGET).made_not_before(NOON) == shown
    assert row.put_off(NOON, Sync.PENDING, "later").failed(NOON, Sync.PENDING, "away", unclear=False).happened_by
    assert row.made_not_before(shown) == shown
    assert row.made_not_before(shown + MS) == shown + MS
    after_a_death = held().held("send_2", NOON + HOLD, BUDGET)
    assert after_a_death.made_not_before(NOON) == NOON + HOLD + seconds(INDEX_SECONDS)
    assert after_a_death.sent(task(1), 0, "Done", NOON, note="").happened_by is None


def test_a_page_that_was_surely_not_made_is_made_at_once() -> None:
    row = held()
    assert row.made_not_before(NOON) == NOON
    assert row.failed(NOON, Sync.PENDING, "away", unclear=False).made_not_before(NOON) == NOON
    assert row.put_off(NOON, Sync.DENIED, "no").held("send_2", NOON, BUDGET).made_not_before(NOON) == NOON


@pytest.mark.parametrize("status", [Sync.DENIED, Sync.ERROR])
def test_a_failed_row_says_how(status: Sync) -> None:
    row = held(failures=1).failed(NOON, status, "no", unclear=False)
    assert (row.status, row.message, row.failures, row.due_at) == (status, "no", 2, NOON + seconds(20))


def test_a_row_that_is_put_off_has_not_failed() -> None:
    until = NOON + seconds(90)
    row = held(failures=2).put_off(until, Sync.DENIED, "no")
    assert (row.failures, row.status, row.message, row.due_at) == (2, Sync.DENIED, "no", until)
    assert (row.sender, row.held_until) == (None, None)
    assert row.is_due(task(1), until)


def test_a_row_that_was_given_up_is_due_no_more_until_it_is_revived() -> None:
    row = held(failures=3).died(task(1), "refused")
    assert (row.status, row.message, row.due_at, row.sender, row.held_until) == (
        Sync.DEAD,
        "refused",
        None,
        None,
        None,
    )
    back = row.revived(NOON + MS)
    assert (back.status, back.failures, back.due_at) == (Sync.PENDING, 0, NOON + MS)
    assert back.is_due(task(1), NOON + MS)


def test_messages_are_cut() -> None:
    said = "x" * (MAX_MESSAGE + 1)
    rows = [
        held().failed(NOON, Sync.PENDING, said, unclear=False),
        held().put_off(NOON, Sync.ERROR, said),
        held().died(task(1), said),
        held().sent(task(1), 0, None, NOON, note=said),
    ]
    assert {len(row.message) for row in rows} == {MAX_MESSAGE}


def test_a_row_that_was_sent_rests() -> None:
    row = held(wanted=3, failures=2, unclear=True, looks=2).sent(task(3), 2, "In progress", NOON, note="")
    assert (row.shown, row.looked, row.page_status, row.status) == (3, 2, "In progress", Sync.OK)
    assert (row.failures, row.unclear, row.message, row.is_settled) == (0, False, "", False)
    assert (row.sender, row.held_until, row.due_at) == (None, None, None)
    assert not row.is_behind


@pytest.mark.parametrize("meanwhile", [{"wanted": 4}, {"looks": 3}])
def test_a_row_that_was_sent_while_something_newer_came_is_due_at_once(meanwhile: dict[str, Any]) -> None:
    row = replace(held(wanted=3, looks=2), **meanwhile).sent(task(3), 2, "In progress", NOON, note="")
    assert (row.shown, row.looked, row.status) == (3, 2, Sync.OK)
    assert row.is_behind
    assert row.due_at == NOON
    assert row.is_due(task(3), NOON)


def test_a_late_sender_takes_nothing_back() -> None:
    row = replace(held(wanted=5), shown=5, looked=4, looks=4, is_settled=True)
    row = row.sent(task(3), 2, "Done", NOON, note="")
    assert (row.shown, row.looked, row.is_settled, row.due_at) == (5, 4, True, None)


def test_what_the_page_was_made_without_is_said() -> None:
    row = held().sent(task(1), 0, None, NOON, note="No status.")
    assert (row.status, row.message) == (Sync.OK, "No status.")


def test_the_row_of_a_new_task_is_due_at_once_or_held_by_its_maker() -> None:
    free = opened(task(1), None, 3.0)
    assert (free.attempts, free.sender, free.due_at, free.wanted, free.shown) == (0, None, None, 0, 0)
    assert free.is_due(task(1), NOON)
    assert free.held("send_1", NOON, BUDGET).is_first
    taken = opened(task(1), "send_1", 3.0)
    assert (taken.sender, taken.held_until, taken.attempts) == ("send_1", NOON + seconds(63), 1)
    assert (taken.due_at, taken.wanted) == (None, 1)
    assert taken.is_first
    assert {free.version, taken.version} == {1}
    assert {free.look_at, taken.look_at} == {NOON}


@pytest.mark.parametrize("is_closed", [True, False])
def test_the_row_of_an_adopted_page_has_nothing_to_send(is_closed: bool) -> None:
    row = adopted(task(2), a_page(), "Done", is_closed=is_closed)
    assert (row.wanted, row.shown, row.page, row.page_status) == (2, 2, a_page(), "Done")
    assert (row.is_settled, row.status, row.due_at) == (is_closed, Sync.OK, None)
    assert not row.is_behind


@pytest.mark.parametrize("state", [State.CLAIMED, State.DONE])
def test_a_page_is_looked_at_until_its_tasks_end_is_shown_or_given_up(state: State) -> None:
    row, now = held(look_at=NOON), task(1).changed(state=state)
    kept = None if state is State.DONE else NOON
    assert row.sent(now, 0, "x", NOON, note="").look_at == kept
    assert row.died(now, "refused").look_at == kept
    assert row.failed(NOON, Sync.ERROR, "no", unclear=False).look_at == NOON
    assert row.put_off(NOON, Sync.PENDING, "later").look_at == NOON
