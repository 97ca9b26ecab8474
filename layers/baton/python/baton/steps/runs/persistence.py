"""Writes that aren't given up as long as there is time: a reply was paid for."""

from __future__ import annotations

from collections.abc import Callable

from baton.domain import errors
from baton.steps.runs.run_context import RunContext

PAUSES = (1.0, 4.0, 10.0)


def persistently(run: RunContext, write: Callable[[], object]) -> None:
    """Tries again after a pause while the store is busy. Raises ``Busy`` once there is no time left for it."""
    for pause in (*PAUSES, None):
        try:
            write()
        except errors.Busy:
            if pause is None or run.work.time_left() < pause:
                raise
            run.deps.clock.sleep(pause)
        else:
            return
