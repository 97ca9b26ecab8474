"""How calls are made that don't wait for each other: one after the other, or side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context

Calls = Sequence[Callable[[], object]]
# Makes all of them, in any order, and returns once none is under way. Raises what the first of those that failed, as
# they are listed, has raised; then some may not have been made.
Together = Callable[[Calls], None]


def in_turn(calls: Calls) -> None:
    for call in calls:
        call()


class SideBySide:
    """Makes the first call in this thread and each other one in a thread of its own, which are kept."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="together")

    def __call__(self, calls: Calls) -> None:
        if len(calls) < 2:
            return in_turn(calls)
        here, *others = calls
        under_way = [self._pool.submit(copy_context().run, each) for each in others]
        try:
            here()
        finally:
            wait(under_way)
        for each in under_way:
            each.result()
        return None
