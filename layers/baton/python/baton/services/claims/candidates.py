"""In which order a claimer looks at the work that it may claim. Nothing is claimed here."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, islice

from baton.domain import errors, times
from baton.domain.agents.agent import lacking, requirements
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.queues import ReadyTask
from baton.steps.claims.take_task import Claimer
from baton.steps.questions.handoff_rules import is_held_back

MAX_CANDIDATES = 200
LOOKS_AGAIN = 2
# Less than one page of the queue, so that shuffling takes no further read.
SPREAD_OVER = 20
# The most marks that one search looks behind: one page. What is left comes with the next search.
MAX_MARKS = 25


@dataclass(slots=True, kw_only=True)
class Look:
    """How one search looks, and what it finds. ``is_contended``: other workers are likely to look for the same work
    now. ``ahead_seconds``: how far it looks for tasks of the agent's that will be due. ``known``: a task that was just
    read for a claim, and so isn't read again if it is the best.

    ``lost``: the tasks whose race was lost. ``due_at``: when the first task of the agent's is due that isn't due yet,
    as far ahead as it looks: the end of an undo window, or of a lease."""

    is_contended: bool = False
    sees_open_work: bool = True
    ahead_seconds: float = 0.0
    known: TaskDetails | None = None
    lost: list[ReadyTask] = field(default_factory=list)
    due_at: datetime | None = None


def candidates(deps: Deps, claimer: Claimer, look: Look) -> Iterator[ReadyTask]:
    """Yields first the agent's own queue, with its tasks whose lease is over, then open work within its declared
    capabilities that it didn't hand off itself; by priority, then first in, first out. A lost task comes again after
    the others of its priority: the race may have been lost to the sweeper's bookkeeping, which leaves the task ready.
    From then on, candidates of one priority come in random order, so that many concurrent searches don't meet at each
    task in turn. The search passes over work that approval rules hold back from the agent, and doesn't read it."""
    for ready in islice(_in_order(deps, claimer, look), MAX_CANDIDATES):
        if look.lost and look.lost[0].priority != ready.priority:
            yield from _once_more(look)
        yield ready
    yield from _once_more(look)


def _once_more(look: Look) -> Iterator[ReadyTask]:
    for _ in range(LOOKS_AGAIN):
        lost, look.lost = look.lost, []
        yield from lost
    look.lost = []


def _in_order(deps: Deps, claimer: Claimer, look: Look) -> Iterator[ReadyTask]:
    workspace, now, marks_left = claimer.by.workspace, deps.clock.now(), MAX_MARKS
    skills, own = deps.store.queues.ready(workspace, claimer.agent, now + times.seconds(look.ahead_seconds))
    for ready in _spread((ready for ready in own if _is_due(ready, now, look)), look):
        if ready.lapsed_claim is not None:
            marks_left -= 1
            if marks_left < 0 or not _is_lapsed(deps, claimer, ready):
                continue
        elif is_held_back(deps, workspace, claimer.agent, ready):
            continue
        yield ready
    if skills is None or not look.sees_open_work:
        return
    offers = frozenset(requirements(skills.accepts, skills.produces))
    for ready in _spread(deps.store.queues.open_work(workspace, now), look):
        is_for_it = ready.source != claimer.agent and not lacking(offers, ready.requires)
        if is_for_it and not is_held_back(deps, workspace, claimer.agent, ready):
            yield ready


def _spread(queue: Iterator[ReadyTask], look: Look) -> Iterator[ReadyTask]:
    for _, alike in groupby(queue, key=lambda ready: ready.priority):
        while some := list(islice(alike, SPREAD_OVER if look.is_contended else 1)):
            random.shuffle(some)
            yield from some


def _is_due(ready: ReadyTask, now: datetime, look: Look) -> bool:
    if ready.ready_at > now:
        look.due_at = min(look.due_at or ready.ready_at, ready.ready_at)
    return ready.ready_at <= now


def _is_lapsed(deps: Deps, claimer: Claimer, ready: ReadyTask) -> bool:
    """False if a claim holds the task whose lease isn't over after all: then its mark is moved on, so that it is looked
    at once per lease."""
    try:
        task, _ = deps.store.tasks.load(claimer.by.workspace, ready.task_id)
    except errors.Unknown:
        return False
    except errors.WrittenByNewer:
        log_unreadable(deps, ready)
        return False
    if task.is_lapsed(claimer.agent, deps.clock.now()):
        return True
    if task.claim is not None and task.claim.claim_id == ready.lapsed_claim:
        with suppress(errors.Busy):  # the next one who looks moves it
            deps.store.claims.move_mark(task)
    return False


def log_unreadable(deps: Deps, ready: ReadyTask) -> None:
    """One task that only a newer version can read doesn't keep the agent from its other work."""
    deps.log("a newer version has written a task", action="task_unreadable", task_id=ready.task_id)
