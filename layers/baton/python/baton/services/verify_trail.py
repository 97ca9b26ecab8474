"""Whether a task's trail is whole, unaltered, and tells of the task as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from baton.domain.events import GENESIS
from baton.domain.reading import reads_all
from baton.domain.trail_check import Reading
from baton.services.reading import readable_task

if TYPE_CHECKING:
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.ports import Baton

EVENTS_PER_PAGE = 100
# What comes of making an entry out of a row that somebody spoiled.
UNREADABLE = (AttributeError, KeyError, TypeError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """``broken_at``: the first entry that doesn't hold; ``problem``: what is wrong, in a sentence. ``head_hash``: of
    the last entry that holds, None if none does. ``matches_task``: folding the trail gives the stored task."""

    task_id: str
    intact: bool
    events: int
    broken_at: int | None
    problem: str | None
    head_hash: str | None
    matches_task: bool


def verify_trail(baton: Baton, by: Principal, task_id: str) -> Verdict:
    """A broken trail is an answer, no error. Raises ``Unknown``."""
    if not reads_all(by):
        readable_task(baton, by, task_id)
    reading, task = _whole(baton, by.workspace, task_id)
    intact = reading.broken_at is None
    differences = reading.differences(task) if intact else ()
    differs = f"The task isn't what its trail tells: {', '.join(differences)}." if differences else None
    return Verdict(
        task_id=task_id,
        intact=intact,
        events=reading.entries,
        broken_at=reading.broken_at,
        problem=reading.problem or differs,
        head_hash=None if reading.hash == GENESIS else reading.hash,
        matches_task=intact and not differences,
    )


def _whole(baton: Baton, workspace: str, task_id: str) -> tuple[Reading, Task]:
    """The trail to its end, and the task of then: an entry that is written meanwhile makes no trail look too long."""
    reading, after, limit = Reading(), 0, EVENTS_PER_PAGE
    while True:
        try:
            page = baton.store.events(workspace, task_id, after, limit)
        except UNREADABLE:
            # Among the page's entries is one that nobody can have written through Baton: one by one up to it, then on.
            if limit == 1:
                reading, after = reading.past_unreadable(), after + 1
            limit = 1 if limit > 1 else EVENTS_PER_PAGE
            continue
        reading = reading.on(page)
        # By both: where entries are missing the numbers run ahead of the count, and a forged one may lag behind it.
        after = max([after + len(page), *(event.seq for event in page[-1:])])
        if len(page) == limit:
            continue
        task, _ = baton.store.load(workspace, task_id)
        if not page or reading.entries >= task.seq:
            return reading.ended_as(task), task
