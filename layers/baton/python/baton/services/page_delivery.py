"""One errand to the tracker for a row that is held. Between any two calls we may die; what holds then:

- once the row is held, nobody else sends for a minute beyond our budget, by when whatever we asked for has happened;
- after the page was made, before its id is kept: the next sender finds it, and keeps it; one that doesn't find it comes
  back when it must be in Notion's index;
- after the page was changed, before that is noted: it is changed once more, to the state as it is then;
- after somebody's closing ended the task, before that is noted: the task has ended, and nothing is written;
- after the comment, before that is noted: the next sender sees it there.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from baton.domain.errors import Conflict, NotPermitted, PageHeld, PageRefused
from baton.domain.mirror import UNCLEAR_SECONDS, Mirror, PageRef, Sync
from baton.domain.page_news import Ended, News, news_of
from baton.domain.principal import is_tracker_human
from baton.domain.sheet import closing_comment, reopened_comment, sheet_of
from baton.domain.times import seconds
from baton.domain.tracker import folded
from baton.domain.wake import bell_delay
from baton.ports import Dossier, Made, MirrorSaved, PageTaken
from baton.services.learn_from_page import end_task, flag_closed_by_bot, free_direction, note_reopening
from baton.services.retrying import decided_again

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.events import Event
    from baton.domain.page_news import Seen
    from baton.domain.sheet import Sheet
    from baton.domain.task import Task
    from baton.domain.tracker import TrackerSettings
    from baton.ports import Baton, Tracker

DOUBT_SECONDS = 900
MAX_CANDIDATES = 100
MAY_BE_THERE = "Notion may have made the page without telling; it is looked for before another one is made."
IN_TRASH = "The page is in Notion's trash: restore it there. The task goes on without it."


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of it. ``page``: None if there is none (yet); ``message``: why, or what the page had to be made
    without."""

    page: PageRef | None
    status: Sync
    message: str = ""
    is_denied: bool = False


class RowLost(Exception):
    """Somebody else holds it now: nothing more is asked for."""


