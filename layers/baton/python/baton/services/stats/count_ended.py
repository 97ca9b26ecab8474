"""Counts each task that has ended, once, into the counts of its direction and day
(docs/decisions/102-counters-are-exact.md).

A task keeps its place in the outbox until its end is counted. Whoever counts it names it in the counts, by the same
write, and takes the place away afterwards. Who dies in between has left the name: it stays in the counts for as long as
the task has its place. So a task without a place is counted, and of one with a place the counts themselves tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from baton.domain.stats.day_counts import ONE_UNIT_BYTES, DayPlace, EndFigures, figures_of, place_of
from baton.domain.tasks.spans import spans_of
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import Event
from baton.ports.deps import Deps
from baton.ports.system import Workers, in_turn
from baton.steps.retrying import retry_on_conflict

# Of one write: an item of so many names has two to three KB, and costs as many units for all of them.
MAX_AT_ONCE = 50
# A longer trail is counted by its end alone: reading it would hold up the events of others.
MAX_EVENTS, _PAGE = 1_000, 200

Counted = set[tuple[str, str]]


def count_ended(deps: Deps, ended: Iterable[Task], workers: Workers = in_turn) -> Counted:
    """Returns workspace and id of those that are counted, now or before. Never raises: the schedule counts the others
    again."""
    places: dict[DayPlace, list[Task]] = {}
    for task in ended:
        places.setdefault(place_of(task), []).append(task)
    parts = [(place, part) for place, tasks in places.items() for part in _parts(tasks)]
    done = workers(parts, lambda part: _count(deps, *part)) if parts else []
    return {(task.workspace, task.id) for task in chain.from_iterable(done)}


def _parts(tasks: list[Task]) -> Iterator[Sequence[Task]]:
    return (tasks[start : start + MAX_AT_ONCE] for start in range(0, len(tasks), MAX_AT_ONCE))


def _count(deps: Deps, place: DayPlace, tasks: Sequence[Task]) -> Sequence[Task]:
    try:
        figures = [_figures(deps, task) for task in tasks]
        retry_on_conflict(deps, lambda: _put(deps, place, figures))
    except Exception as exc:  # noqa: BLE001 - whatever it is: no event waits for a counter
        deps.log("ended tasks weren't counted", action="ends_uncounted", tasks=len(tasks), error=type(exc).__name__)
        return ()
    return tasks


def _put(deps: Deps, place: DayPlace, figures: Sequence[EndFigures]) -> None:
    """The counts are read first. A task that has its place afterwards is then either named in them, or not counted by
    them. A name goes only if its task has left its place, so one that is missing never was there."""
    counts = deps.store.stats.day_counts(place)
    is_full = counts.with_ended(figures).size > ONE_UNIT_BYTES
    asked = [*(each.task_id for each in figures), *(counts.latest if is_full else ())]
    known = deps.store.outbox.counted(place.workspace, list(dict.fromkeys(asked)))
    fresh = [each for each in figures if each.task_id not in known and each.task_id not in counts.latest]
    if fresh:
        deps.store.stats.put_counts(counts.with_ended(fresh, forgotten=known))


def _figures(deps: Deps, task: Task) -> EndFigures:
    """A trail that can't be read, or is too long, says nothing of the times."""
    try:
        spans = list(spans_of(_events(deps, task), task.meta.updated_at)) if task.meta.seq <= MAX_EVENTS else []
    except (AttributeError, KeyError, TypeError, ValueError):
        spans = []
    tokens = 0
    if task.is_run and task.fence:
        tokens = deps.store.runs.usage(task.workspace, task.workflow_id, task.id)[0].tokens
    return figures_of(task, spans, tokens)


def _events(deps: Deps, task: Task) -> Iterator[Event]:
    after = 0
    while after < task.meta.seq:
        page = deps.store.trail.events(task.workspace, task.id, after, _PAGE)
        if not page:
            return
        yield from page
        after = page[-1].seq
