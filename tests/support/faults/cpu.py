"""What the CPU is asked for, apart from what a busy machine and the coverage's tracing add."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

ResultT = TypeVar("ResultT")

# What `make bench` holds to 0.3 s. A test may run beside others on a shared core: what it is to find took seconds.
MOST_SECONDS = 1.0
_TRIES = 3


def least_seconds(act: Callable[[], ResultT]) -> tuple[float, ResultT]:
    """CPU seconds of the quickest of three runs (one is enough if it stays within ``MOST_SECONDS``), and what the last
    run answered."""
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
