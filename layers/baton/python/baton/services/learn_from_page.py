"""The effect of a person's or bot's change of a task's page on the task (the rule is in domain/page_news.py)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from baton.domain.errors import KeyTaken, TaskEnded
from baton.domain.idempotency import Once
from baton.domain.marker import one_line
from baton.domain.page_news import Ended
from baton.domain.principal import SYNC_TRACKER, system, tracker_human
from baton.domain.sheet import plain
from baton.domain.task import Flag, State
from baton.domain.times import rfc3339
from baton.domain.verbs import Cancel, FlagClosedByBot, Resolve
from baton.domain.webhook import REPLAY_WINDOW
from baton.ports import Closed, Note, Remember
from baton.services.change_task import change_task
from baton.services.retrying import decided_again

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baton.domain.page_news import Editor, News, Seen
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.ports import Baton, Extra


MAX_NAME = 100


def end_task(baton: Baton, task: Task, news: Ended, seen: Seen, editor: Editor) -> None:
    """Ends the task in the name of the person who closed the page. The first end stands."""
    by = tracker_human(task.workspace, editor.id)
    name = one_line(plain(editor.name)).strip()[:MAX_NAME]
    reason = f"set to {seen.status!r} in Notion" + (f" by {name}" if name else "")
    command = Resolve(by=by, reason=reason) if news.state is State.DONE else Cancel(by=by, reason=reason)
    with suppress(TaskEnded):
        change_task(baton, task.workspace, task.id, lambda _: command)


def flag_closed_by_bot(baton: Baton, task: Task, news: Ended | News) -> None:
    """A bot's closing frees the direction, but doesn't end the task (docs/spec/lifecycle.md §1)."""
    if not isinstance(news, Ended) or Flag.CLOSED_BY_BOT in task.flags:
        return
    command = FlagClosedByBot(by=system(task.workspace, SYNC_TRACKER))
    freed: list[Extra] = _direction_freed(task)
    with suppress(TaskEnded):
        change_task(baton, task.workspace, task.id, lambda _: command, also=lambda _: freed)


def _direction_freed(task: Task) -> list[Extra]:
    """The extra write that frees the direction of an escalation with a target."""
    if not task.is_escalation or task.target_agent is None:
        return []
    return [Closed(task.source_agent, task.target_agent, task.id)]


def free_direction(baton: Baton, task: Task, seen: Seen) -> None:
    """The escalation counts as closed, whoever closed it (docs/spec/marker.md §4), also if its author can't be
    known."""
    if task.is_escalation and not task.is_ended:
        once_for_edit(baton, system(task.workspace, SYNC_TRACKER), "closings in doubt", seen, _direction_freed(task))


def note_reopening(baton: Baton, task: Task, seen: Seen, editor: Editor) -> None:
    """An ended task never changes again: the reopening is saved as a note."""
    now = baton.clock.now()
    by = tracker_human(task.workspace, editor.id)
    note = Note(task.id, baton.ids.new("note", now), now, by.key, {"reopened_in_tracker": seen.status})
    once_for_edit(baton, system(task.workspace, SYNC_TRACKER), "reopenings", seen, [note])


def once_for_edit(baton: Baton, by: Principal, what: str, seen: Seen, extras: Sequence[Extra]) -> bool:
    """Commits ``extras`` once per edit of a page, however often the edit is seen. False if that was done before."""
    edit = f"{seen.page_id} {rfc3339(seen.edited_at)} {seen.status} {seen.in_trash}"
    return once_only(baton, Once(by, what, edit, ""), extras)


def once_only(baton: Baton, once: Once, extras: Sequence[Extra]) -> bool:
    """Commits ``extras`` once, for as long as a repeat is possible. False if that was done before."""

    def attempt() -> bool:
        saved = Remember(once, {}, baton.clock.now() + 2 * REPLAY_WINDOW)
        try:
            baton.store.commit(once.principal.workspace, None, [*extras, saved])
        except KeyTaken:
            return False
        return True

    return decided_again(baton.clock, attempt)
