"""Every key of an index that holds a time sorts like the time, whatever the year."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from baton.adapters.dynamodb import keys
from baton.domain.handoffs.workflow import BackgroundJob, JobKind
from baton.domain.task_state import State
from baton.domain.tracker.page_sync import opened
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from support.clock import NOON
from support.fakes.store import InMemoryStore
from support.values.changes import claimed, new

YEARS = [datetime(year, 6, 1, 12, tzinfo=UTC) for year in (2, 1969, 2001, 9998)]


def _ready(at: datetime) -> str | None:
    place = keys.queue_index_key(new().task.changed(state=State.DELEGATED, ready_at=at))
    return place and place.sk


def _needing(at: datetime) -> str | None:
    place = keys.queue_index_key(replace(new().task, created_at=at, state=State.NEEDS))
    return place and place.sk


def _waking(at: datetime) -> str | None:
    place = keys.wake_index_key(new().task.changed(wake_at=at))
    return place and place.sk


def _claim(at: datetime) -> str | None:
    place = keys.wake_index_key(claimed(InMemoryStore()).changed(wake_at=at))
    return place and place.sk


def _mirror(at: datetime) -> str | None:
    place = keys.page_sync_index_key(replace(opened(new().task, None, 0), due_at=at))
    return place and place.sk


def _gate(at: datetime) -> str | None:
    place = keys.tracker_circuit_index_key(TrackerCircuit(workspace="acme", wake_at=at))
    return place and place.sk


PLACES: dict[str, Callable[[datetime], str | None]] = {
    "ready work": _ready,
    "work that needs approval": _needing,
    "a task that is looked at again": _waking,
    "a claim": _claim,
    "an errand": lambda at: (
        keys.job_index_key(BackgroundJob(kind=JobKind.JOIN, task_id="task_1", stamp="s", at=at, data={})).sk
    ),
    "a page to send": _mirror,
    "a tracker": _gate,
    "what is due": lambda at: keys.due_sort_key(at, "task_1"),
    "an entry that nobody was told of": lambda at: keys.outbox_index_key("task_1", at).sk,
    "an hour of alerts": lambda at: keys.alert_count("acme", "agent:x", max(at, datetime(1970, 1, 1, tzinfo=UTC))).sk,
    "a day's listing": lambda at: keys.tasks_of_day("acme", at.date()),
}


@pytest.mark.parametrize("name", PLACES)
def test_keys_sort_like_their_times(name: str) -> None:
    found = [PLACES[name](at) for at in YEARS]
    keys_found = [key for key in found if key is not None]
    assert sorted(keys_found) == found


@pytest.mark.parametrize("name", [name for name in PLACES if "listing" not in name and "alerts" not in name])
@pytest.mark.parametrize("at", YEARS[:3])
def test_what_was_due_in_any_year_is_found_now(name: str, at: datetime) -> None:
    place = PLACES[name](at)
    assert place is not None
    moment = place.removeprefix("P0#").removeprefix("P1#").removeprefix("P2#")
    assert keys.EARLIEST + " " < "0" < moment < keys.wake_until(NOON)
    later = PLACES[name](NOON + timedelta(days=1))
    assert later is not None
    assert later.removeprefix("P0#").removeprefix("P1#").removeprefix("P2#") > keys.wake_until(NOON)
