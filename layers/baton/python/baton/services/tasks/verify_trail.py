"""Verifies a task's trail: that it is whole and unaltered, and that it gives the stored task."""

from __future__ import annotations

from dataclasses import dataclass

from baton.domain.access.principal import Principal
from baton.domain.rights.read_rights import reads_all
from baton.domain.tasks import trail
from baton.domain.tasks.check_cursor import check_at, cursor_of
from baton.domain.tasks.question_check import agrees, uncovered
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail_check import Content, TrailCheck
from baton.ports.deps import Deps
from baton.steps.access.read_rights import readable_task

EVENTS_PER_PAGE = 100
QUESTIONS_PER_PAGE = 25
# In one call: some two seconds.
MAX_ENTRIES = 10_000
# The errors of parsing an item that somebody damaged.
UNREADABLE = (AttributeError, KeyError, TypeError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailFindings:
    """The result of a verification."""

    task_id: str
    intact: bool
    events: int
    broken_at: int | None  # the first entry that is wrong
    problem: str | None  # in a sentence
    head_hash: str | None  # of the last entry that is right; None if none is
    next_cursor: str | None = None  # to go on with; None at the end of the trail, or where it is broken
    matches_task: bool  # folding the trail gives the stored task, and its digests are those of the stored content
    not_covered: tuple[str, ...] = ()  # ids of questions of an earlier release: their texts and answers have no digest


def verify_trail(deps: Deps, by: Principal, task_id: str, cursor: str | None = None) -> TrailFindings:
    """A broken trail is a result, not an error. ``cursor``: of the answer before, to go on after it. Raises ``Unknown``
    and ``InvalidInput``."""
    so_far = TrailCheck() if cursor is None else check_at(cursor)
    if not reads_all(by):
        readable_task(deps, by, task_id)
    reading, task = _read(deps, by.workspace, task_id, so_far)
    intact = reading.broken_at is None
    if task is None:
        return _unfinished(task_id, reading)
    altered = _altered(deps, reading, task) if intact else ()
    if altered and deps.store.tasks.load(by.workspace, task_id)[0].meta.seq != task.meta.seq:
        return _unfinished(task_id, reading)  # the task changed while its content was read
    differences = (*reading.differences(task), *altered) if intact else ()
    differs = f"The task isn't what its trail tells: {', '.join(differences)}." if differences else None
    return TrailFindings(
        task_id=task_id,
        intact=intact,
        events=reading.entries,
        broken_at=reading.broken_at,
        problem=reading.problem or differs,
        head_hash=None if reading.hash == trail.GENESIS else reading.hash,
        matches_task=intact and not differences,
        not_covered=uncovered(reading.questions),
    )


def _unfinished(task_id: str, reading: TrailCheck) -> TrailFindings:
    """Nothing wrong so far. Whether it agrees with the task is known at the end."""
    return TrailFindings(
        task_id=task_id,
        intact=True,
        events=reading.entries,
        broken_at=None,
        problem=f"The first {reading.entries} entries are checked: go on with next_cursor.",
        head_hash=reading.hash,
        next_cursor=cursor_of(reading),
        matches_task=False,
    )


def _altered(deps: Deps, reading: TrailCheck, task: Task) -> tuple[str, ...]:
    """Returns what of the task's content isn't as its trail has the digest of. The content is read after the task: what
    an end brought meanwhile is in no entry that was read, and isn't compared."""
    try:
        stored = deps.store.tasks.read(task.workspace, task.id, with_body=True)
    except UNREADABLE:
        return ("content",)
    content = reading.content_differences(task, Content(stored.body, stored.output, stored.completion))
    return (*content, *_altered_questions(deps, reading, task))


def _altered_questions(deps: Deps, reading: TrailCheck, task: Task) -> tuple[str, ...]:
    """Returns the questions that aren't as the trail states them. A page of them is in memory at a time."""
    missing, cursor, altered = set(reading.questions), None, list[str]()
    try:
        while True:
            page = deps.store.questions.page_of_task(task.workspace, task.id, QUESTIONS_PER_PAGE, cursor)
            for each in page.items:
                missing.discard(each.id)
                if not agrees(reading.questions.get(each.id), each, is_ended=task.is_ended):
                    altered.append(each.id)
            if (cursor := page.cursor) is None:
                break
    except UNREADABLE:
        return ("questions",)
    return tuple(f"question {each}" for each in sorted([*altered, *missing]))


def _read(deps: Deps, workspace: str, task_id: str, so_far: TrailCheck) -> tuple[TrailCheck, Task | None]:
    """The trail to its end, and the task at that moment: an entry that is written meanwhile doesn't make the trail look
    too long. None for the task where there is more than one call checks."""
    reading, after, limit = so_far, so_far.entries, EVENTS_PER_PAGE
    while True:
        if reading.broken_at is None and reading.entries - so_far.entries >= MAX_ENTRIES:
            return reading, None
        try:
            page = deps.store.trail.events(workspace, task_id, after, limit)
        except UNREADABLE:
            # The page has an entry that Baton can't have written: read one by one up to it, then continue. A HEAD that
            # can't be read, or that knows of no such entry, ends it.
            task, _ = deps.store.tasks.load(workspace, task_id)
            if limit == 1:
                reading, after = reading.past_unreadable(), after + 1
                if after > task.meta.seq:
                    return reading.ended_as(task), task
            limit = 1 if limit > 1 else EVENTS_PER_PAGE
            continue
        reading = reading.on(page)
        # By count and number: missing entries make the numbers run ahead of the count, and a forged number may lag
        # behind it.
        after = max([after + len(page), *(event.seq for event in page[-1:])])
        if len(page) == limit:
            continue
        task, _ = deps.store.tasks.load(workspace, task_id)
        if not page or reading.entries >= task.meta.seq:
            return reading.ended_as(task), task
