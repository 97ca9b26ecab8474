"""Ids that sort, and instants that every reader agrees on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baton.adapters.system import RandomIds, SystemClock
from baton.domain.idempotency import IdempotencyKey
from baton.domain.ids import is_id, is_slug, sortable_id
from baton.domain.times import EPOCH, from_ms, parse_rfc3339, rfc3339, to_ms, whole_ms
from support.clock import NOON
from support.faults.soak import scaled
from support.values.tasks import MS
from support.worlds.world import agent, human, service

instants = st.datetimes(datetime(1970, 1, 1), datetime(2999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
many = settings(max_examples=scaled(200, 4), derandomize=True, database=None)


# Ids


@given(instants, instants, st.binary(min_size=10, max_size=10), st.binary(min_size=10, max_size=10))
@many
def test_ids_made_later_sort_later(one: datetime, other: datetime, a: bytes, b: bytes) -> None:
    first, second = sortable_id("task", one, a), sortable_id("task", other, b)
    if to_ms(one) != to_ms(other):
        assert (first < second) == (one < other)
    else:
        assert (first < second) == (a < b)
    assert len(first) == len("task_") + 26
    assert is_id(first)


def test_ids_of_one_moment_are_all_different() -> None:
    ids = RandomIds()
    made = [ids.new("clm", NOON) for _ in range(10_000)]
    assert len(set(made)) == 10_000
    assert len({each[:14] for each in made}) == 1
    assert len({ids.secret() for _ in range(100)}) == 100


@pytest.mark.parametrize("text", ["a", "A-1_b", "x" * 64, "task_01h"])
def test_ids_come_from_an_alphabet_that_is_safe_in_keys_and_urls(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize("text", ["", "x" * 65, "a b", "a/b", "a#b", "a\n", "\na", "é", "a.b", "a%20", "..", "a\x00"])
def test_other_ids_are_none(text: str) -> None:
    assert not is_id(text)


@pytest.mark.parametrize("text", ["a", "9", "a-b", "a--b", "x" * 63])
def test_slugs(text: str) -> None:
    assert is_slug(text)


@pytest.mark.parametrize("text", ["", "-", "-a", "a-", "A", "a_b", "x" * 64, "a\n", "a b", "é", "a#b", "a/b", "٣"])
def test_other_slugs_are_none(text: str) -> None:
    assert not is_slug(text)


# Times


@given(instants)
@many
def test_an_instant_survives_to_the_millisecond(at: datetime) -> None:
    assert parse_rfc3339(rfc3339(whole_ms(at))) == whole_ms(at)
    assert from_ms(to_ms(at)) == whole_ms(at) <= at
    assert at - whole_ms(at) < MS


def test_times_are_written_in_utc_with_three_digits() -> None:
    tokyo = timezone(timedelta(hours=9))
    assert rfc3339(datetime(2026, 1, 31, 21, 0, 0, 123_999, tzinfo=tokyo)) == "2026-01-31T12:00:00.123Z"
    assert rfc3339(NOON) == "2026-11-18T12:00:00.000Z"
    assert to_ms(EPOCH - MS) == -1


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-18T12:00:00Z", NOON),
        ("2026-11-18T12:00:00.000999+00:00", NOON),
        ("2026-11-18T21:00:00+09:00", NOON),
        ("2026-11-18T06:00:00-06:00", NOON),
    ],
)
def test_times_with_any_offset_are_read(text: str, at: datetime) -> None:
    assert parse_rfc3339(text) == at
    assert parse_rfc3339(text).utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-11-18",
        "2026-11-18T12:00:00",
        "2026-13-18T12:00:00Z",
        "2026-11-18T25:00:00Z",
        "2026-11-18T12:00:00+99:99",
        # Beyond the first and last year once they are in UTC.
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59.999-01:00",
    ],
)
def test_anything_else_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_rfc3339(text)


def test_the_machines_clock_is_aware_and_in_whole_milliseconds() -> None:
    now = SystemClock().now()
    assert now.tzinfo is UTC
    assert now == whole_ms(now)


# Idempotency keys


def test_a_key_means_one_thing_for_one_caller_in_one_place() -> None:
    asked = [
        IdempotencyKey(by, route, key, "h")
        for by in (agent("a"), agent("b"), agent("a", "other"), human(name="a"), service())
        for route in ("/x", "/y")
        for key in ("1", "2")
    ]
    assert len({idempotency_key.digest for idempotency_key in asked}) == len(asked)
    assert (
        IdempotencyKey(agent("a"), "/x", "1", "h").digest
        == IdempotencyKey(agent("a"), "/x", "1", "another body").digest
    )


def test_no_two_ways_to_split_the_parts_meet() -> None:
    by = agent("a")
    assert IdempotencyKey(by, "/x", "y1", "h").digest != IdempotencyKey(by, "/xy", "1", "h").digest
    assert IdempotencyKey(by, '/x","', "y", "h").digest != IdempotencyKey(by, "/x", '","y', "h").digest
    assert len(IdempotencyKey(by, "/x", "k" * 10_000, "h").digest) == 64
