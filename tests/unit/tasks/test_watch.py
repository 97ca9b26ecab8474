"""When a workspace's watch is asked for again, when it holds, and when a list may rest on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from baton.domain.tasks.watch import Watch, asked, window_of
from baton.domain.times import seconds
from support.clock import NOON

HOLDING = Watch(began_at=NOON - seconds(600), asked_at=NOON, brought_at=NOON, changed_at=NOON - seconds(300), changes=7)


def test_the_first_look_asks() -> None:
    assert asked(None, NOON) == Watch(began_at=NOON, asked_at=NOON)


@pytest.mark.parametrize(("age", "began"), [(-5, None), (29.999, None), (30, "kept"), (59.999, "kept"), (60, "anew")])
def test_it_is_asked_for_each_half_minute_and_begins_anew_after_a_pause(age: float, began: str | None) -> None:
    """Nobody has noted what came in a pause."""
    now = NOON + seconds(age)
    wanted = {
        None: None,
        "kept": Watch(began_at=HOLDING.began_at, asked_at=now),
        "anew": Watch(began_at=now, asked_at=now),
    }
    assert asked(HOLDING, now) == wanted[began]


@pytest.mark.parametrize(("age", "holds"), [(0, True), (59.999, True), (60, False)])
def test_it_holds_for_a_minute_after_what_the_stream_has_brought(age: float, *, holds: bool) -> None:
    now = NOON + seconds(age)
    assert replace(HOLDING, asked_at=now).holds(now) is holds
    assert replace(HOLDING, asked_at=now).is_settled(now) is holds


def test_what_the_stream_never_brought_holds_never() -> None:
    watch = replace(HOLDING, brought_at=None)
    assert (watch.holds(NOON), watch.is_settled(NOON)) == (False, False)


@pytest.mark.parametrize("which", ["began_at", "changed_at"])
@pytest.mark.parametrize(("age", "is_settled"), [(-1, False), (4.999, False), (5, True)])
def test_a_list_rests_on_it_once_the_indexes_have_what_it_tells(which: str, age: float, *, is_settled: bool) -> None:
    at: Any = {which: NOON - seconds(age)}
    watch = replace(HOLDING, **at)
    assert (watch.holds(NOON), watch.is_settled(NOON)) == (True, is_settled)


def test_a_watch_without_a_change_is_settled_by_its_age() -> None:
    assert replace(HOLDING, changed_at=None).is_settled(NOON)


@pytest.mark.parametrize(("age", "is_watched"), [(0, True), (119.999, True), (120, False)])
def test_changes_are_noted_longer_than_a_watch_holds(age: float, *, is_watched: bool) -> None:
    assert HOLDING.is_watched(NOON + seconds(age)) is is_watched


def test_a_window_is_half_a_minute_and_no_day_ends_within_one() -> None:
    numbers = [window_of(NOON + seconds(at)) - window_of(NOON) for at in (0, 29.999, 30, 59.999, 60)]
    assert numbers == [0, 0, 1, 1, 2]
    midnight = NOON.replace(hour=0)
    assert window_of(midnight) == window_of(midnight - seconds(0.001)) + 1
