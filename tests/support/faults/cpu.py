"""The processor time of a call, without what a busy machine and coverage's tracing add to it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

ResultT = TypeVar("ResultT")

# `make bench` bounds these calls by 0.3 s. A test may share its core with others, and what it is to find took seconds.
MOST_SECONDS = 1.0
_TRIES = 3


def least_seconds(act: Callable[[], ResultT]) -> tuple[float, ResultT]:
    """Returns the CPU seconds of the quickest of three runs, and the result of the last one. A run within
    ``MOST_SECONDS`` is the last."""
    tracing = sys.gettrace()
    sys.settrace(None)
    try:
        took: list[float] = []
        for _ in range(_TRIES):
            begun = time.process_time()
            result = act()
            took.append(time.process_time() - begun)
            if took[-1] < MOST_SECONDS:
                break
        return min(took), result
    finally:
        sys.settrace(tracing)
