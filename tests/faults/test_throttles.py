"""The table is throttled for a while. A throttle that ends within a call's time isn't noticed; a longer one is answered
with busy. Nothing is written twice."""

from __future__ import annotations

from typing import Any

import pytest

from baton.adapters.dynamodb.patience import LEAST_TRIES, MOST_TRIES, SECONDS
from baton.domain.errors import Busy
from faults.test_lost_replies import RepeatableUseCase, repeatable_of, same
from support.faults.soak import spread
from support.faults.throttle import Throttled
from support.worlds.use_cases import USE_CASES, fingerprint

# A commit that is turned away asks first whether it was applied after all.
MOST_CALLS_MORE = 2 * MOST_TRIES
SCHEDULED = "sweep of"


def throttle(repeatable: RepeatableUseCase, seconds: float, number: int) -> Throttled:
    """From the call of that number on."""
    repeatable.again()
    rig = repeatable.rig

    def begins(n: int, _operation: str, _request: dict[str, Any]) -> bool:
        return n == number

    throttled = Throttled(rig.raw, rig.pauses, seconds, begins)
    rig.choked.client = throttled
    return throttled


@pytest.mark.parametrize("name", USE_CASES)
def test_a_second_of_throttle_from_any_call_on_is_not_noticed(name: str) -> None:
    repeatable = repeatable_of(name)
    expected, calls = repeatable.undisturbed
    for number, operation in spread(list(enumerate(calls, 1)), 5):
        throttled, where = throttle(repeatable, 1.0, number), f"from call {number} on, {operation}"
        same(repeatable.outcome(repeatable.act()), expected, where)
        repeatable.check_trails()
        assert len(throttled.calls) <= len(calls) + MOST_CALLS_MORE, where


@pytest.mark.parametrize("name", spread([name for name in USE_CASES if not name.startswith(SCHEDULED)], 3))
def test_what_lasts_longer_is_busy_in_time_and_wrote_nothing(name: str) -> None:
    repeatable = repeatable_of(name)
    expected, _ = repeatable.undisturbed
    repeatable.again()
    untouched = fingerprint(repeatable.rig)
    throttled, pauses = throttle(repeatable, 60.0, 1), repeatable.rig.pauses
    began = pauses.monotonic()
    with pytest.raises(Busy):
        repeatable.act()
    assert fingerprint(repeatable.rig) == untouched
    assert len(throttled.calls) <= MOST_TRIES + 2 * LEAST_TRIES
    assert SECONDS <= pauses.monotonic() - began < SECONDS + 0.4
    pauses.advance(60)
    same(repeatable.outcome(repeatable.act()), expected, name)


@pytest.mark.parametrize("name", [name for name in USE_CASES if name.startswith(SCHEDULED)])
def test_the_sweeper_ends_within_its_time_whatever_it_cannot_read(name: str) -> None:
    repeatable = repeatable_of(name)
    expected, calls = repeatable.undisturbed
    repeatable.again()
    untouched = fingerprint(repeatable.rig)
    throttled, pauses = throttle(repeatable, 600.0, 1), repeatable.rig.pauses
    began = pauses.monotonic()
    repeatable.rig.patience.begin(10.0, 40.0)
    assert repeatable.act() == 2, "circuits and tasks"
    assert fingerprint(repeatable.rig) == untouched
    assert pauses.monotonic() - began < 20
    assert len(throttled.calls) <= LEAST_TRIES * len(calls) + MOST_TRIES
    pauses.advance(600)
    repeatable.rig.patience.begin(10.0, 40.0)
    same(repeatable.outcome(repeatable.act()), expected, name)


def test_a_heartbeat_gets_through_each_way_of_a_throttle_within_its_time() -> None:
    """A worker that can't send one for a second keeps its claim."""
    repeatable = repeatable_of("heartbeat")
    expected, calls = repeatable.undisturbed
    throttled = throttle(repeatable, SECONDS - 0.01, len(calls))
    same(repeatable.outcome(repeatable.act()), expected, "heartbeat")
    assert len(throttled.calls) <= len(calls) + MOST_TRIES
