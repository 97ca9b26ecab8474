"""Polls take turns where many wait: simulations with the real rules of both sides (support/crowd.py), of ten
minutes by one seed, and under ``make soak`` of half an hour by three."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from baton.domain.access.polls import SHORTEST_SECONDS, Room
from baton.domain.errors import TooManyPolls
from baton_cli.worker.poller import POLL_SECONDS
from support.crowd import REQUESTS_PER_SECOND, RESERVE, Crowd
from support.faults.soak import scaled

ROOM, NO_ROOM = Room("wait", RESERVE), Room()
RUN_SECONDS = float(scaled(1_800, 3))


@pytest.fixture(autouse=True, params=range(1, 1 + scaled(3, 3)))
def seed(request: pytest.FixtureRequest) -> Iterator[int]:
    state = random.getstate()
    random.seed(request.param)
    yield request.param
    random.setstate(state)


def crowd(workers: int, seed: int, room: Room = ROOM, *, looks: bool = True) -> Crowd:
    made = Crowd(workers, room, looks=looks, seed=seed)
    made.run(RUN_SECONDS)
    return made


@pytest.mark.parametrize(("workers", "most"), [(51, 15), (60, 15), (200, 15), (500, 45)])
def test_no_worker_is_without_a_look_for_a_minute(workers: int, most: float, seed: int) -> None:
    found = crowd(workers, seed)
    assert found.gap <= most
    assert found.requests / RUN_SECONDS <= REQUESTS_PER_SECOND * 0.6, "room for those that work"


@pytest.mark.parametrize("workers", [51, 60])
def test_a_few_more_than_there_are_places_take_turns_at_them(workers: int, seed: int) -> None:
    found = crowd(workers, seed)
    assert found.turn <= 120
    assert found.throttled <= 0.01 * found.requests


def test_while_half_of_the_places_are_free_every_poll_is_a_whole_one(seed: int) -> None:
    found = crowd(RESERVE // 2, seed)
    assert found.gap <= POLL_SECONDS
    assert found.requests / RUN_SECONDS <= RESERVE / 2 / POLL_SECONDS
    assert found.throttled == 0


@pytest.mark.parametrize("workers", [51, 60, 500])
def test_without_both_rules_a_worker_waits_for_minutes(workers: int, seed: int) -> None:
    """What the simulation is held to: it finds what was found before there were these rules."""
    assert crowd(workers, seed, NO_ROOM, looks=False).gap > 120


@pytest.mark.parametrize("workers", [51, 60, 100, 200])
def test_polls_leave_room_for_calls_that_do_not_wait(workers: int, seed: int) -> None:
    """At a Function URL more than 5 % that Lambda refuses wake somebody (docs/alarms.md#frontdoorrefusalsalarm)."""
    found = Crowd(workers, ROOM, one_function=True, seed=seed)
    found.run(RUN_SECONDS)
    assert found.throttled <= 0.01 * found.requests


@pytest.mark.parametrize("workers", [51, 60])
def test_looking_alone_makes_no_turns(workers: int, seed: int) -> None:
    assert crowd(workers, seed, NO_ROOM).turn > 200


@pytest.mark.parametrize(
    ("waiting", "seconds"),
    [(1, 20), (25, 20), (26, 18.7), (31, 12), (37, 4), (39, SHORTEST_SECONDS), (40, SHORTEST_SECONDS)],
)
def test_the_fuller_it_is_the_sooner_a_poll_ends(waiting: int, seconds: float) -> None:
    assert ROOM.seconds(waiting, 20) == pytest.approx(seconds, abs=0.05)


def test_a_fifth_is_left_to_calls_that_do_not_wait() -> None:
    with pytest.raises(TooManyPolls) as raised:
        ROOM.seconds(41, 20)
    assert raised.value.fields == {"limit": 40, "retry_after": 2}


@pytest.mark.parametrize("reserve", range(1, 12))
def test_the_smallest_reserve_lets_one_wait(reserve: int) -> None:
    room = Room("wait", reserve)
    assert all(SHORTEST_SECONDS <= room.seconds(waiting, 20) <= 20 for waiting in range(1, room.most + 1))
    assert room.most <= max(1, reserve - 1)


def test_a_poll_never_waits_longer_than_it_asks() -> None:
    assert ROOM.seconds(40, 1) == 1


def test_without_a_reserve_nobody_is_too_many() -> None:
    assert NO_ROOM.seconds(10_000, 20) == 20
