"""The effect of a person's or bot's change of a page on its task (the rule: domain/tracker/page_changes.py)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import SYNC_TRACKER, Principal, system
from baton.domain.one_line import one_line
from baton.domain.task_state import State
from baton.domain.tasks import commands
from baton.domain.tasks.task import Flag, Task
from baton.domain.tasks.task_items import Note
from baton.domain.tracker import page_changes
from baton.domain.tracker.page_fields import plain
from baton.ports.deps import Deps
from baton.ports.writes import CloseEscalation, Insert
from baton.steps import idempotency
from baton.steps.access.person_rights import editor_of
from baton.steps.tasks.change_task import TaskItems, TaskRequest, change_task

MAX_NAME = 100


def end_task(
    deps: Deps, task: Task, news: page_changes.ClosedPage, seen: page_changes.PageSnapshot, editor: page_changes.Editor
) -> None:
    """Ends the task in the name of the person who closed the page. The first end stands. A person with too low a right
    ends nothing: a note states it."""
    by = editor_of(deps, task.workspace, editor.id)
    name = one_line(plain(editor.name)).strip()[:MAX_NAME]
    reason = f"set to {seen.status!r} in {deps.trackers.name}" + (f" by {name}" if name else "")
    command = (
        commands.Resolve(by=by, reason=reason) if news.state is State.DONE else commands.Cancel(by=by, reason=reason)
    )
    try:
        change_task(deps, TaskRequest(task.workspace, task.id), lambda _: command)
    except errors.TaskEnded:
        return
    except errors.RightNeeded as refusal:
        _note(deps, task, seen, by, {"refused_in_tracker": seen.status, "right": refusal.fields["right"]})


def flag_closed_unknown(deps: Deps, task: Task, news: page_changes.ClosedPage | page_changes.PageChange) -> None:
    """A closing by a bot, or by an unknown editor, frees the direction, but doesn't end the task
    (docs/spec/lifecycle.md §1)."""
    if not isinstance(news, page_changes.ClosedPage) or Flag.CLOSED_BY_BOT in task.flags:
        return
    command = commands.FlagClosedByBot(by=system(task.workspace, SYNC_TRACKER))
    with suppress(errors.TaskEnded):
        change_task(
            deps, TaskRequest(task.workspace, task.id), lambda _: command, TaskItems(also=_direction_freed(task))
        )


def _direction_freed(task: Task) -> list[CloseEscalation]:
    """The write that frees the direction of an escalation with a target."""
    if not task.is_escalation or task.target_agent is None:
        return []
    return [CloseEscalation(task.source_agent, task.target_agent, task.id)]


def free_direction(deps: Deps, task: Task, seen: page_changes.PageSnapshot) -> None:
    """The escalation counts as closed, whoever closed it (docs/spec/marker.md §4), also if its author can't be
    known."""
    if task.is_escalation and not task.is_ended:
        idempotency.apply_once_per_edit(
            deps, system(task.workspace, SYNC_TRACKER), "closings in doubt", seen, _direction_freed(task)
        )


def note_reopening(deps: Deps, task: Task, seen: page_changes.PageSnapshot, editor: page_changes.Editor) -> None:
    """An ended task never changes again: the reopening is saved as a note."""
    by = editor_of(deps, task.workspace, editor.id)
    _note(deps, task, seen, by, {"reopened_in_tracker": seen.status})


def _note(deps: Deps, task: Task, seen: page_changes.PageSnapshot, by: Principal, content: dict[str, Any]) -> None:
    """Saves a note about an edit of the page that changes nothing."""
    now = deps.clock.now()
    note = Note(task.id, deps.ids.new("note", now), now, by.key, content)
    idempotency.apply_once_per_edit(deps, system(task.workspace, SYNC_TRACKER), "reopenings", seen, [Insert(note)])
