"""Calls that don't wait for each other: made one after the other, or concurrently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context

Calls = Sequence[Callable[[], object]]
# Makes all of them, in any order, and returns once none is under way. Raises what the first of those that failed, as
# they are listed, has raised; then some may not have been made.
RunCalls = Callable[[Calls], None]


def run_in_turn(calls: Calls) -> None:
    for call in calls:
        call()


class ConcurrentCalls:
    """Makes the first call in this thread and each other one in a thread of its own, which are kept."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="concurrent_calls")

    def __call__(self, calls: Calls) -> None:
        if len(calls) < 2:
            return run_in_turn(calls)
        here, *others = calls
        under_way = [self._pool.submit(copy_context().run, each) for each in others]
        try:
            here()
        finally:
            wait(under_way)
        for each in under_way:
            each.result()
        return None
