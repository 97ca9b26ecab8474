"""One tracker session for a page synchronisation that is held. The process may die between any two calls. The state
then:

- After the hold: no other sender starts for a minute beyond our time budget. By then every request of ours has taken
  effect or never will.
- After the page is created, before its id is saved: the next sender finds the page and saves its id. A sender that
  doesn't find it comes back when the page must be in the tracker's index.
- After the page is changed, before that is saved: the page is changed once more, to the state as it is then.
- After a human's closing ended the task, before that is saved: the task has ended, and the page isn't written.
- After the comment, before that is saved: the next sender sees the comment.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from baton.domain import errors, times
from baton.domain.access.principal import is_tracker_human
from baton.domain.settings.tracker_settings import TrackerSettings, folded
from baton.domain.tasks import tail, trail
from baton.domain.tasks.task import Task
from baton.domain.tasks.wake import notice_delay
from baton.domain.tracker import page_changes
from baton.domain.tracker.page_fields import PageFields, closing_comment, page_fields_of, reopened_comment
from baton.domain.tracker.page_sync import UNCLEAR_SECONDS, PageLink, PageRef, PageSync, Sync
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.tracker import Tracker, WrittenPage
from baton.ports.writes import Insert, Save
from baton.steps.retrying import retry_on_conflict
from baton.steps.tracker.learn_from_page import end_task, flag_closed_unknown, free_direction, note_reopening

DOUBT_SECONDS = 900
MAX_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class PageResult:
    """The outcome of a session."""

    page: PageRef | None  # None if there is none (yet)
    status: Sync
    message: str = ""  # the reason, or the parts that the page was made without
    is_denied: bool = False


class RowLost(Exception):
    """Another sender holds the page synchronisation: no more requests are sent."""


@dataclass
class PageSender:
    """One session's state."""

    deps: Deps
    settings: TrackerSettings
    tracker: Tracker
    details: TaskDetails
    row: PageSync = field(init=False)  # as we know it; others' changes are found when it is saved
    has_page: bool = field(init=False)  # its page is saved as this task's
    is_in_trash: bool = field(init=False, default=False)
    our_id: str = field(init=False, default="")  # as the last look had it
    doubt: str = field(init=False, default="")  # why the meaning of the page's status can't be known
    doubt_until: datetime | None = field(init=False, default=None)  # when it can be; None if only people can help
    last: trail.Event | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.details.page_sync is None:
            raise ValueError(self.details.task.id)
        self.row = self.details.page_sync
        self.has_page = self.row.page is not None

    @property
    def workspace(self) -> str:
        return self.task.workspace

    @property
    def task(self) -> Task:
        return self.details.task

    @property
    def page_fields(self) -> PageFields:
        return page_fields_of(self.task, self.details.body, self.deps.task_url(self.task.id))

    def run(self) -> PageResult:
        looked, handled = self.row.looks, self.row.reports
        if self.row.page is None and not self.row.is_first:
            self._keep_found_page()
        if self.row.page is None and self.row.made_not_before(now := self.deps.clock.now()) > now:
            return self._wait_for_index()
        if self.row.page is None:
            made = self.tracker.create(self.page_fields)
            self.row = replace(self.row, page=made.page)
        else:
            made = self._show(self.row.page)
        if self.doubt:
            return self._put_off_in_doubt(made.page)
        if self.task.is_ended and not self.row.is_settled:
            made = replace(made, without=(*made.without, *self._comment_end(made.page)))
        task, now, note = self.task, self.deps.clock.now(), " ".join(made.without)
        is_open = not task.is_ended and self.settings.meaning(made.status) is None

        def sent(held: PageSync) -> PageSync:
            known = (held.reopened() if is_open else held).without_reports(handled, self.our_id)
            return known.sent(task, looked, made.status, now, note=note)

        self.let_go(sent)
        return PageResult(made.page, Sync.OK, note, made.is_denied)

    def let_go(self, change: Callable[[PageSync], PageSync]) -> None:
        """Ends the session and releases the page synchronisation. Sends a notice for the work that is left, as earlier
        notices may have found it held."""
        with suppress(RowLost):
            self.save(change)
        if self.row.sender is None and self.row.due_at is not None:
            delay = notice_delay(self.row.due_at, self.deps.clock.now())
            self.deps.tracker_queue.notify(self.workspace, self.task.id, delay)

    def save(self, change: Callable[[PageSync], PageSync]) -> None:
        """Saves the page synchronisation in its present version, unless another sender holds it. A new page is reserved
        for this task in the same transaction. Raises ``PageHeld`` if it is another's, and ``RowLost``."""

        def attempt() -> None:
            after = replace(change(self.row), version=self.row.version + 1)
            taken = (
                [Insert(PageLink(after.page.id, self.task.id), errors.PageHeld)]
                if after.page and not self.has_page
                else []
            )
            try:
                self.deps.store.commit(self.workspace, Save(after), *taken)
            except errors.Conflict:
                self._take_over(self.deps.store.tracker.page_sync(self.workspace, self.task.id))
                raise
            self.row, self.has_page = after, after.page is not None

        retry_on_conflict(self.deps, attempt)

    def _take_over(self, found: PageSync | None) -> None:
        """Goes on with the page synchronisation as the store has it now. Raises ``RowLost``."""
        if found is None or found.sender != self.row.sender:
            self.deps.log("another sender took the page over", action="mirror_lost", task_id=self.task.id)
            raise RowLost
        self.row = replace(found, page=found.page or self.row.page)

    def _wait_for_index(self) -> PageResult:
        """Puts the page off: it may exist without being in the index yet. It is looked for every minute until it must
        be found."""
        now = self.deps.clock.now()
        until = min(self.row.made_not_before(now), now + times.seconds(UNCLEAR_SECONDS))
        tracker = self.deps.trackers.name
        message = f"{tracker} may have made the page without telling; it is looked for before another one is made."
        self.let_go(lambda held: held.put_off(until, Sync.PENDING, message))
        return PageResult(None, Sync.PENDING, message)

    def _put_off_in_doubt(self, page: PageRef) -> PageResult:
        """Puts the page off: the closing's author can't be known, and the page is left alone until it can."""
        until, doubt = self.doubt_until or self.deps.clock.now() + times.seconds(DOUBT_SECONDS), self.doubt
        status = Sync.PENDING if self.doubt_until else Sync.DENIED
        self.let_go(lambda held: held.put_off(until, status, doubt))
        return PageResult(page, status, doubt)

    def _keep_found_page(self) -> None:
        """Saves the page that an earlier sender made, if there is one. Saved before any other request: it may be
        another task's page, whose own sender is looking for it now."""
        found = self.tracker.find(self.page_fields)[:MAX_CANDIDATES]
        holders = self.deps.store.tracker.page_holders(self.workspace, [page.id for page in found])
        for page in found:
            if holders.get(page.id, self.task.id) == self.task.id and self._keep(page):
                return

    def _keep(self, page: PageRef) -> bool:
        try:
            self.save(lambda held: replace(held, page=page))
        except errors.PageHeld:
            return False
        return True

    def _show(self, page: PageRef) -> WrittenPage:
        """Returns the page in its wanted state. People's changes are handled before anything is written over them."""
        if not self.row.needs_a_look(self.task, self.settings):
            return WrittenPage(page, self.row.page_status)
        seen = self.tracker.look(page.id)
        self.is_in_trash, self.our_id = seen.in_trash, seen.our_id
        if not seen.by_us:
            self._learn_from(seen)
        if seen.in_trash and not self.task.is_ended:
            tracker = self.deps.trackers.name
            raise errors.PageRefused(
                f"The page is in {tracker}'s trash: restore it there. The task goes on without it."
            )
        if self.doubt or not self._is_to_be_written(seen):
            return WrittenPage(page, seen.status)
        made = self.tracker.update(page.id, self.page_fields)
        # The status of an unwritten part is known from our own look only: it may have changed since.
        return replace(made, status=seen.status) if made.without else made

    def _is_to_be_written(self, seen: page_changes.PageSnapshot) -> bool:
        """Only a change of the state is written: people's values stay until then, whatever else happens to the task.
        After an unclear request the page may show an old state of ours."""
        is_new = str(self.task.state) != self.row.shown_state or (self.row.unclear and seen.by_us)
        is_theirs = self.row.is_settled or self._was_ended_there() or seen.in_trash
        return is_new and not is_theirs and folded(seen.status) != folded(self.settings.status_for(self.task.state))

    def _learn_from(self, seen: page_changes.PageSnapshot) -> None:
        news = page_changes.page_change_of(self.task, self.row, seen, self.settings)
        if news in {page_changes.PageChange.NONE, page_changes.PageChange.TRASHED}:
            return
        try:
            editor = self.tracker.who(seen.edited_by)
        except errors.NotPermitted as trouble:
            self.doubt = trouble.message
            if isinstance(news, page_changes.ClosedPage):
                free_direction(self.deps, self.task, seen)
            return
        has_set_status = not isinstance(news, page_changes.ClosedPage) or self._has_set_status(seen)
        if editor.is_person and has_set_status is None:
            self.doubt_until = seen.edited_at + times.seconds(page_changes.REPORT_SECONDS)
            self.doubt = f"{self.deps.trackers.name} may still report who set the status."
            return
        if not editor.is_person or not has_set_status:
            flag_closed_unknown(self.deps, self.task, news)
        elif isinstance(news, page_changes.ClosedPage):
            end_task(self.deps, self.task, news, seen, editor)
        else:
            note_reopening(self.deps, self.task, seen, editor)
            text = reopened_comment(self.task, self.deps.task_url(self.task.id))
            with suppress(errors.NotPermitted):
                self.tracker.comment(seen.page_id, text, unless_there=True)
        # What was learned has changed the task, and its page synchronisation with it.
        self.details = self.deps.store.tasks.read(self.workspace, self.task.id, with_body=True)
        self._take_over(self.details.page_sync)

    def _has_set_status(self, seen: page_changes.PageSnapshot) -> bool | None:
        """Returns whether the page's last editor set its status, as far as the tracker's reports tell; None while they
        may still be under way. Where some people may not end tasks, all reports are awaited, and one is needed. Without
        a webhook there are none, and the last editor counts."""
        author, is_strict = page_changes.status_author(self.row, seen), self.settings.rights_differ
        is_named = author is page_changes.StatusAuthor.LAST_EDITOR
        if author is page_changes.StatusAuthor.UNREPORTED:
            if not self._has_webhook():
                return True
            is_named = not is_strict
        elif is_named and not is_strict:
            return True
        until = seen.edited_at + times.seconds(page_changes.REPORT_SECONDS)
        return None if self.deps.clock.now() < until else is_named

    def _has_webhook(self) -> bool:
        webhook = self.deps.store.tracker.webhook(self.workspace)
        return webhook is not None and webhook.is_verified

    def _was_ended_there(self) -> bool:
        """True if a person ended the task on this page: the status that they set stays. A task that was cancelled along
        with one above it has not ended on its own page."""
        last = self._last_event() if self.task.is_ended else None
        return last is not None and is_tracker_human(last.principal_id) and last.data.get("ancestor") is None

    def _last_event(self) -> trail.Event | None:
        if self.last is None or self.last.seq != self.task.meta.seq:
            found = tail.latest(self.task)
            self.last = found or next(
                iter(self.deps.store.trail.events(self.workspace, self.task.id, self.task.meta.seq - 1, 1)), None
            )
        return self.last

    def _comment_end(self, page: PageRef) -> tuple[str, ...]:
        """Adds the closing comment. Returns the reason if it can't: commenting is a separate permission, and the rest
        of the page is still written."""
        if self._was_ended_there() or self.is_in_trash:
            return ()
        text = closing_comment(self.task, self.details.output, self.details.why, self._last_event())
        try:
            self.tracker.comment(page.id, text, unless_there=not self.row.is_first)
        except errors.NotPermitted as trouble:
            return (trouble.message,)
        return ()
