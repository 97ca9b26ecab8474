"""The effect of a person's or bot's change of a page on its task (the rule: domain/tracker/page_changes.py)."""

from __future__ import annotations

from contextlib import suppress

from baton.domain.access.principal import SYNC_TRACKER, system, tracker_human
from baton.domain.errors import TaskEnded
from baton.domain.escalations.marker import one_line
from baton.domain.tasks.commands import Cancel, FlagClosedByBot, Resolve
from baton.domain.tasks.task import Flag, State, Task
from baton.domain.tasks.task_items import Note
from baton.domain.tracker.page_changes import Editor, Ended, PageChange, PageSnapshot
from baton.domain.tracker.page_fields import plain
from baton.ports.deps import Deps
from baton.ports.writes import CloseEscalation, Insert, Write
from baton.steps.idempotency import apply_once_per_edit
from baton.steps.tasks.change_task import TaskItems, TaskRequest, change_task

MAX_NAME = 100


def end_task(deps: Deps, task: Task, news: Ended, seen: PageSnapshot, editor: Editor) -> None:
    """Ends the task in the name of the person who closed the page. The first end stands."""
    by = tracker_human(task.workspace, editor.id)
    name = one_line(plain(editor.name)).strip()[:MAX_NAME]
    reason = f"set to {seen.status!r} in {deps.trackers.name}" + (f" by {name}" if name else "")
    command = Resolve(by=by, reason=reason) if news.state is State.DONE else Cancel(by=by, reason=reason)
    with suppress(TaskEnded):
        change_task(deps, TaskRequest(task.workspace, task.id), lambda _: command)


def flag_closed_by_bot(deps: Deps, task: Task, news: Ended | PageChange) -> None:
    """A bot's closing frees the direction, but doesn't end the task (docs/spec/lifecycle.md §1)."""
    if not isinstance(news, Ended) or Flag.CLOSED_BY_BOT in task.flags:
        return
    command = FlagClosedByBot(by=system(task.workspace, SYNC_TRACKER))
    with suppress(TaskEnded):
        change_task(
            deps, TaskRequest(task.workspace, task.id), lambda _: command, TaskItems(also=_direction_freed(task))
        )


def _direction_freed(task: Task) -> list[Write]:
    """The write that frees the direction of an escalation with a target."""
    if not task.is_escalation or task.target_agent is None:
        return []
    return [CloseEscalation(task.source_agent, task.target_agent, task.id)]


def free_direction(deps: Deps, task: Task, seen: PageSnapshot) -> None:
    """The escalation counts as closed, whoever closed it (docs/spec/marker.md §4), also if its author can't be
    known."""
    if task.is_escalation and not task.is_ended:
        apply_once_per_edit(
            deps, system(task.workspace, SYNC_TRACKER), "closings in doubt", seen, _direction_freed(task)
        )


def note_reopening(deps: Deps, task: Task, seen: PageSnapshot, editor: Editor) -> None:
    """An ended task never changes again: the reopening is saved as a note."""
    now = deps.clock.now()
    by = tracker_human(task.workspace, editor.id)
    note = Note(task.id, deps.ids.new("note", now), now, by.key, {"reopened_in_tracker": seen.status})
    apply_once_per_edit(deps, system(task.workspace, SYNC_TRACKER), "reopenings", seen, [Insert(note)])
