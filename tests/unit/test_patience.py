"""How often a call of the table is tried, and what is between the tries."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from baton.adapters.dynamodb.patience import LEAST_TRIES, MOST_TRIES, SECONDS, Patience
from support.clock import FakeClock
from support.faults.soak import spread

LONGEST = [0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def tried(patience: Patience, clock: FakeClock, until: Callable[[int], bool], takes: float = 0) -> int:
    """How often a call is tried that takes so many seconds, and succeeds when ``until(number)`` says so."""
    number = 0
    for _ in patience.tries():
        number += 1
        clock.advance(takes)
        if until(number):
            break
    return number


def never(_number: int) -> bool:
    return False


def test_what_is_answered_at_once_pauses_nowhere(clock: FakeClock) -> None:
    assert tried(Patience(clock), clock, lambda _: True) == 1
    assert clock.slept == []


@pytest.mark.parametrize("seconds", [SECONDS, 10.0])
@pytest.mark.parametrize("dice", spread(range(200)))
def test_all_of_the_time_is_used_and_ends_with_a_try(clock: FakeClock, seconds: float, dice: int) -> None:
    random.seed(dice)
    began = clock.monotonic()
    tries = tried(Patience(clock, seconds), clock, never)
    assert clock.monotonic() - began == pytest.approx(seconds, abs=0.02)
    assert LEAST_TRIES < tries <= MOST_TRIES
    assert len(clock.slept) == tries - 1, "there is none after the last try"


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_longest_pauses_double_up_to_a_third_of_the_time(
    clock: FakeClock, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[float, float]] = []

    def drawn(least: float, most: float) -> float:
        asked.append((least, most))
        return share * most

    monkeypatch.setattr(random, "uniform", drawn)
    tried(Patience(clock), clock, never)
    assert asked[: len(LONGEST)] == [(0, most) for most in LONGEST[: len(asked)]]


def test_the_last_of_ten_tries_is_at_the_end_of_the_time(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else chance could use the tries up before the time."""
    monkeypatch.setattr(random, "uniform", lambda *_: 0.0)
    assert tried(Patience(clock), clock, never) == MOST_TRIES
    assert clock.slept == [*[0.0] * (MOST_TRIES - 2), SECONDS]


@pytest.mark.parametrize(("takes", "tries"), [(6.0, LEAST_TRIES), (SECONDS, LEAST_TRIES), (0.7, 4)])
def test_a_call_that_takes_long_is_tried_three_times_and_not_beyond_the_time(
    clock: FakeClock, takes: float, tries: int
) -> None:
    random.seed(1)
    began = clock.monotonic()
    assert tried(Patience(clock), clock, never, takes) == tries
    assert clock.monotonic() - began <= max(SECONDS + takes, LEAST_TRIES * takes + 0.15)


def test_an_invocation_that_ends_earlier_ends_the_tries(clock: FakeClock) -> None:
    patience = Patience(clock)
    patience.begin(10.0, 25.0)
    clock.advance(24)
    assert tried(patience, clock, never) >= LEAST_TRIES
    assert sum(clock.slept) == pytest.approx(1.0, abs=0.15)


def test_an_invocation_that_has_no_time_left_tries_as_often_as_a_lost_reply_needs(clock: FakeClock) -> None:
    patience = Patience(clock)
    patience.begin(10.0, -1.0)
    assert tried(patience, clock, never) == LEAST_TRIES
    assert sum(clock.slept) <= 0.15


def test_after_a_call_in_vain_others_are_tried_three_times(clock: FakeClock) -> None:
    """Else the sweeper would wait for each shard of its index in turn."""
    patience = Patience(clock, 10.0)
    tried(patience, clock, never)
    for _ in range(100):
        assert tried(patience, clock, never) == LEAST_TRIES
    assert sum(clock.slept) < 10 + 100 * 0.15


def test_until_none_was_in_vain_for_as_long(clock: FakeClock) -> None:
    """A heartbeat has its time again, a beat later."""
    patience = Patience(clock, 10.0)
    for pause, tries in ((0, LEAST_TRIES + 1), (9.9, LEAST_TRIES), (9.9, LEAST_TRIES), (10, LEAST_TRIES + 1)):
        clock.advance(pause)
        assert min(LEAST_TRIES + 1, tried(patience, clock, never)) == tries


def test_the_next_invocation_waits_again(clock: FakeClock) -> None:
    patience = Patience(clock)
    tried(patience, clock, never)
    patience.begin(3.0, 25.0)
    assert tried(patience, clock, never) > LEAST_TRIES


def test_the_next_invocation_has_its_own_time(clock: FakeClock) -> None:
    patience = Patience(clock)
    patience.begin(10.0, 1.0)
    clock.advance(60)
    patience.begin(3.0, 25.0)
    tried(patience, clock, never)
    assert sum(clock.slept) == pytest.approx(3.0, abs=0.02)
