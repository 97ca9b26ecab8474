"""Retries on conflict."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from baton.domain import errors
from baton.ports.deps import Deps

ATTEMPTS = 12
FIRST_PAUSE_SECONDS = 0.01
LAST_PAUSE_SECONDS = 0.4

Answer = TypeVar("Answer")


def attempts(deps: Deps) -> Iterator[suppress]:
    """Yields contexts that end without an error after a ``Conflict``: at most 12, with jittered pauses. Whoever decides
    in one reads anew in it, agents and settings too: a decision is never committed on another attempt's read. After the
    last, ``too_many_changes`` is raised."""
    for attempt in range(ATTEMPTS):
        yield suppress(errors.Conflict)
        deps.store.read_anew()
        longest = min(FIRST_PAUSE_SECONDS * 2**attempt, LAST_PAUSE_SECONDS)
        deps.clock.sleep(random.uniform(0, longest))  # noqa: S311 - spreads retries, keeps no secret


def too_many_changes() -> errors.Busy:
    return errors.Busy("Too many changes at once; the same request may be sent again.")


def retry_on_conflict(deps: Deps, decide_and_commit: Callable[[], Answer]) -> Answer:
    """Calls until there is no ``Conflict``, as often as ``attempts`` says. Raises ``Busy`` then."""
    for attempt in attempts(deps):
        with attempt:
            return decide_and_commit()
    raise too_many_changes()
