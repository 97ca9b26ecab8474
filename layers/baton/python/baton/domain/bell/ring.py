"""What is rung, and for whom. Pure. A ring has no content: it says who should look, and when."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from baton.domain import times
from baton.domain.agents.agent import Runtime
from baton.domain.bell.listener import Topic, TopicKind
from baton.domain.ids import is_slug
from baton.domain.task_state import State
from baton.domain.tasks.task import Task

# A ring isn't sent longer ahead: a client that forgets nothing for so long is enough.
AHEAD = times.seconds(600)
# Work that nobody has claimed so long after it was due is rung for again, each time after twice as long.
AGAIN_AFTER_SECONDS = 2
MAX_ROUNDS = 12
# A look at what is due comes so much before it: who listens is told ahead.
BEFORE_IT_IS_DUE = times.seconds(3)
# How many are rung for one task at first: one that claims it, and one more.
FIRST_RUNG = 2
# Of one agent, at once. Who was rung looks until nothing is left.
MAX_RUNG = 20
# Who looks at lists is told once in this time by each process: of more changes, by when to look again.
LISTS_PAUSE = times.seconds(1)


@dataclass(frozen=True, slots=True)
class Ring:
    """``due_at``: when to look; None for now. ``about``: opaque, the same for the same cause."""

    topic: Topic
    due_at: datetime | None
    about: str

    @property
    def message(self) -> dict[str, Any]:
        due = {} if self.due_at is None else {"due_at": times.rfc3339(self.due_at)}
        return {"ring": str(self.topic), "id": self.about, **due}


def is_pulled(task: Task) -> bool:
    """True if a worker could claim the task now or at ``ready_at``."""
    is_ready = task.state is State.DELEGATED and task.ready_at is not None and not task.meta.parked
    return is_ready and task.meta.runtime is Runtime.PULL


def ring_for_work(task: Task, agent: str) -> Ring:
    """``about``: another one for another attempt, and for another approval: an agent that it lets through is rung."""
    about = opaque(task.id, task.attempt, *map(str, task.ok_by))
    return Ring(Topic(task.workspace, TopicKind.WORK, agent), task.ready_at, about)


def rings_around(task: Task) -> list[Ring]:
    """Returns the rings for those who only read: of the task, of the lists that it is in, and of the inbox of who
    handed it off."""
    about = opaque(task.id, task.meta.seq)
    rings = [Ring(Topic(task.workspace, TopicKind.TASK, task.id), None, about), ring_for_lists(task.workspace, about)]
    if task.is_ended and is_slug(task.source_agent):
        rings.append(Ring(Topic(task.workspace, TopicKind.INBOX, task.source_agent), None, about))
    return rings


def ring_for_lists(workspace: str, about: str) -> Ring:
    return Ring(Topic(workspace, TopicKind.LISTS), None, about)


def opaque(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]
