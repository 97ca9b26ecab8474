"""One errand to the tracker for a row that is held. Between any two calls we may die; what holds then:

- once the row is held, nobody else sends for a minute beyond our budget, by when whatever we asked for has happened;
- after the page was made, before its id is kept: the next sender finds it, and keeps it;
- after the page was changed, before that is noted: it is changed once more, to the state as it is then;
- after somebody's closing ended the task, before that is noted: the task has ended, and nothing is written;
- after the comment, before that is noted: the next sender sees it there.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from baton.domain.errors import Conflict, NotPermitted, PageHeld, PageRefused, TaskEnded
from baton.domain.mirror import Mirror, PageRef, Sync
from baton.domain.page_news import Ended, News, news_of
from baton.domain.principal import SYNC_TRACKER, is_tracker_human, system, tracker_human
from baton.domain.sheet import closing_comment, reopened_comment, sheet_of
from baton.domain.task import Flag, State
from baton.domain.tracker import folded
from baton.domain.verbs import Cancel, FlagClosedByBot, Resolve
from baton.ports import Closed, Dossier, Made, MirrorSaved, Note, PageTaken
from baton.services.change_task import change_task
from baton.services.retrying import decided_again

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from baton.domain.events import Event
    from baton.domain.page_news import Seen
    from baton.domain.sheet import Sheet
    from baton.domain.task import Task
    from baton.domain.tracker import TrackerSettings
    from baton.ports import Baton, Extra, Tracker

MAX_CANDIDATES = 100
IN_TRASH = "The page is in Notion's trash: restore it there. The task goes on without it."


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of it. ``page``: None if there is none (yet); ``message``: why, or what the page had to be made
    without."""

    page: PageRef | None
    status: Sync
    message: str = ""
    is_denied: bool = False