@dataclass
class Delivery:
    """``row`` as we know it; what others change of it meanwhile is found when it is saved. ``has_page``: its page is
    kept as this task's. ``doubt``: why nobody can tell what the page's status means."""

    baton: Baton
    settings: TrackerSettings
    tracker: Tracker
    dossier: Dossier
    row: Mirror = field(init=False)
    has_page: bool = field(init=False)
    is_in_trash: bool = field(init=False, default=False)
    doubt: str = field(init=False, default="")
    last: Event | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.dossier.mirror is None:
            raise ValueError(self.dossier.task.id)
        self.row = self.dossier.mirror
        self.has_page = self.row.page is not None

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
        looked = self.row.looks
        if self.row.page is None and not self.row.is_first:
            self._keep_found_page()
        if self.row.page is None and self.row.made_not_before(now := self.baton.clock.now()) > now:
            return self._look_again()
        if self.row.page is None:
            made = self.tracker.create(self.sheet)
            self.row = replace(self.row, page=made.page)
        else:
            made = self._shown(self.row.page)
        if self.doubt:
            return self._put_off(made.page)
        if self.task.is_ended and not self.row.is_settled:
            made = replace(made, without=(*made.without, *self._tell_the_end(made.page)))
        task, now, note = self.task, self.baton.clock.now(), " ".join(made.without)
        self.let_go(lambda held: held.sent(task, looked, made.status, now, note=note))
        return Sent(made.page, Sync.OK, note, made.is_denied)

    def let_go(self, change: Callable[[Mirror], Mirror]) -> None:
        """The errand is over. What is left to do is rung for, as its own bells may have found the row held."""
        with suppress(RowLost):
            self.save(change)
        if self.row.sender is None and self.row.due_at is not None:
            delay = bell_delay(self.row.due_at, self.baton.clock.now())
            self.baton.tracker_bell.ring(self.workspace, self.task.id, delay)

    def save(self, change: Callable[[Mirror], Mirror]) -> None:
        """Onto the row as it is by now; not at all if somebody else holds it. A page that is new to the row becomes
        this task's in the same transaction. Raises ``PageHeld`` if it is another's."""

        def attempt() -> None:
            after = replace(change(self.row), version=self.row.version + 1)
            taken = [PageTaken(after.page.id, self.task.id)] if after.page and not self.has_page else []
            try:
                self.baton.store.commit(self.workspace, None, [MirrorSaved(after), *taken])
            except Conflict:
                held = self.baton.store.mirror(self.workspace, self.task.id)
                if held is None or held.sender != self.row.sender:
                    self.baton.log("the row was lost", action="mirror_lost", task_id=self.task.id)
                    raise RowLost from None
                self.row = replace(held, page=held.page or self.row.page)
                raise
            self.row, self.has_page = after, after.page is not None

        decided_again(self.baton.clock, attempt)

    def _look_again(self) -> Sent:
        """The page may be there and not be found yet: it is looked for every minute until it must have been found."""
        now = self.baton.clock.now()
        until = min(self.row.made_not_before(now), now + seconds(UNCLEAR_SECONDS))
        self.let_go(lambda held: held.put_off(until, Sync.PENDING, MAY_BE_THERE))
        return Sent(None, Sync.PENDING, MAY_BE_THERE)

    def _put_off(self, page: PageRef) -> Sent:
        """Nobody can tell who closed the page: it is left alone, and decided about when that can be told."""
        until, doubt = self.baton.clock.now() + seconds(DOUBT_SECONDS), self.doubt
        self.let_go(lambda held: held.put_off(until, Sync.DENIED, doubt))
        return Sent(page, Sync.DENIED, doubt)

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
            self.save(lambda held: replace(held, page=page))
        except PageHeld:
            return False
        return True

    def _shown(self, page: PageRef) -> Made:
        """The page as it should be. What people did to it meanwhile is learnt before anything is written over it."""
        if not self.row.needs_a_look(self.task, self.settings.status_for(self.task.state)):
            return Made(page, self.row.page_status)
        seen = self.tracker.look(page.id)
        self.is_in_trash = seen.in_trash
        if not seen.by_us:
            self._learn(seen)
        if seen.in_trash and not self.task.is_ended:
            raise PageRefused(IN_TRASH)
        if self.doubt or not self._is_to_be_written(seen):
            return Made(page, seen.status)
        made = self.tracker.update(page.id, self.sheet)
        # What was left as it was is known from our own look only: in between somebody may have changed it.
        return replace(made, status=seen.status) if made.without else made

    def _is_to_be_written(self, seen: Seen) -> bool:
        """Only a change of the state is written: what people set stays until then, whatever else befalls the task.
        After an unclear end the page may show a state of ours that has passed."""
        is_new = str(self.task.state) != self.row.shown_state or (self.row.unclear and seen.by_us)
        is_theirs = self.row.is_settled or self._was_ended_there() or seen.in_trash
        return is_new and not is_theirs and folded(seen.status) != folded(self.settings.status_for(self.task.state))

    def _learn(self, seen: Seen) -> None:
        news = news_of(self.task, self.row, seen, self.settings)
        if news in {News.NONE, News.TRASHED}:
            return
        try:
            editor = self.tracker.who(seen.edited_by)
        except NotPermitted as trouble:
            self.doubt = trouble.message
            if isinstance(news, Ended):
                free_direction(self.baton, self.task, seen)
            return
        if not editor.is_person:
            flag_closed_by_bot(self.baton, self.task, news)
        elif isinstance(news, Ended):
            end_task(self.baton, self.task, news, seen, editor)
        else:
            note_reopening(self.baton, self.task, seen, editor)
            text = reopened_comment(self.task, self.baton.task_url(self.task.id))
            with suppress(NotPermitted):
                self.tracker.comment(seen.page_id, text, unless_there=True)
        self.dossier = self.baton.store.read(self.workspace, self.task.id, with_body=True)

    def _was_ended_there(self) -> bool:
        """By a person, in the tracker: their word on the page stays as it is."""
        last = self._last_event() if self.task.is_ended else None
        return last is not None and is_tracker_human(last.principal_id)

    def _last_event(self) -> Event | None:
        if self.last is None or self.last.seq != self.task.seq:
            self.last = next(iter(self.baton.store.events(self.workspace, self.task.id, self.task.seq - 1, 1)), None)
        return self.last

    def _tell_the_end(self, page: PageRef) -> tuple[str, ...]:
        """Why it isn't told, if it can't be: commenting is a right of its own, and not worth keeping the rest back."""
        if self._was_ended_there() or self.is_in_trash:
            return ()
        text = closing_comment(self.task, self.dossier.output, self.dossier.why, self._last_event())
        try:
            self.tracker.comment(page.id, text, unless_there=not self.row.is_first)
        except NotPermitted as trouble:
            return (trouble.message,)
        return ()
