"""Calls that don't wait for each other: each is made, and nothing is under way afterwards."""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from threading import Barrier, Event

import pytest

from baton.adapters.dynamodb.concurrent_calls import ConcurrentCalls, RunCalls, run_in_turn

BOTH = [run_in_turn, ConcurrentCalls(2)]
NAME: ContextVar[str] = ContextVar("name", default="nobody")


@pytest.mark.parametrize("together", BOTH)
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_every_call_is_made_once(together: RunCalls, count: int) -> None:
    made: list[int] = []
    together([partial(made.append, number) for number in range(count)])
    assert sorted(made) == list(range(count))


def test_side_by_side_they_overlap() -> None:
    meeting = Barrier(3, timeout=10)
    ConcurrentCalls(2)([meeting.wait] * 3)
    assert not meeting.broken


@pytest.mark.parametrize("together", BOTH)
def test_the_first_failure_in_their_order_is_raised(together: RunCalls) -> None:
    def fail(name: str) -> None:
        raise ValueError(name)

    with pytest.raises(ValueError, match="second"):
        together([lambda: None, lambda: fail("second"), lambda: fail("third")])


def test_nothing_is_under_way_when_a_failure_is_raised() -> None:
    begun, ended = Event(), Event()

    def slow() -> None:
        begun.set()
        ended.wait(0.05)
        ended.set()

    def fail() -> None:
        begun.wait(10)
        raise ValueError

    with pytest.raises(ValueError):
        ConcurrentCalls(1)([fail, slow])
    assert ended.is_set()


@pytest.mark.parametrize("together", BOTH)
def test_each_call_sees_the_callers_context(together: RunCalls) -> None:
    seen: list[str] = []
    token = NAME.set("alice")
    try:
        together([lambda: seen.append(NAME.get()), lambda: seen.append(NAME.get())])
    finally:
        NAME.reset(token)
    assert seen == ["alice", "alice"]