@dataclass
class Delivery:
    """``row`` as we know it; what others change of it meanwhile is found when it is saved."""

    baton: Baton
    settings: TrackerSettings
    tracker: Tracker
    dossier: Dossier
    row: Mirror = field(init=False)
    doubt: str = field(init=False, default="")

    def __post_init__(self) -> None:
        if self.dossier.mirror is None:
            raise ValueError(self.dossier.task.id)
        self.row = self.dossier.mirror

    @property
    def workspace(self) -> str:
        return self.task.workspace

    @property
    def task(self) -> Task:
        return self.dossier.task

    @property
    def sheet(self) -> Sheet:
        return sheet_of(self.task, self.dossier.body, self.baton.task_url(self.task.id))

    def run(self) -> Sent:
        looked, extras = self.row.looks, []
        if self.row.page is None and not self.row.is_first:
            self._keep_found_page()
        if self.row.page is None:
            made = self.tracker.create(self.sheet)
            self.row = replace(self.row, page=made.page)
            extras.append(PageTaken(made.page.id, self.task.id))
        else:
            made = self._shown(self.row.page)
        if self.task.is_ended and not self.row.is_settled:
            made = replace(made, without=(*made.without, *self._tell_the_end(made.page)))
        self._note(made, looked, extras)
        return Sent(made.page, Sync.OK, " ".join(made.without), made.is_denied)

    def save(self, change: Callable[[Mirror], Mirror], extras: Sequence[Extra] = ()) -> None:
        """Onto the row as it is by now; not at all if somebody else holds it."""

        def attempt() -> None:
            after = replace(change(self.row), version=self.row.version + 1)
            try:
                self.baton.store.commit(self.workspace, None, [MirrorSaved(after), *extras])
            except Conflict:
                held = self.baton.store.mirror(self.workspace, self.task.id)
                if held is None or held.sender != self.row.sender:
                    self.baton.log("the row was lost", action="mirror_lost", task_id=self.task.id)
                    return
                self.row = replace(held, page=held.page or self.row.page)
                raise
            self.row = after

        decided_again(self.baton.clock, attempt)

    def _note(self, made: Made, looked: int, extras: Sequence[Extra]) -> None:
        task, settled, now = self.task, self.task.is_ended, self.baton.clock.now()
        note = " ".join(made.without)
        self.save(lambda held: held.sent(task, looked, made.status, now, note=note, settled=settled), extras)

    def _keep_found_page(self) -> None:
        """The page that an earlier sender made, if it did. Kept before anything else is done with it: it may be another
        task's, whose own sender looks for it at this very moment."""
        found = self.tracker.find(self.sheet)[:MAX_CANDIDATES]
        holders = self.baton.store.page_holders(self.workspace, [page.id for page in found])
        for page in found:
            if holders.get(page.id, self.task.id) == self.task.id and self._keep(page):
                return

    def _keep(self, page: PageRef) -> bool:
        try:
            self.save(lambda held: replace(held, page=page), [PageTaken(page.id, self.task.id)])
        except PageHeld:
            return False
        return True

    def _shown(self, page: PageRef) -> Made:
        """The page as it should be. What people did to it meanwhile is learnt before anything is written over it."""
        if not self._needs_a_look():
            return Made(page, self.row.page_status)
        seen = self.tracker.look(page.id)
        if not seen.by_us:
            self._learn(seen)
        if self.doubt:
            return Made(page, self.row.page_status, (self.doubt,))  # left alone, and decided when that can be told
        if seen.in_trash:
            if not self.task.is_ended:
                raise PageRefused(IN_TRASH)
            self.row = replace(self.row, is_settled=True)  # nobody wants to read of its end there
        is_new = self._state_is_new() and not self.row.is_settled and self._who_ended_it() is None
        if is_new and folded(seen.status) != folded(self.settings.status_for(self.task.state)):
            return self.tracker.update(page.id, self.sheet)
        return Made(page, seen.status)

    def _needs_a_look(self) -> bool:
        was_reported = self.row.looks > self.row.looked
        is_other = folded(self.settings.status_for(self.task.state)) != folded(self.row.page_status)
        is_to_be_written = self.task.is_ended or (self._state_is_new() and is_other)
        return was_reported or self.row.unclear or (is_to_be_written and not self.row.is_settled)

    def _state_is_new(self) -> bool:
        """Only a change of the state is written: what people set stays until then, whatever else befalls the task. After
        an unclear end the page may show a state that has passed."""
        return self.row.unclear or str(self.task.state) != self.row.shown_state

    def _learn(self, seen: Seen) -> None:
        news = news_of(self.task, self.row, seen, self.settings)
        if news in {News.NONE, News.TRASHED}:
            return
        try:
            editor = self.tracker.who(seen.edited_by)
        except NotPermitted as trouble:
            self.doubt = trouble.message
            return
        if not editor.is_person:
            self._flag(news)
        elif isinstance(news, Ended):
            name = f" by {editor.name}" if editor.name else ""
            self._end(news.state, editor.id, f"set to {seen.status!r} in Notion{name}")
        else:
            self._answer_reopening(seen, editor.id)

    def _end(self, state: State, editor_id: str, reason: str) -> None:
        by = tracker_human(self.workspace, editor_id)
        verb = Resolve(by=by, reason=reason) if state is State.DONE else Cancel(by=by, reason=reason)
        with suppress(TaskEnded):  # somebody was first; the page is brought to match
            change_task(self.baton, self.workspace, self.task.id, lambda _: verb)
        self.dossier = self.baton.store.read(self.workspace, self.task.id, with_body=True)

    def _flag(self, news: Ended | News) -> None:
        """A bot's closing frees the direction, but ends nothing (spec/lifecycle.md §1)."""
        task = self.task
        if not isinstance(news, Ended) or Flag.CLOSED_BY_BOT in task.flags:
            return
        verb = FlagClosedByBot(by=system(self.workspace, SYNC_TRACKER))
        freed: list[Extra] = [Closed(task.source_agent, task.target_agent, task.id)] if task.is_escalation else []
        with suppress(TaskEnded):
            change_task(self.baton, self.workspace, task.id, lambda _: verb, also=lambda _: freed)
        self.dossier = self.baton.store.read(self.workspace, task.id, with_body=True)

    def _answer_reopening(self, seen: Seen, editor_id: str) -> None:
        """An ended task never changes again: it is noted here, and said there, once."""
        by, now = tracker_human(self.workspace, editor_id), self.baton.clock.now()
        said = {"reopened_in_tracker": seen.status}
        note = Note(self.task.id, self.baton.ids.new("note", now), now, by.key, said)
        self.baton.store.commit(self.workspace, None, [note])
        text = reopened_comment(self.task, self.baton.task_url(self.task.id))
        with suppress(NotPermitted):
            self.tracker.comment(seen.page_id, text, unless_there=True)

    def _who_ended_it(self) -> str | None:
        """The tracker's human, if it was one: their word on the page stays as it is."""
        last = self._last_event() if self.task.is_ended else None
        return last.principal_id if last is not None and is_tracker_human(last.principal_id) else None

    def _last_event(self) -> Event | None:
        events = self.baton.store.events(self.workspace, self.task.id, self.task.seq - 1, 1)
        return events[0] if events else None

    def _tell_the_end(self, page: PageRef) -> tuple[str, ...]:
        """Why it isn't told, if it can't be: commenting is a right of its own, and not worth keeping the rest back."""
        last = self._last_event()
        if last is None or not is_tracker_human(last.principal_id):
            text = closing_comment(self.task, self.dossier.output, self.dossier.failure, last)
            try:
                self.tracker.comment(page.id, text, unless_there=not self.row.is_first)
            except NotPermitted as trouble:
                return (trouble.message,)
        return ()
