"""Workers: each thing once, several at once, and what goes wrong is heard of."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier, get_ident

import pytest

from baton.adapters.worker_threads import WorkerThreads
from baton.ports.system import Workers, in_turn
from support.faults.threads import eager_switching

MANY = 2_000


@pytest.mark.parametrize("workers", [in_turn, WorkerThreads(1), WorkerThreads(8)], ids=["in_turn", "one", "eight"])
def test_each_thing_is_done_once(workers: Workers) -> None:
    with eager_switching():
        assert sorted(workers((each for each in range(MANY)), lambda each: each * 2)) == [2 * n for n in range(MANY)]


def test_in_turn_keeps_the_order_and_the_thread() -> None:
    assert in_turn(iter("abc"), lambda each: (each, get_ident())) == [(each, get_ident()) for each in "abc"]


def test_threads_work_at_once() -> None:
    """Each waits for the other three."""
    meet = Barrier(4)
    assert len(WorkerThreads(4)(range(8), lambda _each: meet.wait(timeout=60))) == 8


@pytest.mark.parametrize("workers", [in_turn, WorkerThreads(4)], ids=["in_turn", "threads"])
def test_what_things_raise_is_raised(workers: Workers) -> None:
    def things() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        workers(things(), lambda each: each)


@pytest.mark.parametrize("workers", [in_turn, WorkerThreads(4)], ids=["in_turn", "threads"])
def test_what_the_work_raises_is_raised(workers: Workers) -> None:
    def work(each: int) -> int:
        if each == 7:
            raise ValueError("seven")
        return each

    with pytest.raises(ValueError, match="seven"):
        workers(range(20), work)
