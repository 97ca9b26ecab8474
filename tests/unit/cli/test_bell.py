"""The bell as the command line listens to it, against a real WebSocket server on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Thread

import pytest

from baton_client.bell import MAX_BYTES, Bell, BellTimes, ahead_seconds
from baton_client.profiles import Profile
from support.fakes.fake_bell import FakeBell, fake_bell
from support.scripted_api import ScriptedApi

TOPIC = "work:qa"
# The bell answers at once; what a test waits for in vain is short.
QUICK = BellTimes(patience=30, answer=0.2, settle=0.01, retry=0.02, longest_retry=0.1, no_bell=0.1, longest=0.2)


@pytest.fixture
def tower(scripted: ScriptedApi) -> Iterator[FakeBell]:
    with fake_bell() as made:
        scripted.bell = made.url
        yield made


@contextmanager
def listening(api: ScriptedApi, topic: str = TOPIC, times: BellTimes = QUICK) -> Iterator[tuple[Bell, list[str]]]:
    said: list[str] = []
    with Bell(Profile("", api.url, "baton_tok_secret"), topic, said.append, times) as bell:
        yield bell, said


def settled(tower: FakeBell, bell: Bell, looks: int = 2) -> None:
    """The bell is open, and has looked as often as it does at first."""
    assert bell.wait(0)
    tower.until(lambda: tower.looks >= looks)


def in_seconds(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def waited(bell: Bell, seconds: float | None = None) -> tuple[bool, float]:
    """What a wait returns, and how long it took."""
    begun_at = time.monotonic()
    found = bell.wait(seconds)
    return found, time.monotonic() - begun_at


def test_a_connection_shows_the_token_names_its_topic_and_looks_twice(scripted: ScriptedApi, tower: FakeBell) -> None:
    with listening(scripted) as (bell, said):
        settled(tower, bell)
        (request,) = tower.handshakes
        assert request.path == "/live?listen=work:qa"
        assert request.headers["Authorization"] == "Bearer baton_tok_secret"
        assert waited(bell, 0.3)[0]
        assert (tower.looks, said) == (2, [])


def test_a_ring_wakes_at_once_and_one_ahead_of_time_when_it_is_due(scripted: ScriptedApi, tower: FakeBell) -> None:
    with listening(scripted) as (bell, _):
        settled(tower, bell)
        for seconds in (None, -60, 0.5):
            begun_at = time.monotonic()
            tower.ring(TOPIC, **({} if seconds is None else {"due_at": in_seconds(seconds)}))
            assert bell.wait()
            assert max(0, seconds or 0) - 0.05 < time.monotonic() - begun_at < 10


def test_a_ring_for_later_is_kept_beside_one_for_now(scripted: ScriptedApi, tower: FakeBell) -> None:
    with listening(scripted) as (bell, _):
        settled(tower, bell)
        tower.ring(TOPIC, due_at=in_seconds(2))
        tower.ring(TOPIC)
        assert waited(bell)[1] < 1.9
        assert waited(bell)[0]


def test_the_answer_to_a_look_says_when_to_look(scripted: ScriptedApi, tower: FakeBell) -> None:
    tower.due_at = in_seconds(0.5)
    with listening(scripted) as (bell, _):
        found, took = waited(bell, 20)
        assert found
        assert took < 15


def test_what_is_no_agents_work_is_looked_at_by_its_caller_at_each_look(scripted: ScriptedApi, tower: FakeBell) -> None:
    with listening(scripted, "task:task_1", replace(QUICK, settle=1)) as (bell, _):  # else the two are one wake-up
        assert waited(bell, 20)[1] < 15  # the first look
        assert waited(bell, 20)[1] < 15  # the second one


def test_an_empty_answer_says_when_to_look_unless_that_is_long_ago(scripted: ScriptedApi, tower: FakeBell) -> None:
    with listening(scripted) as (bell, _):
        settled(tower, bell)
        for stale in (in_seconds(-3), "", "soon", "0001-01-01T00:00:00+00:00"):
            bell.expect(stale)
        bell.expect(in_seconds(0.3), within=0.1)  # of that a ring tells
        assert waited(bell, 0.6)[1] > 0.55
        bell.expect(in_seconds(0.3), within=10)
        assert waited(bell, 20)[1] < 15


@pytest.mark.parametrize(
    "said",
    [
        "",
        "null",
        "[]",
        "[" * 4000,
        '{"ring": 7}',
        '{"ring": "work:another"}',
        '{"message": "Internal server error"}',
        '{"looked": ["work:qa"]}',
        b"\xff\xfe",
        '"' + "x" * 4000,
    ],
)
def test_what_cannot_be_read_is_no_ring(scripted: ScriptedApi, tower: FakeBell, said: str | bytes) -> None:
    with listening(scripted) as (bell, complaints):
        settled(tower, bell)
        tower.say(said)
        found, took = waited(bell, 0.3)
        assert found
        assert took > 0.25
        assert (len(tower.handshakes), complaints) == (1, [])


@pytest.mark.parametrize("due_at", [5, None, "soon", [], "99999-01-01", "0001-01-01T00:00:00+23:59"])
def test_a_time_that_cannot_be_read_is_now(scripted: ScriptedApi, tower: FakeBell, due_at: object) -> None:
    with listening(scripted) as (bell, _):
        settled(tower, bell)
        tower.ring(TOPIC, due_at=due_at)
        assert waited(bell, 20)[1] < 15


def test_a_flood_of_rings_makes_few_looks(scripted: ScriptedApi, tower: FakeBell) -> None:
    with listening(scripted) as (bell, _):
        settled(tower, bell)
        for number in range(500):
            tower.ring(TOPIC, due_at=in_seconds(number / 500))
        begun_at, looks = time.monotonic(), 0
        while time.monotonic() - begun_at < 1:
            assert bell.wait(0.5)
            looks += 1
        assert looks <= 12  # 0.05, 0.1 and then each 0.2 s


def test_a_message_that_is_too_long_costs_the_connection_and_nothing_else(
    scripted: ScriptedApi, tower: FakeBell
) -> None:
    with listening(scripted) as (bell, _):
        settled(tower, bell)
        tower.say("x" * (MAX_BYTES + 1))
        assert not bell.wait()
        tower.until(lambda: len(tower.handshakes) >= 2)


def test_a_lost_connection_is_told_at_once_and_made_again(scripted: ScriptedApi, tower: FakeBell) -> None:
    with listening(scripted) as (bell, said):
        for times in range(1, 4):
            while not bell.wait(0):
                pass
            tower.until(lambda times=times: tower.looks >= 2 * times)
            tower.drop()
            assert waited(bell, 20)[0] is False
        tower.until(lambda: len(tower.handshakes) >= 4)
        assert len(said) <= 1


def test_what_was_rung_while_the_connection_was_lost_is_found_by_its_first_look(
    scripted: ScriptedApi, tower: FakeBell
) -> None:
    with listening(scripted) as (bell, _):
        settled(tower, bell)
        tower.due_at = in_seconds(0)
        tower.drop()
        assert not bell.wait()
        tower.until(lambda: tower.looks >= 3)
        while not bell.wait(20):
            pass
        assert tower.looks >= 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500, 503])
def test_a_refused_handshake_is_said_once_and_tried_again_seldom(
    scripted: ScriptedApi, tower: FakeBell, status: int
) -> None:
    tower.refused = status
    with listening(scripted) as (bell, said):
        assert not bell.wait(20)
        assert bell.is_away
        assert not bell.wait(20)
        tower.until(lambda: len(tower.handshakes) >= 3 or bell.wait(0))
        assert len(said) == 1
        assert "asking again and again" in said[0]
        tower.refused = 0
        while not bell.wait(0.01):
            pass
        assert (bell.is_away, len(said)) == (False, 1)


@pytest.mark.parametrize("url", [None, "ws://127.0.0.1:9/live", "ws://bell.example.com/live", "http://127.0.0.1/", "x"])
def test_without_a_bell_that_can_be_used_it_is_said_once(scripted: ScriptedApi, url: str | None) -> None:
    scripted.bell = url
    with listening(scripted) as (bell, said):
        assert not bell.wait(20)
        assert not bell.wait(20)
        assert len(said) == 1


def test_a_silent_bell_is_none(scripted: ScriptedApi, tower: FakeBell) -> None:
    tower.is_silent = True
    with listening(scripted) as (bell, said):
        assert not bell.wait(20)
        tower.until(lambda: len(tower.handshakes) >= 2)
        assert said == ["the bell doesn't answer (TimeoutError): asking again and again meanwhile"]


def test_whoever_waits_is_not_held_up_by_a_bell_that_takes_long(scripted: ScriptedApi, tower: FakeBell) -> None:
    tower.is_silent = True
    with listening(scripted, times=BellTimes(patience=0.1)) as (bell, _):
        found, took = waited(bell)
        assert not found
        assert took < 5


def test_a_busy_listener_leaves_so_that_others_are_rung_and_comes_back(scripted: ScriptedApi, tower: FakeBell) -> None:
    with listening(scripted, times=BellTimes(settle=0.01, linger=0.2)) as (bell, said):
        settled(tower, bell)
        tower.until(lambda: not tower.listening)
        tower.due_at = in_seconds(0)
        assert waited(bell, 20)[0]
        assert (len(tower.handshakes), said) == (2, [])


def test_a_wait_is_ended_by_another_thread(scripted: ScriptedApi, tower: FakeBell) -> None:
    with listening(scripted) as (bell, _):
        settled(tower, bell)
        found: list[tuple[bool, float]] = []
        waiting = Thread(target=lambda: found.append(waited(bell)))
        waiting.start()
        bell.stop()
        waiting.join(30)
        assert found[0][0] is False
        assert not bell.wait()


NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("skew", "found"),
    [(0.0, 0.0), (0.5, 0.0), (-0.5, 0.0), (60.0, 59.5), (-60.0, -59.5)],
)
def test_a_clock_is_set_right_as_far_as_a_date_tells(skew: float, found: float) -> None:
    """The Date was cut to its second; the answer took 0.2 s."""
    there = NOON.timestamp() + 0.5
    date = format_datetime(datetime.fromtimestamp(there, UTC).replace(microsecond=0), usegmt=True)
    here = there - skew
    off = ahead_seconds(date, here - 0.1, here + 0.1)
    assert abs(off - found) < 0.7
    assert (off == 0.0) is (found == 0.0)


@pytest.mark.parametrize("date", ["", "soon", "99"])
def test_no_date_tells_nothing(date: str) -> None:
    assert ahead_seconds(date, 1.0, 2.0) == 0.0


def test_the_clock_of_who_answers_counts(scripted: ScriptedApi, tower: FakeBell) -> None:
    """Baton's clock is an hour ahead, and a ring is due in half a second of it."""
    hour = timedelta(hours=1)
    scripted.bell_headers = {"Date": format_datetime(datetime.now(UTC) + hour, usegmt=True)}
    with listening(scripted) as (bell, _):
        settled(tower, bell)
        tower.ring(TOPIC, due_at=(datetime.now(UTC) + hour + timedelta(seconds=0.5)).isoformat())
        found, took = waited(bell, 30)
        assert found
        assert took < 25


@pytest.mark.parametrize("is_open", [False, True])
def test_a_client_over_its_rate_waits_as_long_as_baton_says(
    scripted: ScriptedApi, tower: FakeBell, is_open: bool
) -> None:
    """At the handshake and in an open connection: neither is tried again before, however short its own pauses are."""
    tower.retry_after = 1
    tower.is_over_rate, tower.refused = is_open, 0 if is_open else 429
    with listening(scripted) as (bell, said):
        assert not bell.wait()
        refused_at = time.monotonic()
        tower.is_over_rate, tower.refused = False, 0
        tower.until(lambda: len(tower.handshakes) == 2)
        assert time.monotonic() - refused_at > 0.9
    assert len(said) == 1
    assert said[0].startswith("the bell refuses for 1 s")
