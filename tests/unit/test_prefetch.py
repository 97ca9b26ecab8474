"""Items that are made while the one before is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from threading import Barrier

import pytest

from baton.adapters.prefetch import prefetched

NAME: ContextVar[str] = ContextVar("name", default="nobody")


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_every_item_comes_once_and_in_order(count: int) -> None:
    assert list(prefetched(iter(range(count)))) == list(range(count))


def test_the_next_item_is_made_while_one_is_used() -> None:
    meeting = Barrier(2, timeout=10)

    def slow() -> Iterator[int]:
        yield 0
        meeting.wait()
        yield 1

    items = prefetched(slow())
    assert next(items) == 0
    meeting.wait()
    assert list(items) == [1]


def test_no_more_than_the_next_one_is_made() -> None:
    made: list[int] = []

    def counted() -> Iterator[int]:
        for number in range(5):
            made.append(number)
            yield number

    items = prefetched(counted())
    next(items)
    items.close()  # type: ignore[attr-defined]
    assert made == [0, 1]


def test_a_failure_comes_after_the_items_before_it() -> None:
    def failing() -> Iterator[int]:
        yield 0
        raise ValueError("second")

    items = prefetched(failing())
    assert next(items) == 0
    with pytest.raises(ValueError, match="second"):
        next(items)


def test_each_item_is_made_in_the_callers_context() -> None:
    token = NAME.set("alice")
    try:
        assert list(prefetched(NAME.get() for _ in range(3))) == ["alice"] * 3
    finally:
        NAME.reset(token)
